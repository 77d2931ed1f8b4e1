import { findCfe } from '../../db/cfes.ts';
import { CfeId, parseCfeId } from '../../domain/cfeId.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { defineRoute } from '../route.ts';
import { CfeListView, cfeView } from '../views/cfe.ts';

/** GET …/cfes/{cfe_id}: one CFE, as a list of one. */
export const getCfe = defineRoute({
  name: 'getCfe',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}',
  summary: 'Read one CFE',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: null,
  body: null,
  success: { status: 200, description: 'The CFE', schema: CfeListView },
  errors: ['NOT_FOUND'],
  async handle({ params, enterprise }, { orm }) {
    const parts = parseCfeId(params.cfe_id);
    const key = parts && { rut: enterprise.rut, environment: 'production' as const, ...parts };
    const cfe = key && (await findCfe(orm.em.fork(), key));
    if (!cfe) throw new Refusal('NOT_FOUND', `The enterprise has no CFE ${params.cfe_id}.`);
    return { items: [cfeView(cfe)], total: 1 };
  },
});
