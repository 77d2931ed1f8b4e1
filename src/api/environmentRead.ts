import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { EnvironmentName } from '../domain/requests/enums.ts';
import { Refusal } from '../errors.ts';
import type { ApiCaller } from './route.ts';

/** The query parameter for reading sandbox CFEs with a production token (docs/contract.md#sandbox). */
export const environmentQuery = {
  environment: EnvironmentName.optional().meta({
    description:
      'The environment whose CFEs are read, with a production token in either case. Default: `production`. `sandbox` requires a developer account (`is_developer`, else 403).',
    examples: ['sandbox'],
  }),
};

/** Returns the environment of a query. Throws FORBIDDEN for the sandbox unless the caller is a developer. */
export function requireReadableEnvironment(
  { isDeveloper }: Pick<ApiCaller, 'isDeveloper'>,
  { environment = 'production' }: { environment?: Environment | undefined },
): Environment {
  if (environment === 'sandbox' && !isDeveloper) {
    throw new Refusal('FORBIDDEN', 'Only developer accounts may read CFEs of the sandbox.');
  }
  return environment;
}
