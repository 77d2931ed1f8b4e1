import type { readConfig } from '../config.ts';
import { AT_ONCE_MILLISECONDS, spacingOf } from '../gate/gate.ts';

/** Returns the time between two sends, for programs that issue. */
export const paceOf = (config: ReturnType<typeof readConfig<'CFE_DGI_SENDS_PER_SECOND'>>) => ({
  spacingMilliseconds: spacingOf(config.CFE_DGI_SENDS_PER_SECOND),
  nearMilliseconds: AT_ONCE_MILLISECONDS,
});
