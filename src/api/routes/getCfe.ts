import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import { type CfeKey, findCfe } from '../../db/cfes.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import type { Database } from '../../db/orm.ts';
import { CfeId, parseCfeId } from '../../domain/cfeId.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { CfeListView, cfeView } from '../../views/cfe.ts';
import { environmentRead, environmentToRead } from '../environmentRead.ts';
import { type Caller, defineRoute } from '../route.ts';

/** GET …/cfes/{cfe_id}: one CFE, as a list of one. */
export const getCfe = defineRoute({
  name: 'getCfe',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}',
  summary: 'Read one CFE',
  about:
    'One CFE as it stands, in the form of a list: `items` holds exactly one, and `total` is 1. One that does not exist is 404, not an empty list. Its lines, and the `reference` of a note, stand in its XML (`…/xml`).',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentToRead),
  success: { status: 200, description: 'The CFE', schema: CfeListView },
  errors: ['NOT_FOUND'],
  async handle(request, { orm, publicUrl }) {
    const cfe = await cfeAsked(orm, findCfe, request);
    return { items: [cfeView(cfe, { publicUrl })], total: 1 };
  },
});

/** A request that names a CFE, in its path and by the environment of its query. */
interface ReadRequest {
  readonly caller: Pick<Caller, 'isDeveloper'>;
  readonly enterprise: Pick<Enterprise, 'rut'>;
  readonly params: { readonly cfe_id: string };
  readonly query: { readonly environment?: Environment | undefined };
}

/**
 * The CFE that a request names, read by `find`. Refuses where there is none (NOT_FOUND), and the sandbox to who is no
 * developer (FORBIDDEN).
 */
export function cfeAsked<Found>(
  orm: Database,
  find: (em: EntityManager, key: CfeKey) => Promise<Found | null>,
  { caller, enterprise: { rut }, params, query }: ReadRequest,
): Promise<Found> {
  return readCfe(orm, find, { rut, environment: environmentRead(caller, query) }, params.cfe_id);
}

/** The CFE of the enterprise that a cfe_id names, in production unless told, read by `find`. Refuses where there is none (NOT_FOUND). */
export async function readCfe<Found>(
  { em }: Database,
  find: (em: EntityManager, key: CfeKey) => Promise<Found | null>,
  { rut, environment = 'production' }: { rut: string; environment?: Environment },
  cfeId: string,
): Promise<Found> {
  const parts = parseCfeId(cfeId);
  const cfe = parts && (await find(em.fork(), { rut, environment, ...parts }));
  if (!cfe) {
    const where = environment === 'sandbox' ? ' in the sandbox' : '';
    throw new Refusal('NOT_FOUND', `The enterprise has no CFE ${cfeId}${where}.`);
  }
  return cfe;
}
