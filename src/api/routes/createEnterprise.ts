import { createEnterprise as create } from '../../commands/createEnterprise.ts';
import { CreateEnterprise } from '../../domain/enterprise.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { EnterpriseView, enterpriseView } from '../views/enterprise.ts';

/** POST /enterprises: registers an enterprise, which the calling account then owns. */
export const createEnterprise = defineRoute({
  name: 'createEnterprise',
  method: 'POST',
  path: '/enterprises',
  summary: 'Create enterprise',
  about:
    'Registers a company, PENDING, with its first branch. The first account to name a RUT owns it. It becomes READY automatically once it has the permission PROD, a valid certificate, a plan, a CAE, and its start date has come.',
  auth: 'token',
  sandbox: false,
  role: null,
  params: {},
  query: null,
  body: { schema: CreateEnterprise, limitBytes: BODY_LIMITS.other },
  success: { status: 201, description: 'The enterprise, PENDING', schema: EnterpriseView },
  errors: ['ALREADY_EXISTS'],
  async handle({ body, caller }, deps) {
    const enterprise = await create(deps, { accountId: caller.accountId, enterprise: body });
    return enterpriseView({ enterprise, certificate: null, caes: [] }, 'OWNER', deps.clock());
  },
});
