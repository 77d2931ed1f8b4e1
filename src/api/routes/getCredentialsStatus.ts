import { Rut } from '../../domain/rut.ts';
import { defineRoute } from '../route.ts';
import { CredentialsView, credentialsView } from '../views/credentials.ts';

/** GET …/efactura-status: the state of the e-invoicing login. */
export const getCredentialsStatus = defineRoute({
  name: 'getCredentialsStatus',
  method: 'GET',
  path: '/enterprises/{rut}/efactura-status',
  summary: 'Read e-invoicing credentials status',
  about: 'Whether the e-invoicing login at the authority is known to work.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: null,
  body: null,
  success: { status: 200, description: 'The status', schema: CredentialsView },
  errors: [],
  async handle({ enterprise }) {
    return credentialsView(enterprise);
  },
});
