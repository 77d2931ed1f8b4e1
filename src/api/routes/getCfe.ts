import type { EntityManager } from '@mikro-orm/postgresql';
import { type CfeKey, findCfe } from '../../db/cfes.ts';
import type { Cfe } from '../../db/entities/Cfe.ts';
import type { Enterprise } from '../../db/entities/Enterprise.ts';
import type { Database } from '../../db/orm.ts';
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
  async handle({ params, enterprise }, { orm, publicUrl }) {
    const cfe = await readCfe(orm, findCfe, enterprise, params.cfe_id);
    return { items: [cfeView(cfe, { publicUrl })], total: 1 };
  },
});

/** The CFE of the enterprise that a cfe_id names, read by `find`. Refuses where there is none (NOT_FOUND). */
export async function readCfe(
  { em }: Database,
  find: (em: EntityManager, key: CfeKey) => Promise<Cfe | null>,
  { rut }: Pick<Enterprise, 'rut'>,
  cfeId: string,
): Promise<Cfe> {
  const parts = parseCfeId(cfeId);
  const cfe = parts && (await find(em.fork(), { rut, environment: 'production', ...parts }));
  if (!cfe) throw new Refusal('NOT_FOUND', `The enterprise has no CFE ${cfeId}.`);
  return cfe;
}
