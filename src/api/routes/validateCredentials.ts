import { validateCredentials as validate } from '../../commands/validateCredentials.ts';
import { ValidateCredentials } from '../../domain/enterprise.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { CredentialsView, credentialsView } from '../views/credentials.ts';

/** POST …/validate-efactura: starts a check of the e-invoicing login at the authority. */
export const validateCredentials = defineRoute({
  name: 'validateCredentials',
  method: 'POST',
  path: '/enterprises/{rut}/validate-efactura',
  summary: 'Start asynchronous credentials validation',
  about:
    'Starts a check of the enterprise’s e-invoicing login at the authority and of its permissions; the result comes as the event `efactura.login`. `{}`, or no body, checks the stored login. A call made while a check runs joins it. After five failures in a row there is a pause before the next (429). Until a valid certificate of the enterprise is uploaded, an account may start five checks a day, however they end; then it is 429 until midnight in Montevideo.',
  auth: 'token',
  sandbox: false,
  role: 'MEMBER',
  params: { rut: Rut },
  query: null,
  body: { schema: ValidateCredentials, limitBytes: BODY_LIMITS.other, optional: true },
  success: { status: 202, description: 'The check has started', schema: CredentialsView },
  errors: [],
  async handle({ params, body, caller }, deps) {
    const asked = { accountId: caller.accountId, rut: params.rut, login: body };
    return credentialsView(await validate(deps, asked));
  },
});
