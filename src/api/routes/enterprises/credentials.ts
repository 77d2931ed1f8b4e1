import * as z from 'zod';
import { requestCredentialsCheck as validate } from '../../../commands/enterprises/requestCredentialsCheck.ts';
import type { Enterprise } from '../../../db/entities/enterprises.ts';
import { ValidateCredentials } from '../../../domain/enterprises/enterprise.ts';
import { EfacturaStatusName } from '../../../domain/requests/enums.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { MomentText } from '../../../views/formats.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** The e-invoicing credentials status (docs/contract.md#credentials). */
const CredentialsView = z
  .object({
    is_valid: z.boolean().meta({ description: 'Whether the last login succeeded.' }),
    status: EfacturaStatusName,
    last_validated_at: MomentText.nullable().meta({
      description: 'When the last check ended, UTC; null before the first.',
    }),
  })
  .meta({
    id: 'CredentialsStatus',
    description: 'The known state of the enterprise’s e-invoicing login at the authority.',
  });

/** Returns the state of an enterprise's e-invoicing login. */
function credentialsView(enterprise: Enterprise): z.input<typeof CredentialsView> {
  return {
    is_valid: enterprise.loginStatus === 'SUCCESS',
    status: enterprise.efacturaStatus,
    last_validated_at: enterprise.lastValidatedAt?.toISOString() ?? null,
  };
}

/** GET …/efactura-status: reads the state of the e-invoicing login. */
export const getCredentialsStatusRoute = defineRoute({
  name: 'getCredentialsStatus',
  method: 'GET',
  path: '/enterprises/{rut}/efactura-status',
  summary: 'Read e-invoicing credentials status',
  about: 'Whether the e-invoicing login at the authority is known to work.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  success: { status: 200, description: 'The status', schema: CredentialsView },
  async handle({ enterprise }) {
    return credentialsView(enterprise);
  },
});

/** POST …/validate-efactura: starts a check of the e-invoicing login at the authority. */
export const validateCredentialsRoute = defineRoute({
  name: 'validateCredentials',
  method: 'POST',
  path: '/enterprises/{rut}/validate-efactura',
  summary: 'Start asynchronous credentials validation',
  about:
    'Starts a check of the enterprise’s e-invoicing login at the authority and of its permissions; the result is sent as the event `efactura.login`. `{}`, or no body, checks the stored login. A call during a check joins it. After five failures in a row there is a pause before the next (429). Until a valid certificate of the enterprise is uploaded, an account may start 20 checks of it a day, whatever their result; across all its enterprises, 50 logins may fail in a day, including those being checked. Beyond that the answer is 429, until midnight in Montevideo unless running checks may still succeed.',
  auth: 'token',
  role: 'MEMBER',
  params: { rut: Rut },
  body: { schema: ValidateCredentials, limitBytes: BODY_LIMITS.other, optional: true },
  success: { status: 202, description: 'The check has started', schema: CredentialsView },
  async handle({ params, body, caller }, deps) {
    const input = { accountId: caller.accountId, rut: params.rut, login: body };
    return credentialsView(await validate(deps, input));
  },
});
