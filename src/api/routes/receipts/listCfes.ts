import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import type { Cfe } from '../../../db/entities/receipts.ts';
import { countCfes, searchCfes } from '../../../db/receipts/cfeSearch.ts';
import { findCfe } from '../../../db/receipts/cfes.ts';
import { CfeCursor, decodeCfeCursor, WRONG_CURSOR } from '../../../domain/operations/parseSearch.ts';
import type { Environment } from '../../../domain/receipts/cfeTypes.ts';
import { faultAt } from '../../../domain/requests/faults.ts';
import { encodeCursor } from '../../../domain/values/cursor.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { invalidInput } from '../../../errors.ts';
import { CFES, cfeSearchOf } from '../../../lists/cfes.ts';
import { nameFilters } from '../../../lists/list.ts';
import { CfeListView, cfeView } from '../../../views/receipts/cfe.ts';
import { environmentQuery, requireReadableEnvironment } from '../../environmentRead.ts';
import { pageParameters } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 25;

const FILTERS = nameFilters(CFES, {
  cfe_type: 'type',
  cfe_status: 'status',
  serie: 'serie',
  numero: 'numero',
  receiver_document: 'receiver',
  idempotency_key: 'idempotencyKey',
  external_id: 'externalId',
  from: 'from',
  to: 'to',
  created_from: 'createdFrom',
  created_to: 'createdTo',
});

const Query = z.strictObject({
  ...pageParameters('CFEs', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
  after: CfeCursor.optional().meta({
    description:
      'The cursor from the header Link of the previous page. CFEs issued in the meantime do not shift the pages: each CFE is on exactly one page. Keep the other parameters unchanged.',
    examples: [encodeCursor(['101-25'])],
  }),
  ...FILTERS.schemas,
  ...environmentQuery,
});

/** GET …/cfes: lists the enterprise's CFEs, newest first, in pages (docs/contract.md#lists). */
export const listCfesRoute = defineRoute({
  name: 'listCfes',
  method: 'GET',
  path: '/enterprises/{rut}/cfes',
  summary: 'List CFEs',
  about: 'The enterprise’s CFEs, newest first.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  query: Query,
  success: {
    status: 200,
    description: 'A page of CFEs, and the total number; the header Link points to the next page',
    schema: CfeListView,
  },
  async handle({ caller, enterprise, query }, { orm, publicUrl }) {
    const em = orm.em.fork();
    const scope = { rut: enterprise.rut, environment: requireReadableEnvironment(caller, query) };
    const filter = cfeSearchOf({ ...FILTERS.valuesOf(query), ...scope });
    const last = query.after === undefined ? undefined : await requireLastCfe(em, scope, query.after);
    const { skip, limit = USUAL_PAGE } = query;
    const { cfes } = await searchCfes(em, null, filter, { after: last?.id, skip, limit });
    return {
      items: cfes.map((cfe) => cfeView(cfe, { publicUrl })),
      total: await countCfes(em, null, filter),
    };
  },
  nextPage({ query }, { items }) {
    const { skip: _, limit = USUAL_PAGE, ...filter } = query;
    const last = items.at(-1);
    if (!last || items.length < limit) return null;
    const conditions = Object.entries(filter).filter(([, value]) => value !== undefined);
    return {
      ...Object.fromEntries(conditions.map(([name, value]) => [name, String(value)])),
      after: encodeCursor([last.cfe_id]),
      limit: String(limit),
    };
  },
});

/** Returns the last CFE of the previous page. Throws INVALID_INPUT for a cursor of another list. */
async function requireLastCfe(
  em: EntityManager,
  scope: { rut: string; environment: Environment },
  cursor: string,
): Promise<Cfe> {
  const parts = decodeCfeCursor(cursor);
  const last = parts && (await findCfe(em, { ...scope, ...parts }));
  if (!last) throw invalidInput([faultAt(['after'], 'cursor.malformed', WRONG_CURSOR, '/query')]);
  return last;
}
