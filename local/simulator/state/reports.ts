import type { EnvironmentName } from '../environments.ts';
import type { ReportCode } from '../judge/codes.ts';
import { nextNumber, type State } from './database.ts';

/**
 * AR received, BR refused; later DR processed, ER differs from the receipts held, FR a later sequence took its place
 * (docs/local.md#simulated-daily-reports).
 */
export type ReportState = 'AR' | 'BR' | 'DR' | 'ER' | 'FR';

/** Why a report was refused, or (without a code) how it differs. */
export interface ReportReason {
  readonly code: ReportCode | null;
  readonly detail: string;
}

/** A daily report as the authority keeps it; times are ISO 8601 in UTC. Its id is the IDReceptor. */
export interface Report {
  readonly id: number;
  readonly environment: EnvironmentName;
  readonly rut: string;
  /** The day and the sequence; null where they could not be read. */
  readonly date: string | null;
  readonly sequence: number | null;
  readonly id_emisor: number;
  readonly state: ReportState;
  readonly reasons: readonly ReportReason[];
  readonly received_at: string;
  /** From this moment on it is compared with the ledger. */
  readonly ready_at: string;
  /** The portal has ordered that it differs. */
  readonly is_to_differ: 0 | 1;
  readonly sha256: string;
  readonly xml: string;
  /** The answer that it got. */
  readonly ack: string;
}

/** Whose reports. */
export type Issuer = Pick<Report, 'environment' | 'rut'>;

/** The next IDReceptor of a report; far from those of sobres, so that they are not confused. */
export const nextReportId = (state: State): number => nextNumber(state, 'reports', 90_001);

/** Stores a report. */
export function addReport(state: State, report: Report): void {
  state
    .prepare('insert into reports values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      report.id,
      report.environment,
      report.rut,
      report.date,
      report.sequence,
      report.id_emisor,
      report.state,
      JSON.stringify(report.reasons),
      report.received_at,
      report.ready_at,
      report.is_to_differ,
      report.sha256,
      report.xml,
      report.ack,
    );
}

const reportOf = (row: Record<string, unknown>): Report =>
  ({ ...row, reasons: JSON.parse(String(row['reasons'])) as ReportReason[] }) as unknown as Report;

/** The highest sequence that was accepted for a day, 0 without any. */
export function highestSequence(state: State, { environment, rut }: Issuer, date: string): number {
  const row = state
    .prepare(
      "select max(sequence) as highest from reports where environment = ? and rut = ? and date = ? and state <> 'BR'",
    )
    .get(environment, rut, date);
  return Number(row?.['highest'] ?? 0);
}

/** Whether a report of the same bytes was accepted. */
export const wasAccepted = (state: State, { environment, rut }: Issuer, sha256: string): boolean =>
  state
    .prepare("select 1 from reports where environment = ? and rut = ? and sha256 = ? and state <> 'BR'")
    .get(environment, rut, sha256) !== undefined;

/** Marks what was accepted for a day as replaced by a later sequence. */
export const supersede = (state: State, { environment, rut }: Issuer, date: string): void => {
  state
    .prepare(
      "update reports set state = 'FR' where environment = ? and rut = ? and date = ? and state in ('AR', 'DR', 'ER')",
    )
    .run(environment, rut, date);
};

/** The accepted reports that are to be compared by now, of one issuer or of all. */
export const uncompared = (
  state: State,
  filter: { readonly environment: EnvironmentName; readonly rut: string | null },
  now: Date,
): Report[] =>
  state
    .prepare(
      `select * from reports where environment = :environment and (:rut is null or rut = :rut) and state = 'AR'
       and ready_at <= :now order by id`,
    )
    .all({ environment: filter.environment, rut: filter.rut, now: now.toISOString() })
    .map(reportOf);

/** Stores what a comparison has shown. */
export const keepComparison = (
  state: State,
  id: number,
  outcome: 'DR' | 'ER',
  reasons: readonly ReportReason[],
): void => {
  state
    .prepare('update reports set state = ?, reasons = ? where id = ?')
    .run(outcome, JSON.stringify(reasons), id);
};

/** The report of that IDReceptor, if it is the issuer's. */
export function findReport(state: State, { environment, rut }: Issuer, id: number): Report | undefined {
  const row = state
    .prepare('select * from reports where environment = ? and rut = ? and id = ?')
    .get(environment, rut, id);
  return row && reportOf(row);
}

/** Reports in order of arrival; null means any. */
export const listReports = (
  state: State,
  filter: {
    readonly environment: EnvironmentName;
    readonly rut: string | null;
    readonly date: string | null;
    readonly sequence: number | null;
    readonly idEmisor: number | null;
  },
): Report[] =>
  state
    .prepare(
      `select * from reports where environment = :environment and (:rut is null or rut = :rut)
       and (:date is null or date = :date) and (:sequence is null or sequence = :sequence)
       and (:idEmisor is null or id_emisor = :idEmisor) order by id`,
    )
    .all({ ...filter })
    .map(reportOf);

/** What the portal can order for reports to come: no answer, a SOAP fault, a comparison that differs. */
export const REPORT_FAULTS = ['LOST', 'FAULT', 'DIFFERS'] as const;
export type ReportFault = (typeof REPORT_FAULTS)[number];

/** Orders a fault for the next reports of an issuer, in place of what was ordered before; 0 ends it. */
export const orderReportFault = (
  state: State,
  { environment, rut }: Issuer,
  kind: ReportFault,
  times: number,
): void => {
  state
    .prepare('insert into report_faults values (?, ?, ?, ?) on conflict do update set times = excluded.times')
    .run(environment, rut, kind, times);
};

/** Whether a fault is ordered; if so it is used up once. */
export const takeReportFault = (state: State, { environment, rut }: Issuer, kind: ReportFault): boolean =>
  state
    .prepare(
      `update report_faults set times = times - 1
       where environment = ? and rut = ? and kind = ? and times > 0 returning times`,
    )
    .get(environment, rut, kind) !== undefined;
