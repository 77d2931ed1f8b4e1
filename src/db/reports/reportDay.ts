/** Reads the data of an enterprise's daily report. */
import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { createDaySums, type DaySums, type IssuedReceipt } from '../../domain/reports/summary.ts';
import { listUiValues } from '../receipts/rates.ts';

/** A CFE of the day with an open result: it is in no report yet. */
export interface UndecidedCfe {
  readonly cfeId: string;
  readonly type: CfeType;
  readonly serie: string;
  readonly numero: number;
  /**
   * `verdict`: the CFE has no verdict. `E06`: it was rejected for E06 alone, and the authority may still accept it.
   */
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

/** A day of an enterprise, in Montevideo (`YYYY-MM-DD`). */
export interface ReportedDay {
  readonly rut: string;
  readonly environment: Environment;
  readonly date: string;
}

/**
 * Reads a consistent snapshot of the day, row by row in a separate transaction (`em` must have none open): memory
 * grows only with ranges and rows of amounts. `waitsFor` lists CFEs that are not in the sums; `DaySums.close` adds
 * rates.
 */
export function readReportDay(
  em: EntityManager,
  day: ReportedDay,
): Promise<{ sums: DaySums; waitsFor: AwaitedSummary }> {
  return em.fork().transactional(
    async (em) => {
      const sums = createDaySums(await listUiValues(em));
      const waiting = { verdicts: 0, undecided: 0, first: [] as UndecidedCfe[] };
      for await (const row of streamSignedCfes(em, day)) {
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
      for await (const numbers of streamAnnulled(em, day)) sums.addAnnulled(numbers);
      return { sums, waitsFor: waiting };
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}

/**
 * Reads CFEs signed that day, without REJECTED ones whose number is settled. A scalar subquery looks up the annulment
 * of the few undecided ones: `not exists` with `or` may scan the table.
 */
const streamSignedCfes = (em: EntityManager, { rut, environment, date }: ReportedDay) =>
  streamRows<IssuedReceipt & { status: CfeStatus; sequence: number }>(
    em,
    `select type, serie, numero, sequence, status, emission_date::text as "emissionDate",
       (document -> 'issuer' ->> 'branch')::integer as branch,
       document -> 'thirdPartyPayment' is not null as "thirdPartyPayment", document -> 'totals' as totals
     from cfe
     where rut = ? and environment = ? and left(document ->> 'signedAt', 10) = ?
       and (status <> 'REJECTED' or number_fate(rejection) = 'undecided'
         and (select id from annulment where cfe_uuid = cfe.id) is null)`,
    [rut, environment, date],
  );

const streamAnnulled = (em: EntityManager, { rut, environment, date }: ReportedDay) =>
  streamRows<{ type: CfeType; serie: string; from: number; to: number }>(
    em,
    `select type, serie, from_number as "from", to_number as "to" from annulment
     where rut = ? and environment = ? and report_date = ?`,
    [rut, environment, date],
  );

const ROWS_AT_ONCE = 250;

/**
 * Streams the rows of a query in the open transaction, through a server-side cursor: the statement timeout applies to
 * each fetch.
 */
async function* streamRows<Row>(
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
