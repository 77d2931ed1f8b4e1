import type { Cfe } from '../db/entities/receipts.ts';
import { type CfeSearch, searchCfes } from '../db/receipts/cfeSearch.ts';
import { LAST_NUMBER, LONGEST_SEARCH, Serie } from '../domain/operations/parseSearch.ts';
import { formatCfeId } from '../domain/receipts/cfeId.ts';
import { CfeStatusName, CfeTypeName } from '../domain/requests/enums.ts';
import { dateSchema, Moment } from '../domain/values/dates.ts';
import { exactNumber } from '../domain/values/exactNumber.ts';
import { LENGTHS } from '../domain/values/lengths.ts';
import { textSchema } from '../domain/values/text.ts';
import { wholeNumber } from '../domain/values/wholeNumber.ts';
import { type FilterValues, listOf, spanBetween, TypedRut, type VisibleTo } from './list.ts';

const FILTERS = {
  rut: { schema: TypedRut, only: 'CFEs of this enterprise' },
  type: { schema: CfeTypeName, only: 'CFEs of this type' },
  status: { schema: CfeStatusName, only: 'CFEs with this status' },
  serie: { schema: Serie, only: 'CFEs of this serie' },
  numero: {
    schema: wholeNumber({ minimum: 1, maximum: LAST_NUMBER }).meta({ examples: [123] }),
    only: 'CFEs with this number, of any type and serie',
    placeholder: 'n',
  },
  receiver: {
    schema: textSchema(LENGTHS.foreignDocument).meta({ examples: ['219999830019'] }),
    only: 'CFEs whose receiver has this document; the complete number',
    placeholder: 'document',
  },
  idempotencyKey: {
    schema: textSchema(LONGEST_SEARCH).meta({ examples: ['order-4711'] }),
    only: 'the CFE that was issued with this Idempotency-Key',
  },
  externalId: {
    schema: textSchema(LENGTHS.externalId).meta({ examples: ['order-4711'] }),
    only: "CFEs with this number of the customer's own",
  },
  requestId: { schema: textSchema(LONGEST_SEARCH), only: 'CFEs issued by this request (X-Request-Id)' },
  from: { schema: dateSchema(), only: 'CFEs emitted on this day or later', placeholder: 'date' },
  to: { schema: dateSchema(), only: 'CFEs emitted on this day or earlier', placeholder: 'date' },
  createdFrom: {
    schema: Moment,
    only: 'CFEs created (`created_at`) at this moment or later: a day in Montevideo, or a date and time with its zone',
    placeholder: 'moment',
  },
  createdTo: {
    schema: Moment,
    only: 'CFEs created at this moment or earlier; a day in Montevideo counts to its end',
    placeholder: 'moment',
  },
} as const;

/** Selects CFEs by the values of the list's filters, and by what each reader adds. */
type Search = FilterValues<typeof FILTERS> &
  Omit<CfeSearch, keyof typeof FILTERS | 'createdFrom' | 'createdBefore'>;

/** Returns the search of filters, for counting what the list would show. */
export function cfeSearchOf({ createdFrom, createdTo, ...search }: Search): CfeSearch {
  const { from, before } = spanBetween(createdFrom, createdTo);
  return { ...search, createdFrom: from, createdBefore: before };
}

/** Receipts, newest first. */
export const CFES = listOf<Cfe, Search & VisibleTo>()({
  name: 'cfes',
  filters: FILTERS,
  columns: {
    cfe_id: formatCfeId,
    serie: 'serie',
    numero: 'numero',
    cfe_type: 'type',
    cfe_status: 'status',
    stuck_reason: 'stuckReason',
    pay_amount: ({ payAmount }) => exactNumber(payAmount),
    currency: 'currency',
    receiver: ({ document: { receiver } }) => receiver?.legalName,
    receiver_document: ({ document: { receiver } }) => receiver?.document?.number,
    external_id: 'externalId',
    emission_date: 'emissionDate',
    created_at: 'createdAt',
    rut: 'rut',
    environment: 'environment',
  },
  key: { parts: ['uuid'], of: ({ id }) => [id] },
  read: async (em, { accounts, ...search }, { after, limit }) =>
    (await searchCfes(em, accounts, cfeSearchOf(search), { after: after?.[0], limit })).cfes,
});
