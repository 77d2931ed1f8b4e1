import { listCaes } from '../db/enterprises/warnings.ts';
import { type AnnulledSpan, listAnnulments } from '../db/numbers/numbers.ts';
import { BY_SERIAL } from '../db/page.ts';
import type { ListedCae } from '../domain/enterprises/enterpriseObject.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { CaeStatusName } from '../domain/requests/enums.ts';
import { type FilterValues, listOf, loadedAtOnce } from './list.ts';

const CAE_FILTERS = { status: { schema: CaeStatusName, only: 'CAEs with this status' } } as const;

interface CaeSearch extends FilterValues<typeof CAE_FILTERS> {
  readonly rut: string;
  readonly environment: Environment;
  readonly now: Date;
}

/** CAEs of an enterprise, by expiry. */
export const CAES = listOf<ListedCae, CaeSearch>()({
  name: 'caes',
  filters: CAE_FILTERS,
  columns: {
    cfe_type: 'cfe_type',
    series: 'series',
    number_start: 'number_start',
    number_end: 'number_end',
    last_number: 'last_number',
    numbers_left: 'numbers_left',
    days_left: 'days_left',
    issue_date: 'issue_date',
    expiration_date: 'expiration_date',
    status: 'status',
    authorization_number: 'authorization_number',
    warnings: ({ warnings }) => warnings.map(({ code }) => code),
  },
  ...loadedAtOnce(
    ({ cfe_type, series, number_start }) => `${cfe_type} ${series} ${number_start}`,
    async (em, { status, ...search }) =>
      (await listCaes(em, search))
        .filter((cae) => status === undefined || cae.status === status)
        .toSorted((a, b) => (a.expiration_date < b.expiration_date ? -1 : 1)),
  ),
});

interface AnnulmentSearch {
  readonly rut: string;
  readonly environment?: Environment;
  readonly isOperator: boolean;
}

/** Annulled numbers of an enterprise, the latest first. */
export const ANNULMENTS = listOf<AnnulledSpan, AnnulmentSearch>()({
  name: 'annulments',
  filters: {},
  columns: {
    cfe_type: 'type',
    serie: 'serie',
    from: 'from',
    to: 'to',
    reason: 'reason',
    typed_reason: 'typedReason',
    authority_codes: 'authorityCodes',
    report_date: 'reportDate',
    annulled_at: 'annulledAt',
    environment: 'environment',
  },
  key: BY_SERIAL,
  read: (em, search, page) => listAnnulments(em, search, page),
});
