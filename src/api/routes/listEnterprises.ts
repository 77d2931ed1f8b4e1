import * as z from 'zod';
import { enterpriseObjects } from '../../db/enterpriseObjects.ts';
import { countEnterprisesOf, enterprisesOf } from '../../db/enterprises.ts';
import { listGrants } from '../../db/grants.ts';
import { EnterpriseStatusName } from '../../domain/enums.ts';
import { pageOf } from '../paging.ts';
import type { Role } from '../roles.ts';
import { defineRoute } from '../route.ts';
import { EnterpriseView } from '../views/enterprise.ts';
import { TotalCount } from '../views/formats.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 25;

/** GET /enterprises: those at which the caller has a role, by their RUTs, a page at a time (docs/contract.md#lists). */
export const listEnterprises = defineRoute({
  name: 'listEnterprises',
  method: 'GET',
  path: '/enterprises',
  summary: 'List enterprises',
  about:
    'The enterprises at which your account has a role, in the order of their RUTs. This is where an integration learns its RUTs.',
  auth: 'token',
  sandbox: false,
  role: null,
  params: {},
  query: z.strictObject({
    ...pageOf('enterprises', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
    status: EnterpriseStatusName.optional().meta({ description: 'Only enterprises with this status.' }),
  }),
  body: null,
  success: {
    status: 200,
    description: 'A page of enterprises, and the total number',
    schema: z
      .object({
        items: z.array(EnterpriseView).meta({ description: 'The enterprises of this page.' }),
        total: TotalCount,
      })
      .meta({ id: 'EnterpriseList', description: 'A page of enterprises.' }),
  },
  errors: [],
  async handle({ query, caller: { accountId } }, { orm, clock }) {
    const { skip = 0, limit = USUAL_PAGE, status } = query;
    const em = orm.em.fork();
    const granted = new Map((await listGrants(em, { accountId })).map(({ rut, role }) => [rut, role]));
    const filter = { accountId, granted: [...granted.keys()], status };
    const enterprises = await enterprisesOf(em, filter, { skip, limit });
    const objects = await enterpriseObjects(em, enterprises, clock());
    const items = objects.map((object, i) => {
      const owns = enterprises[i]?.ownerAccountId === accountId;
      const role: Role | undefined = owns ? 'OWNER' : granted.get(object.rut);
      if (!role) throw new Error('an enterprise was listed for an account without a role');
      return { ...object, role };
    });
    return { items, total: await countEnterprisesOf(em, filter) };
  },
});
