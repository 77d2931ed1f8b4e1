import type { Environment } from '../domain/cfeTypes.ts';
import { EnvironmentName } from '../domain/enums.ts';
import { Refusal } from '../errors.ts';
import type { Caller } from './route.ts';

/** The query parameter by which CFEs of the sandbox are read with a production token (docs/contract.md#sandbox). */
export const environmentToRead = {
  environment: EnvironmentName.optional().meta({
    description:
      'The environment whose CFEs are read, with a production token in either case. Default: `production`. `sandbox` requires a developer account (`is_developer`, else 403).',
    examples: ['sandbox'],
  }),
};

/** The environment that a query names. Refuses the sandbox to who is no developer (FORBIDDEN). */
export function environmentRead(
  { isDeveloper }: Pick<Caller, 'isDeveloper'>,
  { environment = 'production' }: { environment?: Environment | undefined },
): Environment {
  if (environment === 'sandbox' && !isDeveloper) {
    throw new Refusal('FORBIDDEN', 'Only developer accounts may read CFEs of the sandbox.');
  }
  return environment;
}
