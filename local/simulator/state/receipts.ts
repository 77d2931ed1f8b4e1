import type { EnvironmentName } from '../environments.ts';
import type { Code, Verdict } from '../judge/codes.ts';
import type { State } from './database.ts';

/** What identifies a receipt at the authority. */
export interface FiscalNumber {
  readonly environment: EnvironmentName;
  readonly rut: string;
  readonly cfeType: string;
  readonly serie: string;
  readonly number: number;
}

/** A receipt in the ledger; times are ISO 8601 in UTC, amounts decimal text. */
export interface Receipt {
  readonly sobre_id: number;
  readonly verdict: Verdict;
  readonly code: Code | null;
  readonly received_at: string;
  readonly ready_at: string;
  readonly sha256: string;
  readonly amount_payable: string | null;
  readonly currency: string | null;
  readonly exchange_rate: string | null;
}

const BY_NUMBER = 'environment = ? and rut = ? and cfe_type = ? and series = ? and number = ?';
const keyOf = ({ environment, rut, cfeType, serie, number }: FiscalNumber) =>
  [environment, rut, cfeType, serie, number] as const;

/** The receipt of that number; undefined when the authority has none. */
export const findReceipt = (state: State, key: FiscalNumber): Receipt | undefined =>
  state.prepare(`select * from receipts where ${BY_NUMBER}`).get(...keyOf(key)) as Receipt | undefined;

/**
 * Enters a receipt. One that is already there under the number (refused with E09, which leaves it free) is replaced,
 * and its count goes on.
 */
export function enterReceipt(state: State, key: FiscalNumber, receipt: Receipt, xml: Uint8Array): void {
  state
    .prepare(
      `insert into receipts values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
       on conflict do update set sobre_id = excluded.sobre_id, verdict = excluded.verdict, code = excluded.code,
         received_at = excluded.received_at, ready_at = excluded.ready_at, times_received = times_received + 1,
         sha256 = excluded.sha256, xml = excluded.xml, amount_payable = excluded.amount_payable,
         currency = excluded.currency, exchange_rate = excluded.exchange_rate`,
    )
    .run(
      ...keyOf(key),
      receipt.sobre_id,
      receipt.verdict,
      receipt.code,
      receipt.received_at,
      receipt.ready_at,
      receipt.sha256,
      xml,
      receipt.amount_payable,
      receipt.currency,
      receipt.exchange_rate,
    );
}

/** What is known of a CFE that another system of the company issued; amounts are decimal text, null where it has none. */
export interface ForeignCfe {
  readonly issuedOn: string;
  readonly amountPayable: string | null;
  readonly currency: string | null;
  /** null in pesos. */
  readonly exchangeRate: string | null;
}

/** Keeps a CFE of another system, in place of one under the same number. */
export const keepForeignCfe = (state: State, key: FiscalNumber, cfe: ForeignCfe): void => {
  state
    .prepare('insert or replace into foreign_cfes values (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(...keyOf(key), cfe.issuedOn, cfe.amountPayable, cfe.currency, cfe.exchangeRate);
};

/** The CFE of another system under that number. */
export const findForeignCfe = (state: State, key: FiscalNumber): ForeignCfe | undefined =>
  state
    .prepare(
      `select issued_on as issuedOn, amount_payable as amountPayable, currency, exchange_rate as exchangeRate
       from foreign_cfes where ${BY_NUMBER}`,
    )
    .get(...keyOf(key)) as ForeignCfe | undefined;

/** Counts one more sobre that carried the receipt of that number, if there is one. */
export const countAgain = (state: State, key: FiscalNumber): void => {
  state
    .prepare(`update receipts set times_received = times_received + 1 where ${BY_NUMBER}`)
    .run(...keyOf(key));
};

/** The XML of a receipt, byte for byte as received. */
export const receiptXml = (state: State, key: FiscalNumber): Uint8Array | undefined =>
  state.prepare(`select xml from receipts where ${BY_NUMBER}`).get(...keyOf(key))?.['xml'] as
    | Uint8Array
    | undefined;

/** A row of the ledger as the portal shows it; the verdict is null until it is out. */
export interface LedgerRow {
  readonly environment: EnvironmentName;
  readonly rut: string;
  readonly cfe_type_code: string;
  readonly serie: string;
  readonly numero: number;
  readonly verdict: Verdict | null;
  readonly code: Code | null;
  readonly sobre_id: string;
  readonly idemisor: number;
  readonly received_at: string;
  readonly times_received: number;
  readonly sha256: string;
}

/** The ledger of an environment in order of arrival, of one RUC or all, from a moment on. */
export function listLedger(
  state: State,
  filter: {
    readonly environment: EnvironmentName;
    readonly rut: string | null;
    readonly since: string;
    readonly now: string;
  },
): LedgerRow[] {
  return state
    .prepare(
      `select r.environment, r.rut, r.cfe_type as cfe_type_code, r.series as serie, r.number as numero,
         case when r.ready_at <= :now then r.verdict end as verdict,
         case when r.ready_at <= :now then r.code end as code,
         cast(r.sobre_id as text) as sobre_id, s.idemisor, r.received_at, r.times_received, r.sha256
       from receipts r join sobres s on s.id = r.sobre_id
       where r.environment = :environment and (:rut is null or r.rut = :rut) and r.received_at >= :since
       order by r.received_at, r.sobre_id, r.cfe_type, r.series, r.number`,
    )
    .all({ ...filter }) as unknown as LedgerRow[];
}

/** Reports numbers as annulled: a receipt that carries one later is refused (E01). */
export function annulNumbers(
  state: State,
  { environment, rut, cfeType, serie }: Omit<FiscalNumber, 'number'>,
  start: number,
  end: number,
): void {
  state
    .prepare('insert into annulments values (?, ?, ?, ?, ?, ?)')
    .run(environment, rut, cfeType, serie, start, end);
}

/** Whether just these numbers were reported as annulled before. */
export const isReportedAnnulled = (
  state: State,
  { environment, rut, cfeType, serie }: Omit<FiscalNumber, 'number'>,
  start: number,
  end: number,
): boolean =>
  state
    .prepare(
      `select 1 from annulments where environment = ? and rut = ? and cfe_type = ? and series = ?
       and number_start = ? and number_end = ?`,
    )
    .get(environment, rut, cfeType, serie, start, end) !== undefined;

/** Accepts a receipt that was refused, in the ledger and in the sobre that brought it. */
export function acceptRefused(state: State, key: FiscalNumber, sobreId: number): void {
  state.prepare(`update receipts set verdict = 'AE', code = null where ${BY_NUMBER}`).run(...keyOf(key));
  state
    .prepare(`update judgements set verdict = 'AE', reasons = '[]' where sobre_id = ? and ${BY_NUMBER}`)
    .run(sobreId, ...keyOf(key));
}

/** Whether this is the first receipt of that number of which no record is to be kept. */
export const forgetOnce = (state: State, key: FiscalNumber): boolean =>
  state.prepare('insert or ignore into forgotten values (?, ?, ?, ?, ?)').run(...keyOf(key)).changes === 1;

/** Whether the number was reported as annulled. */
export const isAnnulled = (state: State, key: FiscalNumber): boolean =>
  state
    .prepare(
      `select 1 from annulments where environment = ? and rut = ? and cfe_type = ? and series = ?
       and ? between number_start and number_end`,
    )
    .get(...keyOf(key)) !== undefined;
