/**
 * The receipts of a test run: varied contents, in tables. A further rate, currency, kind of receiver or adjustment is
 * another row. Names of people and companies are invented; the RUCs are the authority's own for tests.
 */
import Big from 'big.js';
import { AMOUNT_DECIMALS } from '../receipts/cfeTotals.ts';
import { type CfeType, cfeTypeRow, type IvaType } from '../receipts/cfeTypes.ts';
import { vatPercents } from '../receipts/vat.ts';
import { roundHalfUp } from '../values/decimal.ts';
import { type ExactNumber, exactNumber } from '../values/exactNumber.ts';
import { addDays } from '../values/montevideo.ts';

type Currency = 'UYU' | 'USD' | 'EUR';

const RECEIVERS = {
  company: {
    receiver_doc_type: 'RUC',
    receiver_document: '219000090011',
    legal_name: 'Comercio de Prueba SA',
    fiscal_address: 'Avenida de Prueba 1234',
    city: 'Montevideo',
    department: 'Montevideo',
    country_code: 'UY',
  },
  cooperative: {
    receiver_doc_type: 'RUC',
    receiver_document: '219999820013',
    legal_name: 'Cooperativa de Prueba',
    fiscal_address: 'Calle de Prueba 56',
    city: 'Salto',
  },
  brazilian: {
    receiver_doc_type: 'NIFE',
    receiver_document: '12345678000195',
    legal_name: 'Cliente de Teste Ltda',
    fiscal_address: 'Rua de Teste 1',
    city: 'Porto Alegre',
    department: 'RS',
    country: 'Brasil',
    country_code: 'BR',
  },
  american: {
    receiver_doc_type: 'NIFE',
    receiver_document: '98-7654321',
    legal_name: 'Test Customer Inc',
    fiscal_address: '1 Test Street',
    city: 'Miami',
    department: 'FL',
    country: 'Estados Unidos',
    country_code: 'US',
  },
} as const;

interface Line {
  readonly kind: IvaType;
  readonly name: string;
  /** A multiple of 5, a note takes two fifths. */
  readonly count: number;
  /** In the currency of the row. */
  readonly price: string;
}

/** One content of a receipt. */
interface Content {
  /** Whether prices exclude VAT or include it. */
  readonly prices: 'net' | 'gross';
  readonly currency: Currency;
  readonly payment: 'CASH' | 'CREDIT';
  readonly receiver: keyof typeof RECEIVERS | null;
  /** From the emission date to the day of the run. */
  readonly daysBack: number;
  readonly lines: readonly Line[];
  readonly extra?: Readonly<Record<string, string | number>>;
}

/**
 * e-Tickets and e-Facturas in turn. Even two fifths of one, a note, are above 5,000 UI: smaller e-Tickets need not be
 * sent, and might not count.
 */
const LOCAL: readonly Content[] = [
  {
    prices: 'net',
    currency: 'UYU',
    payment: 'CASH',
    receiver: 'company',
    daysBack: 0,
    lines: [{ kind: 'BASIC_RATE', name: 'Escritorio', count: 10, price: '14500' }],
  },
  {
    prices: 'gross',
    currency: 'UYU',
    payment: 'CREDIT',
    receiver: 'cooperative',
    daysBack: 1,
    lines: [
      { kind: 'BASIC_RATE', name: 'Herramientas', count: 5, price: '21999.90' },
      { kind: 'MINIMUM_RATE', name: 'Medicamentos', count: 10, price: '4350.5' },
    ],
  },
  {
    prices: 'net',
    currency: 'USD',
    payment: 'CREDIT',
    receiver: 'company',
    daysBack: 2,
    lines: [
      { kind: 'BASIC_RATE', name: 'Servidor', count: 5, price: '1250.75' },
      { kind: 'EXEMPT', name: 'Libro técnico', count: 5, price: '80' },
    ],
    extra: { purchase_order: 'OC-1001' },
  },
  {
    prices: 'net',
    currency: 'UYU',
    payment: 'CASH',
    receiver: 'cooperative',
    daysBack: 0,
    lines: [
      { kind: 'MINIMUM_RATE', name: 'Harina', count: 125, price: '820.40' },
      { kind: 'EXEMPT', name: 'Leche', count: 50, price: '410' },
      { kind: 'FREE', name: 'Bolsa de obsequio', count: 5, price: '0' },
    ],
    extra: { unit: 'kg' },
  },
  {
    prices: 'gross',
    currency: 'USD',
    payment: 'CASH',
    receiver: 'company',
    daysBack: 3,
    lines: [{ kind: 'BASIC_RATE', name: 'Licencia anual', count: 15, price: '333.33' }],
  },
  {
    prices: 'net',
    currency: 'UYU',
    payment: 'CREDIT',
    receiver: 'company',
    daysBack: 1,
    lines: [
      { kind: 'BASIC_RATE', name: 'Consultoría', count: 5, price: '18250.125' },
      { kind: 'MINIMUM_RATE', name: 'Alojamiento', count: 5, price: '5600' },
      { kind: 'EXEMPT', name: 'Material educativo', count: 5, price: '3000' },
      { kind: 'NON_BILLABLE_NEGATIVE', name: 'Anticipo aplicado', count: 5, price: '100.5' },
    ],
    extra: { adenda: 'Comprobante de prueba.' },
  },
  {
    prices: 'gross',
    currency: 'EUR',
    payment: 'CREDIT',
    receiver: 'cooperative',
    daysBack: 0,
    lines: [
      { kind: 'MINIMUM_RATE', name: 'Equipo médico', count: 5, price: '990' },
      { kind: 'BASIC_RATE', name: 'Instalación', count: 5, price: '150.05' },
    ],
  },
  {
    prices: 'net',
    currency: 'UYU',
    payment: 'CASH',
    receiver: 'company',
    daysBack: 2,
    lines: [{ kind: 'EXEMPT', name: 'Alquiler', count: 5, price: '26000' }],
  },
  {
    prices: 'net',
    currency: 'EUR',
    payment: 'CASH',
    receiver: 'company',
    daysBack: 3,
    lines: [
      { kind: 'BASIC_RATE', name: 'Repuesto A', count: 10, price: '210.17' },
      { kind: 'BASIC_RATE', name: 'Repuesto B', count: 5, price: '77.125' },
      { kind: 'MINIMUM_RATE', name: 'Insumos', count: 20, price: '41.2' },
    ],
  },
];

/** e-Facturas de Exportación in turn. */
const EXPORTED: readonly Content[] = [
  {
    prices: 'net',
    currency: 'USD',
    payment: 'CREDIT',
    receiver: 'brazilian',
    daysBack: 0,
    lines: [{ kind: 'EXPORT', name: 'Desarrollo de software', count: 30, price: '95.5' }],
  },
  {
    prices: 'net',
    currency: 'USD',
    payment: 'CREDIT',
    receiver: 'american',
    daysBack: 1,
    lines: [{ kind: 'EXPORT', name: 'Lana peinada', count: 500, price: '7.25' }],
    extra: { sale_condition: 'FOB', sale_mode: 1, transport: 1, unit: 'kg' },
  },
];

/** The share of an original that a note is about: two notes of one original stay below its amount. */
const NOTE_SHARE = { of: 5, takes: 2 } as const;

/** Rates of a currency that the service has no quotation of. */
const USUAL_RATES: Readonly<Record<Currency, string>> = { UYU: '1', USD: '40', EUR: '46' };

/** One receipt of a run. */
export interface TestReceipt {
  readonly type: CfeType;
  /** Its position among those of its family that are not notes; that of the original for a note. */
  readonly index: number;
  /** The day of the run, in Montevideo. */
  readonly day: string;
  readonly issuerRut: string;
  /** The cfe_id of a note's original. */
  readonly originalId: string | null;
  /** The last known rate of each currency, decimal text. */
  readonly rates: Readonly<Partial<Record<string, string>>>;
}

type Body = Readonly<Record<string, unknown>>;

/** Returns the body of a request to issue a receipt of a run; numbers are written digit by digit. */
export function testReceiptBody(receipt: TestReceipt): Body {
  const { type, day, originalId } = receipt;
  const { family } = cfeTypeRow(type);
  const contents = family === 'export' ? EXPORTED : LOCAL;
  // The index is never negative, and the tables are not empty.
  const content = contents[receipt.index % contents.length] as Content;
  const isNote = originalId !== null;
  const lines = isNote ? content.lines.flatMap(asNoted) : content.lines;
  const emissionDate = isNote ? day : addDays(day, -content.daysBack);
  const extra = extraOf(content, isNote);
  return {
    cfe_type: type,
    header: {
      doc_id: { emission_date: emissionDate, payment_method: content.payment },
      ...receiverOf(content, receipt),
      totals: totalsOf({ ...content, lines }, emissionDate, receipt.rates),
    },
    details: lines.map(({ kind, name, count, price }, at) => ({
      line_number: at + 1,
      iva_type: kind,
      item_name: name,
      count,
      unit_price: exactNumber(price),
      item_amount: amount(amountOf({ count, price })),
    })),
    ...(isNote ? { reference: { cfe_id: originalId } } : {}),
    ...(Object.keys(extra).length > 0 ? { extra: JSON.stringify(extra) } : {}),
  };
}

const asNoted = (line: Line): Line[] =>
  line.kind === 'NON_BILLABLE_NEGATIVE'
    ? []
    : [{ ...line, count: (line.count / NOTE_SHARE.of) * NOTE_SHARE.takes }];

const extraOf = ({ extra = {} }: Content, isNote: boolean): Body =>
  isNote ? { ...extra, reference_reason: 'Prueba' } : extra;

/** A company does not sell to itself: the authority's own test company gets the other receiver. */
function receiverOf({ receiver }: Content, { issuerRut }: TestReceipt): { receiver?: Body } {
  if (receiver === null) return {};
  const isItself = RECEIVERS[receiver].receiver_document === issuerRut;
  return {
    receiver: RECEIVERS[isItself ? (receiver === 'company' ? 'cooperative' : 'company') : receiver],
  };
}

const amountOf = ({ count, price }: Pick<Line, 'count' | 'price'>): Big =>
  roundHalfUp(Big(price).times(count), AMOUNT_DECIMALS);
const amount = (value: Big): ExactNumber => exactNumber(value.toFixed(AMOUNT_DECIMALS));

const sumOf = (lines: readonly Line[], kind: IvaType): Big =>
  lines.filter((line) => line.kind === kind).reduce((sum, line) => sum.plus(amountOf(line)), Big(0));

function totalsOf({ lines, prices, currency }: Content, on: string, rates: TestReceipt['rates']): Body {
  const percents = vatPercents(on);
  const [basic, minimum] = (['basic', 'minimum'] as const).map((rate) => {
    const sum = sumOf(lines, rate === 'basic' ? 'BASIC_RATE' : 'MINIMUM_RATE');
    const percent = percents[rate];
    const base = prices === 'net' ? sum : roundHalfUp(sum.times(100).div(percent.plus(100)), AMOUNT_DECIMALS);
    const vat =
      prices === 'net' ? roundHalfUp(sum.times(percent).div(100), AMOUNT_DECIMALS) : sum.minus(base);
    return { base, vat };
  }) as [{ base: Big; vat: Big }, { base: Big; vat: Big }];
  const exempt = sumOf(lines, 'EXEMPT');
  const total = [basic.base, basic.vat, minimum.base, minimum.vat, sumOf(lines, 'EXPORT')].reduce(
    (sum, part) => sum.plus(part),
    exempt,
  );
  return {
    currency,
    exchange_rate: exactNumber(currency === 'UYU' ? '1' : (rates[currency] ?? USUAL_RATES[currency])),
    total_amount: amount(total),
    pay_amount: amount(total.minus(sumOf(lines, 'NON_BILLABLE_NEGATIVE'))),
    line_count: lines.length,
    ...present('tax_free_amount', exempt),
    ...present('tax_basic_net_amount', basic.base),
    ...present('tax_basic_amount', basic.vat),
    ...present('tax_minimum_net_amount', minimum.base),
    ...present('tax_minimum_amount', minimum.vat),
  };
}

const present = (field: string, value: Big): Body => (value.eq(0) ? {} : { [field]: amount(value) });
