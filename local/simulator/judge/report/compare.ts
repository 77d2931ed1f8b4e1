import Big from 'big.js';
import type { State } from '../../state/database.ts';
import { acceptedAmong, type LedgerReceipt, receiptsOfDay } from '../../state/facts.ts';
import { rateForOperation } from '../../state/rates.ts';
import type { FiscalNumber } from '../../state/receipts.ts';
import { NET_ELEMENTS, RECEIVER_THRESHOLD_UI, uiValue } from '../rules/constants.ts';
import { sumOf } from '../rules/sums.ts';
import { BESIDE_THE_TOTAL, isTicket, PARTS } from './layout.ts';
import { lookUp } from './ranges.ts';
import { type ParsedReport, rowKey, type Section } from './reading.ts';

/** How far a sum may lie from the ledger's, for each receipt in it: a cent (no document says). */
const TOLERANCE_PER_RECEIPT = new Big('0.01');
/** Indexed units of account have rates of their own (Formato Reporte v13.2). */
const INDEXED_UNITS = ['UYI', 'UYR'];
const MOST_DIFFERENCES = 30;

/** What the ledger has of one row of amounts. */
interface LedgerRow {
  receipts: number;
  readonly sums: Map<string, Big>;
}

/** What the ledger has of one type. */
interface LedgerType {
  issued: number;
  aboveLimit: number;
  readonly rows: Map<string, LedgerRow>;
}

/**
 * How a report differs from the receipts that the authority holds, in Spanish: numbers, counts, sums. Compared are those
 * signed on its day whose verdict is out; amounts are converted with the authority's own rates
 * (docs/authority/reports.md#which-rate). None: the report is consistent (DR).
 */
export function differences(
  state: State,
  issuer: Pick<FiscalNumber, 'environment' | 'rut'>,
  report: ParsedReport,
  now: Date,
): string[] {
  const found: string[] = [];
  const ledger = new Map<string, LedgerType>();
  const sections = new Map(report.sections.map((section) => [section.type, lookUpIn(section)]));
  const rateOf = createRateOf(state, report, now);
  for (const receipt of receiptsOfDay(state, issuer, report.date, now)) {
    const fault = faultOfNumber(receipt, sections.get(receipt.cfeType));
    if (fault !== '') found.push(`${receipt.cfeType} ${receipt.serie} ${receipt.number}: ${fault}`);
    if (isIssued(receipt)) count(ledger, receipt, rateOf(receipt));
    if (found.length >= MOST_DIFFERENCES) return found;
  }
  for (const section of report.sections)
    found.push(
      ...differencesOfType(section, ledger.get(section.type)).map((fault) => `${section.type}: ${fault}`),
      ...acceptedAndAnnulled(state, issuer, section, now),
    );
  return found.slice(0, MOST_DIFFERENCES);
}

const isIssued = ({ verdict }: LedgerReceipt): boolean => verdict === 'AE' || verdict === 'CE';

interface LookUp {
  readonly isUsed: ReturnType<typeof lookUp>;
  readonly isAnnulled: ReturnType<typeof lookUp>;
}
const lookUpIn = ({ usedRanges, annulledRanges }: Section): LookUp => ({
  isUsed: lookUp(usedRanges),
  isAnnulled: lookUp(annulledRanges),
});

/** Refused with these, a number is not annulled for that reason; E06 may yet be accepted in the portal. */
const NOT_ANNULLED = ['E02', 'E06', 'E09'];

function faultOfNumber(receipt: LedgerReceipt, reported: LookUp | undefined): string {
  const { serie, number, verdict, code } = receipt;
  const isUsed = reported?.isUsed(serie, number) ?? false;
  const isAnnulled = reported?.isAnnulled(serie, number) ?? false;
  if (isIssued(receipt)) {
    if (!isUsed) return 'recibido y no figura en el reporte';
    return isAnnulled ? 'recibido y figura como anulado' : '';
  }
  if (verdict === null) return isUsed ? 'figura en el reporte y aún no fue procesado' : '';
  if (isUsed && !isAnnulled) return `rechazado (${code}) y figura como emitido`;
  return !isAnnulled && !NOT_ANNULLED.includes(code ?? '')
    ? `rechazado (${code}) y no figura como anulado`
    : '';
}

/** Numbers that are reported as annulled although the authority holds a receipt of them, of whatever day. */
const acceptedAndAnnulled = (
  state: State,
  issuer: Pick<FiscalNumber, 'environment' | 'rut'>,
  { type, annulledRanges }: Section,
  now: Date,
): string[] =>
  annulledRanges.flatMap((range) =>
    acceptedAmong(state, { ...issuer, cfeType: type, serie: range.serie }, range, now).map(
      (number) => `${type} ${range.serie} ${number}: recibido y figura como anulado`,
    ),
  );

type Rate = Big;

/** The rate that converts a receipt into pesos; each of the bank's is looked up once. */
function createRateOf(state: State, report: ParsedReport, now: Date): (receipt: LedgerReceipt) => Rate {
  const known = new Map<string, string | null>();
  const bankRate = (currency: string, day: string): string | null => {
    const key = `${currency} ${day}`;
    const rate = known.get(key) ?? rateForOperation(state, currency, day, now);
    known.set(key, rate);
    return rate;
  };
  return ({ cfeType, currency, issuedOn, exchangeRate }) => {
    if (currency === 'UYU') return new Big(1);
    const isNote = !cfeType.endsWith('1');
    const isOwn = isNote || INDEXED_UNITS.includes(currency) || issuedOn > report.signedOn;
    return new Big((isOwn ? null : bankRate(currency, issuedOn)) ?? exchangeRate ?? '1');
  };
}

const NO_RECEIPTS: LedgerRow = { receipts: 0, sums: new Map() };

/** What the net amount of an e-Ticket that need not be sent may be, in pesos. */
const netLimit = (year: number): Big => RECEIVER_THRESHOLD_UI.times(uiValue(year));

const amountOf = ({ amounts }: LedgerReceipt, element: string): Big => new Big(amounts[element] ?? '0');

/** Adds a receipt to the ledger's sums; unrounded, since each row is rounded once. */
function count(ledger: Map<string, LedgerType>, receipt: LedgerReceipt, rate: Rate): void {
  const type = ledger.get(receipt.cfeType) ?? { issued: 0, aboveLimit: 0, rows: new Map() };
  ledger.set(receipt.cfeType, type);
  type.issued += 1;
  const net = sumOf(NET_ELEMENTS.map((element) => amountOf(receipt, element)));
  const limit = netLimit(Number(receipt.issuedOn.slice(0, 4)));
  if (isTicket(receipt.cfeType) && net.times(receipt.exchangeRate ?? '1').gt(limit)) type.aboveLimit += 1;

  const key = rowKey(receipt.issuedOn, receipt.branch, receipt.isThirdParty ? '1' : undefined);
  const row = type.rows.get(key) ?? { receipts: 0, sums: new Map() };
  type.rows.set(key, row);
  row.receipts += 1;
  for (const { element, of } of [...PARTS, ...BESIDE_THE_TOTAL])
    row.sums.set(element, (row.sums.get(element) ?? new Big(0)).plus(amountOf(receipt, of).times(rate)));
}

function differencesOfType(section: Section, ledger: LedgerType | undefined): string[] {
  const { issued, aboveLimit, rows } = ledger ?? { issued: 0, aboveLimit: 0, rows: new Map() };
  const found: string[] = [];
  // e-Tickets up to the limit need not be sent: DGI knows these from the report alone.
  const onlyReported = isTicket(section.type) ? Math.max(0, section.issued - issued) : 0;
  if (section.issued !== issued + onlyReported)
    found.push(`informa ${section.issued} emitidos, DGI tiene ${issued}`);
  if (isTicket(section.type) && (section.aboveLimit ?? 0) !== aboveLimit)
    found.push(`informa ${section.aboveLimit ?? 0} mayores al tope en UI, DGI tiene ${aboveLimit}`);
  const reported = new Map(section.rows.map((row) => [row.key, row]));
  for (const key of new Set([...reported.keys(), ...rows.keys()])) {
    const row = reported.get(key);
    const own = rows.get(key) ?? (row && onlyReported > 0 ? NO_RECEIPTS : undefined);
    if (!row || !own) {
      found.push(`Montos ${key}: ${row ? 'no hay comprobantes' : 'falta'}`);
      continue;
    }
    const tolerance = TOLERANCE_PER_RECEIPT.times(own.receipts + onlyReported);
    const most = netLimit(Number(row.date.slice(0, 4)))
      .times(onlyReported)
      .plus(tolerance);
    for (const { element } of [...PARTS, ...BESIDE_THE_TOTAL]) {
      const sum = own.sums.get(element) ?? new Big(0);
      const more = row.amount(element).minus(sum);
      if (more.lt(tolerance.neg()) || more.gt(most))
        found.push(
          `Montos ${key} ${element}: informa ${row.amount(element).toFixed(2)}, DGI suma ${sum.toFixed(2)}`,
        );
    }
  }
  return found;
}
