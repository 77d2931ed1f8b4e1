import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import type { Cfe } from '../../../db/entities/receipts.ts';
import { countCfes, searchCfes } from '../../../db/receipts/cfeSearch.ts';
import { findCfe } from '../../../db/receipts/cfes.ts';
import {
  CfeCursor,
  decodeCfeCursor,
  LAST_NUMBER,
  LONGEST_SEARCH,
  Serie,
  WRONG_CURSOR,
} from '../../../domain/operations/parseSearch.ts';
import type { Environment } from '../../../domain/receipts/cfeTypes.ts';
import { CfeStatusName, CfeTypeName } from '../../../domain/requests/enums.ts';
import { faultAt } from '../../../domain/requests/faults.ts';
import { encodeCursor } from '../../../domain/values/cursor.ts';
import { dateSchema, Moment, spanOfMoment } from '../../../domain/values/dates.ts';
import { LENGTHS } from '../../../domain/values/lengths.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { invalidInput } from '../../../errors.ts';
import { CfeListView, cfeView } from '../../../views/receipts/cfe.ts';
import { environmentQuery, requireReadableEnvironment } from '../../environmentRead.ts';
import { pageParameters, wholeNumber } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 25;

const Query = z.strictObject({
  ...pageParameters('CFEs', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
  after: CfeCursor.optional().meta({
    description:
      'The cursor from the header Link of the previous page. CFEs issued in the meantime do not shift the pages: each CFE is on exactly one page. Keep the other parameters unchanged.',
    examples: [encodeCursor(['101-25'])],
  }),
  cfe_type: CfeTypeName.optional().meta({ description: 'Only CFEs of this type.' }),
  cfe_status: CfeStatusName.optional().meta({ description: 'Only CFEs with this status.' }),
  serie: Serie.optional().meta({ description: 'Only CFEs of this serie.' }),
  numero: wholeNumber({ minimum: 1, maximum: LAST_NUMBER })
    .optional()
    .meta({ description: 'Only CFEs with this number, of any type and serie.', examples: [123] }),
  receiver_document: textSchema(LENGTHS.foreignDocument)
    .optional()
    .meta({
      description: 'Only CFEs whose receiver has this document; the complete number.',
      examples: ['219999830019'],
    }),
  idempotency_key: textSchema(LONGEST_SEARCH)
    .optional()
    .meta({
      description: 'Only the CFE that was issued with this Idempotency-Key.',
      examples: ['order-4711'],
    }),
  external_id: textSchema(LENGTHS.externalId)
    .optional()
    .meta({ description: 'Only CFEs with this number of yours.', examples: ['order-4711'] }),
  from: dateSchema().optional().meta({ description: 'Earliest emission date, inclusive.' }),
  to: dateSchema().optional().meta({ description: 'Latest emission date, inclusive.' }),
  created_from: Moment.optional().meta({
    description:
      'Only CFEs created (`created_at`) at this moment or later: a day in Montevideo, or a date and time with its zone.',
  }),
  created_to: Moment.optional().meta({
    description: 'Only CFEs created at this moment or earlier; a day in Montevideo counts to its end.',
  }),
  ...environmentQuery,
});

/** Returns the query as a filter of the enterprise's CFEs. */
function filterOf(rut: string, environment: Environment, query: z.output<typeof Query>) {
  const { created_from: createdFrom, created_to: createdTo } = query;
  return {
    rut,
    environment,
    type: query.cfe_type,
    status: query.cfe_status,
    serie: query.serie,
    numero: query.numero,
    receiver: query.receiver_document,
    idempotencyKey: query.idempotency_key,
    externalId: query.external_id,
    from: query.from,
    to: query.to,
    createdFrom: createdFrom === undefined ? undefined : spanOfMoment(createdFrom).from,
    createdBefore: createdTo === undefined ? undefined : spanOfMoment(createdTo).before,
  };
}

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
    const filter = filterOf(enterprise.rut, requireReadableEnvironment(caller, query), query);
    const last = query.after === undefined ? undefined : await requireLastCfe(em, filter, query.after);
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
    const given = Object.entries(filter).filter(([, value]) => value !== undefined);
    return {
      ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      after: encodeCursor([last.cfe_id]),
      limit: String(limit),
    };
  },
});

/** Returns the last CFE of the previous page. Throws INVALID_INPUT for a cursor of another list. */
async function requireLastCfe(
  em: EntityManager,
  { rut, environment }: ReturnType<typeof filterOf>,
  cursor: string,
): Promise<Cfe> {
  const parts = decodeCfeCursor(cursor);
  const last = parts && (await findCfe(em, { rut, environment, ...parts }));
  if (!last) throw invalidInput([faultAt(['after'], 'cursor.malformed', WRONG_CURSOR, '/query')]);
  return last;
}
