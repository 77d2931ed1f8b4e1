import type { State } from './database.ts';
import type { FiscalNumber } from './receipts.ts';

/** What the daily report is compared with: one receipt in the ledger, as far as it can be read. */
export interface ReceiptFacts {
  /** The day of its signature in Montevideo; '' where it cannot be read. */
  readonly signedOn: string;
  readonly issuedOn: string;
  readonly branch: string;
  /** A sale on behalf of others. */
  readonly isThirdParty: boolean;
  readonly currency: string;
  /** TpoCambio; null in pesos. */
  readonly exchangeRate: string | null;
  /** Totals by their element, decimal text; what is missing is 0. */
  readonly amounts: Readonly<Record<string, string>>;
}

/** Keeps a receipt's facts, in place of those kept under its number. */
export function keepFacts(state: State, key: FiscalNumber, facts: ReceiptFacts): void {
  state
    .prepare('insert or replace into receipt_facts values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      key.environment,
      key.rut,
      key.cfeType,
      key.serie,
      key.number,
      facts.signedOn,
      facts.issuedOn,
      facts.branch,
      facts.isThirdParty ? 1 : 0,
      facts.currency,
      facts.exchangeRate,
      JSON.stringify(facts.amounts),
    );
}

/** The emission date of a receipt, where it could be read. */
export const emissionOf = (state: State, key: FiscalNumber): string | null => {
  const row = state
    .prepare(
      `select issued_on from receipt_facts
       where environment = ? and rut = ? and cfe_type = ? and series = ? and number = ?`,
    )
    .get(key.environment, key.rut, key.cfeType, key.serie, key.number);
  return row ? String(row['issued_on']) : null;
};

/** A receipt of the ledger with its facts; without a verdict while that is not out. */
export interface LedgerReceipt extends ReceiptFacts {
  readonly cfeType: string;
  readonly serie: string;
  readonly number: number;
  readonly verdict: 'AE' | 'BE' | 'CE' | null;
  readonly code: string | null;
}

/** The receipts that an issuer signed on a day, one by one. */
export function* receiptsOfDay(
  state: State,
  { environment, rut }: Pick<FiscalNumber, 'environment' | 'rut'>,
  day: string,
  now: Date,
): Generator<LedgerReceipt> {
  const rows = state
    .prepare(
      `select f.*, case when r.ready_at <= :now then r.verdict end as verdict, r.code
       from receipt_facts f join receipts r using (environment, rut, cfe_type, series, number)
       where f.environment = :environment and f.rut = :rut and f.signed_on = :day`,
    )
    .iterate({ environment, rut, day, now: now.toISOString() });
  for (const row of rows)
    yield {
      cfeType: String(row['cfe_type']),
      serie: String(row['series']),
      number: Number(row['number']),
      verdict: row['verdict'] as LedgerReceipt['verdict'],
      code: row['code'] as string | null,
      signedOn: day,
      issuedOn: String(row['issued_on']),
      branch: String(row['branch']),
      isThirdParty: row['is_third_party'] === 1,
      currency: String(row['currency']),
      exchangeRate: row['exchange_rate'] as string | null,
      amounts: JSON.parse(String(row['amounts'])) as Record<string, string>,
    };
}

/** The accepted receipts of an issuer among the numbers of a range, whenever they were signed; at most `limit`. */
export const acceptedAmong = (
  state: State,
  { environment, rut, cfeType, serie }: Omit<FiscalNumber, 'number'>,
  { from, to }: { readonly from: number; readonly to: number },
  now: Date,
): number[] =>
  state
    .prepare(
      `select number from receipts where environment = ? and rut = ? and cfe_type = ? and series = ?
       and number between ? and ? and verdict <> 'BE' and ready_at <= ? order by number limit 10`,
    )
    .all(environment, rut, cfeType, serie, from, to, now.toISOString())
    .map((row) => Number(row['number']));
