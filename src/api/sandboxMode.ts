/** X-Sandbox-Mode against route, key and account (docs/contract.md#sandbox-mode). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Environment } from '../domain/cfeTypes.ts';
import type { RequestRule } from '../domain/requestRules.ts';
import { invalidInput, Refusal } from '../errors.ts';
import type { Caller, Route } from './route.ts';

const HEADER = 'X-Sandbox-Mode';

/**
 * Refuses a header that is neither true nor false, or true where only production is served (INVALID_INPUT), a key
 * used outside its environment (INVALID_API_KEY where tokens are made, else FORBIDDEN), and sandbox without
 * is_developer (FORBIDDEN).
 */
export function checkSandboxMode(
  route: Pick<Route, 'auth' | 'sandbox'>,
  headers: IncomingHttpHeaders,
  caller: Caller,
): void {
  const asked = environmentAsked(headers[HEADER.toLowerCase()]);
  if (asked === 'sandbox' && !route.sandbox) {
    throw fault(
      'sandbox.unsupported',
      `${HEADER} true is not supported here: this endpoint is for production only.`,
    );
  }
  if (asked !== caller.environment) {
    const code = route.auth === 'key' ? 'INVALID_API_KEY' : 'FORBIDDEN';
    throw new Refusal(code, wrongEnvironment(caller.environment, route.sandbox));
  }
  if (caller.environment === 'sandbox' && !caller.isDeveloper) {
    throw new Refusal('FORBIDDEN', 'Only developer accounts may use the sandbox.');
  }
}

function environmentAsked(header: string | string[] | undefined): Environment {
  if (header === undefined || header === 'false') return 'production';
  if (header === 'true') return 'sandbox';
  throw fault('sandbox.malformed', `${HEADER} must be true or false.`);
}

const fault = (code: RequestRule, message: string): Refusal =>
  invalidInput([{ path: `/headers/${HEADER}`, code, message }]);

function wrongEnvironment(environment: Environment, supported: boolean): string {
  if (environment === 'production') return `The API key is for production; use it without ${HEADER} true.`;
  return supported
    ? `The API key is for the sandbox; use it with ${HEADER} true.`
    : 'The API key is for the sandbox; this endpoint is for production only.';
}
