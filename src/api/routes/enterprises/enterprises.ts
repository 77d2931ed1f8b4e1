import * as z from 'zod';
import { createEnterprise as create } from '../../../commands/enterprises/createEnterprise.ts';
import { updateEnterprise as update } from '../../../commands/enterprises/updateEnterprise.ts';
import { findCurrentCertificate } from '../../../db/enterprises/certificates.ts';
import {
  buildEnterpriseObjects,
  countEnterprisesOfAccount,
  listEnterprisesOfAccount,
} from '../../../db/enterprises/enterprises.ts';
import { findCaes } from '../../../db/numbers/numbers.ts';
import { listGrants } from '../../../db/people/roles.ts';
import { listUiValues } from '../../../db/receipts/rates.ts';
import { CreateEnterprise, UpdateEnterprise } from '../../../domain/enterprises/enterprise.ts';
import { updatedEnterpriseObject } from '../../../domain/enterprises/enterpriseObject.ts';
import type { Role } from '../../../domain/people/roles.ts';
import { EnterpriseStatusName } from '../../../domain/requests/enums.ts';
import { Rut } from '../../../domain/values/rut.ts';
import {
  EnterpriseView,
  enterpriseView,
  UpdatedEnterpriseView,
} from '../../../views/enterprises/enterprise.ts';
import { TotalCount } from '../../../views/formats.ts';
import { pageParameters } from '../../paging.ts';
import { readOnlyFieldsIn, requireUnchanged, withReadOnlyFields } from '../../readBack.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** POST /enterprises: registers an enterprise, owned by the calling account. */
export const createEnterpriseRoute = defineRoute({
  name: 'createEnterprise',
  method: 'POST',
  path: '/enterprises',
  summary: 'Create enterprise',
  about:
    'Registers a company, PENDING, with its first branch. The first account to name a RUT owns it; an account has at most 20 enterprises without a certificate unless an operator allows more (`enterprise.too_many_unproven`). It becomes READY automatically once it has the permission PROD, a valid certificate, a plan, a CAE, and its start date has come.',
  auth: 'token',
  role: null,
  body: { schema: CreateEnterprise, limitBytes: BODY_LIMITS.other },
  success: { status: 201, description: 'The enterprise, PENDING', schema: EnterpriseView },
  errors: ['ALREADY_EXISTS'],
  async handle({ body, caller }, deps) {
    const enterprise = await create(deps, { accountId: caller.accountId, enterprise: body });
    const uiValues = await listUiValues(deps.orm.em.fork());
    return enterpriseView({ enterprise, certificate: null, caes: [], uiValues }, 'OWNER', deps.clock());
  },
});

const LARGEST_PAGE = 100;
const USUAL_PAGE = 25;

/**
 * GET /enterprises: lists the enterprises at which the caller has a role, by RUT, in pages
 * (docs/contract.md#lists).
 */
export const listEnterprisesRoute = defineRoute({
  name: 'listEnterprises',
  method: 'GET',
  path: '/enterprises',
  summary: 'List enterprises',
  about:
    'The enterprises at which your account has a role, ordered by RUT. Integrations discover their RUTs here.',
  auth: 'token',
  role: null,
  query: z.strictObject({
    ...pageParameters('enterprises', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
    status: EnterpriseStatusName.optional().meta({ description: 'Only enterprises with this status.' }),
  }),
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
  async handle({ query, caller: { accountId } }, { orm, clock }) {
    const { skip = 0, limit = USUAL_PAGE, status } = query;
    const em = orm.em.fork();
    const granted = new Map((await listGrants(em, { accountId })).map(({ rut, role }) => [rut, role]));
    const filter = { accountId, granted: [...granted.keys()], status };
    const enterprises = await listEnterprisesOfAccount(em, filter, { skip, limit });
    const objects = await buildEnterpriseObjects(em, enterprises, clock());
    const items = objects.map((object, i) => {
      const owns = enterprises[i]?.ownerAccountId === accountId;
      const role: Role | undefined = owns ? 'OWNER' : granted.get(object.rut);
      if (!role) throw new Error('an enterprise was listed for an account without a role');
      return { ...object, role };
    });
    return { items, total: await countEnterprisesOfAccount(em, filter) };
  },
});

/** GET /enterprises/{rut}: the enterprise with its certificate and CAEs. */
export const getEnterpriseRoute = defineRoute({
  name: 'getEnterprise',
  method: 'GET',
  path: '/enterprises/{rut}',
  summary: 'Read enterprise',
  about: 'The enterprise with its certificate and its CAEs.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  success: { status: 200, description: 'The enterprise', schema: EnterpriseView },
  async handle({ enterprise, role }, { orm, clock }) {
    const em = orm.em.fork();
    const certificate = await findCurrentCertificate(em, enterprise.rut, 'production');
    const caes = await findCaes(em, enterprise.rut, 'production');
    const uiValues = await listUiValues(em);
    return enterpriseView({ enterprise, certificate, caes, uiValues }, role, clock());
  },
});

const Body = withReadOnlyFields(UpdateEnterprise, EnterpriseView);

/** PUT /enterprises/{rut}: updates its data, plan and start date. */
export const updateEnterpriseRoute = route('updateEnterprise', 'PUT');

/** PATCH /enterprises/{rut}: an alias of PUT (docs/contract.md#addresses). */
export const patchEnterpriseRoute = route('patchEnterprise', 'PATCH');

function route(name: string, method: 'PUT' | 'PATCH') {
  return defineRoute({
    name,
    method,
    path: '/enterprises/{rut}',
    summary: 'Update data, start date and plan',
    about:
      'Changes the given fields and keeps the rest; null clears optional fields. The enterprise may be sent back as it was read: read-only fields are ignored if unchanged. A change applies to CFEs numbered after it. Choosing a plan with a price creates a payment (`payment.created`).',
    auth: 'token',
    role: 'OWNER',
    params: { rut: Rut },
    body: { schema: Body, limitBytes: BODY_LIMITS.file },
    success: {
      status: 200,
      description: 'The fields that can be updated, with their current values',
      schema: UpdatedEnterpriseView,
    },
    async handle(request, deps) {
      const { params, body } = request;
      const sent = readOnlyFieldsIn(body, UpdateEnterprise, EnterpriseView);
      if (sent.length > 0) {
        const current = (await getEnterpriseRoute.handle(request, deps, undefined)) as Record<
          string,
          unknown
        >;
        requireUnchanged(body, Object.fromEntries(sent.map((name) => [name, current[name]])));
      }
      return updatedEnterpriseObject(await update(deps, { rut: params.rut, update: body }));
    },
  });
}
