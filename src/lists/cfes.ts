/** The list of CFEs. */
import type { CfeSearch } from '../db/receipts/cfeSearch.ts';
import { LAST_NUMBER, LONGEST_SEARCH, Serie } from '../domain/operations/parseSearch.ts';
import { CfeStatusName, CfeTypeName } from '../domain/requests/enums.ts';
import { dateSchema, Moment, spanOfMoment } from '../domain/values/dates.ts';
import { LENGTHS } from '../domain/values/lengths.ts';
import { textSchema } from '../domain/values/text.ts';
import { wholeNumber } from '../domain/values/wholeNumber.ts';
import { type FilterValues, type ListFilters, SoughtRut } from './list.ts';

export const CFE_FILTERS = {
  rut: { schema: SoughtRut, only: 'CFEs of this enterprise' },
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
} as const satisfies ListFilters;

/** Returns the search of these filters. */
export const cfeSearchOf = ({
  createdFrom,
  createdTo,
  ...same
}: FilterValues<typeof CFE_FILTERS> &
  Omit<CfeSearch, keyof typeof CFE_FILTERS | 'createdBefore'>): CfeSearch => ({
  ...same,
  createdFrom: createdFrom === undefined ? undefined : spanOfMoment(createdFrom).from,
  createdBefore: createdTo === undefined ? undefined : spanOfMoment(createdTo).before,
});
