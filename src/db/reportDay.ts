/** What the daily report of an enterprise is made from. */
import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { formatCfeId } from '../domain/cfeId.ts';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { createDaySums, type DaySums, type IssuedReceipt } from '../domain/report/summary.ts';
import { listUiValues } from './rates.ts';

/** A CFE of the day that is in no report yet, as nobody knows what becomes of its number. */
export interface UndecidedCfe {
  readonly cfeId: string;
  readonly type: CfeType;
  readonly serie: string;
  readonly numero: number;
  /** Its verdict is not there; or it was rejected for E06 alone, which the authority's portal may still accept. */
  readonly why: 'verdict' | 'E06';
}

export interface AwaitedSummary {
  readonly verdicts: number;
  readonly undecided: number;
  /** At most MOST_LISTED of them. */
  readonly first: readonly UndecidedCfe[];
}

/** @internal */
export const MOST_LISTED = 100;

/** Whose report, and of which day in Montevideo (`YYYY-MM-DD`). */
export interface ReportedDay {
  readonly rut: string;
  readonly environment: Environment;
  readonly date: string;
}

/**
 * Reads the day as it stands at one moment, row by row in a transaction of its own (`em` must have none open), so that memory
 * grows with ranges and rows of amounts only. What waits is in `waitsFor`, not in the sums; rates come by `DaySums.close`.
 */
export function readReportDay(
  em: EntityManager,
  day: ReportedDay,
): Promise<{ sums: DaySums; waitsFor: AwaitedSummary }> {
  return em.fork().transactional(
    async (em) => {
      const sums = createDaySums(await listUiValues(em));
      const waiting = { verdicts: 0, undecided: 0, first: [] as UndecidedCfe[] };
      for await (const row of signedOn(em, day)) {
        if (row.status === 'ACCEPTED' || row.status === 'OBSERVED') {
          sums.addIssued(row);
          continue;
        }
        const why = row.status === 'REJECTED' ? 'E06' : 'verdict';
        waiting[why === 'E06' ? 'undecided' : 'verdicts'] += 1;
        const { type, serie, numero } = row;
        if (waiting.first.length < MOST_LISTED)
          waiting.first.push({ cfeId: formatCfeId(row), type, serie, numero, why });
      }
      for await (const numbers of annulledOn(em, day)) sums.addAnnulled(numbers);
      return { sums, waitsFor: waiting };
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}

/**
 * CFEs signed that day, but for REJECTED ones whose number is settled. A scalar subquery asks for the annulment of each of the
 * few undecided ones; `not exists` beside an `or` may read the whole table.
 */
const signedOn = (em: EntityManager, { rut, environment, date }: ReportedDay) =>
  streamed<IssuedReceipt & { status: CfeStatus; sequence: number }>(
    em,
    `select type, serie, numero, sequence, status, emission_date::text as "emissionDate",
       (document -> 'issuer' ->> 'branch')::integer as branch, document -> 'totals' as totals
     from cfe
     where rut = ? and environment = ? and left(document ->> 'signedAt', 10) = ?
       and (status <> 'REJECTED' or number_fate(rejection) = 'undecided'
         and (select id from annulment where cfe_uuid = cfe.id) is null)`,
    [rut, environment, date],
  );

const annulledOn = (em: EntityManager, { rut, environment, date }: ReportedDay) =>
  streamed<{ type: CfeType; serie: string; from: number; to: number }>(
    em,
    `select type, serie, from_number as "from", to_number as "to" from annulment
     where rut = ? and environment = ? and report_date = ?`,
    [rut, environment, date],
  );

const ROWS_AT_ONCE = 250;

/**
 * The rows of a query within the open transaction, by a cursor of the server: each fetch is a statement of its own, so
 * that the time-out of statements holds for a fetch and not for the whole.
 */
async function* streamed<Row>(
  em: EntityManager,
  query: string,
  values: readonly string[],
): AsyncGenerator<Row> {
  await em.execute(`declare of_day no scroll cursor for ${query}`, [...values]);
  for (;;) {
    const rows = await em.execute<Row[]>(`fetch ${ROWS_AT_ONCE} from of_day`);
    yield* rows;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await em.execute('close of_day');
}
