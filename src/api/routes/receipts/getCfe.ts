import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import type { Enterprise } from '../../../db/entities/enterprises.ts';
import type { Database } from '../../../db/orm.ts';
import { type CfeKey, findCfeWithExtra, findReceipt } from '../../../db/receipts/cfes.ts';
import { listNotes } from '../../../db/receipts/references.ts';
import { CfeId, parseCfeId } from '../../../domain/receipts/cfeId.ts';
import type { Environment } from '../../../domain/receipts/cfeTypes.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { CfeDetailListView, cfeDetailView } from '../../../views/receipts/cfeDetail.ts';
import { environmentQuery, requireReadableEnvironment } from '../../environmentRead.ts';
import { type ApiCaller, defineRoute } from '../../route.ts';

/** GET …/cfes/{cfe_id}: one CFE, as a list of one. */
export const getCfeRoute = defineRoute({
  name: 'getCfe',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}',
  summary: 'Read one CFE',
  about:
    'The current state of one CFE, in the form of a list: `items` has exactly one, and `total` is 1. An unknown CFE is 404, not an empty list. It has its content (`document`), the notes that refer to it, and whether it needs support.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentQuery),
  success: { status: 200, description: 'The CFE with its content', schema: CfeDetailListView },
  errors: ['NOT_FOUND'],
  async handle(request, { orm, publicUrl }) {
    const cfe = await requireRequestedCfe(orm, findCfeWithExtra, request);
    const notes = await listNotes(orm.em.fork(), cfe.id);
    return { items: [cfeDetailView(cfe, notes, { publicUrl })], total: 1 };
  },
});

/** A request for a CFE: its path, and the environment of its query. */
interface ReadRequest {
  readonly caller: Pick<ApiCaller, 'isDeveloper'>;
  readonly enterprise: Pick<Enterprise, 'rut'>;
  readonly params: { readonly cfe_id: string };
  readonly query: { readonly environment?: Environment | undefined };
}

/**
 * Returns the CFE of a request, loaded by `find`. Throws NOT_FOUND without one, and FORBIDDEN for the sandbox
 * unless the caller is a developer.
 */
export function requireRequestedCfe<Found>(
  orm: Database,
  find: (em: EntityManager, key: CfeKey) => Promise<Found | null>,
  { caller, enterprise: { rut }, params, query }: ReadRequest,
): Promise<Found> {
  return requireCfeOfId(
    orm,
    find,
    { rut, environment: requireReadableEnvironment(caller, query) },
    params.cfe_id,
  );
}

/**
 * Returns the enterprise's CFE with a cfe_id, in production by default, loaded by `find`. Throws NOT_FOUND
 * without one.
 */
export async function requireCfeOfId<Found>(
  { em }: Database,
  find: (em: EntityManager, key: CfeKey) => Promise<Found | null>,
  { rut, environment = 'production' }: { rut: string; environment?: Environment },
  cfeId: string,
): Promise<Found> {
  const parts = parseCfeId(cfeId);
  const cfe = parts && (await find(em.fork(), { rut, environment, ...parts }));
  if (cfe) return cfe;
  const other = environment === 'sandbox' ? 'production' : 'sandbox';
  const elsewhere = parts && (await findReceipt(em.fork(), { rut, environment: other, ...parts }));
  throw new Refusal(
    'NOT_FOUND',
    `The enterprise has no CFE ${cfeId}${WHERE[environment][elsewhere ? 1 : 0]}.`,
  );
}

/** The place in the refusal: if the other environment has no CFE with this cfe_id either, and if it has one. */
const WHERE: Readonly<Record<Environment, readonly [string, string]>> = {
  production: ['', ' in production; the sandbox has one: read it with ?environment=sandbox'],
  sandbox: [' in the sandbox', ' in the sandbox; production has one: read it without ?environment=sandbox'],
};
