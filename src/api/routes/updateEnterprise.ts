import { updateEnterprise as update } from '../../commands/updateEnterprise.ts';
import { UpdateEnterprise } from '../../domain/enterprise.ts';
import { updatedEnterpriseObject } from '../../domain/enterpriseObject.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { UpdatedEnterpriseView } from '../views/enterprise.ts';

/** PUT /enterprises/{rut}: corrects its data, sets plan and start date. */
export const updateEnterprise = route('updateEnterprise', 'PUT');

/** PATCH /enterprises/{rut}: the same, by its second address (docs/contract.md#addresses). */
export const patchEnterprise = route('patchEnterprise', 'PATCH', { deprecatedFor: 'PUT /enterprises/{rut}' });

function route(name: string, method: 'PUT' | 'PATCH', more: { deprecatedFor?: string } = {}) {
  return defineRoute({
    name,
    method,
    path: '/enterprises/{rut}',
    summary: 'Update data, start date and plan',
    about:
      'Changes what is given and leaves the rest; null removes what may be missing. A change counts for the CFEs that are numbered after it. Choosing a plan with a price creates a payment (`payment.created`).',
    ...more,
    auth: 'token',
    sandbox: false,
    role: 'OWNER',
    params: { rut: Rut },
    query: null,
    body: { schema: UpdateEnterprise, limitBytes: BODY_LIMITS.file },
    success: {
      status: 200,
      description: 'The fields that can be updated, with their current values',
      schema: UpdatedEnterpriseView,
    },
    errors: [],
    async handle({ params, body }, deps) {
      return updatedEnterpriseObject(await update(deps, { rut: params.rut, update: body }));
    },
  });
}
