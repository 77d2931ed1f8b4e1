import { listCaes } from '../../db/caes.ts';
import { currentCertificate } from '../../db/certificates.ts';
import { Rut } from '../../domain/rut.ts';
import { defineRoute } from '../route.ts';
import { EnterpriseView, enterpriseView } from '../views/enterprise.ts';

/** GET /enterprises/{rut}: the enterprise with its certificate and CAEs. */
export const getEnterprise = defineRoute({
  name: 'getEnterprise',
  method: 'GET',
  path: '/enterprises/{rut}',
  summary: 'Read enterprise',
  about: 'The enterprise with its certificate and its CAEs.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: null,
  body: null,
  success: { status: 200, description: 'The enterprise', schema: EnterpriseView },
  errors: [],
  async handle({ enterprise, role }, { orm, clock }) {
    const em = orm.em.fork();
    const certificate = await currentCertificate(em, enterprise.rut, 'production');
    const caes = await listCaes(em, enterprise.rut, 'production');
    return enterpriseView({ enterprise, certificate, caes }, role, clock());
  },
});
