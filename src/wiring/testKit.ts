import type { AuthorityTestKit } from '../commands/enterprises/equipSandbox.ts';
import type { readConfig } from '../config.ts';
import { createFolderTestKit, createPortalTestKit } from '../dgi/testKit.ts';

/** Variables of the source of sandbox credentials. */
export const TEST_KIT_VARIABLES = ['CFE_SANDBOX_PORTAL_URL', 'CFE_SANDBOX_PAPERS_DIR'] as const;

/**
 * Returns the configured source of sandbox credentials, a simulator's portal or an operator's files; null without one.
 */
export function testKitOf(
  config: ReturnType<typeof readConfig<(typeof TEST_KIT_VARIABLES)[number]>>,
): AuthorityTestKit | null {
  const { CFE_SANDBOX_PORTAL_URL: portal, CFE_SANDBOX_PAPERS_DIR: folder } = config;
  if (portal !== '') return createPortalTestKit(portal);
  return folder === '' ? null : createFolderTestKit(folder);
}
