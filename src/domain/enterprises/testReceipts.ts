/**
 * The receipts of a test run: varied contents, in tables. A further rate, currency, kind of receiver or adjustment is
 * another row. Names of people and companies are invented; the RUCs are the authority's own for tests.
 */
import { type CfeType, cfeTypeRow, type IvaType } from '../receipts/cfeTypes.ts';
import { completeRequest, type Prices } from '../receipts/preview.ts';
import { JsonNumber } from '../values/decimal.ts';
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
  /** A multiple of 5, because a note takes two fifths. */
  readonly count: number;
  /** In the currency of the row. */
  readonly price: string;
}

/** One content of a receipt. */
interface Content {
  readonly prices: Prices;
  readonly currency: Currency;
  readonly payment: 'CASH' | 'CREDIT';
  readonly receiver: keyof typeof RECEIVERS;
  /** From the emission date to the day of the run. */
  readonly daysBack: number;
  readonly lines: readonly Line[];
  readonly extra?: Readonly<Record<string, string | number>>;
}

/**
 * e-Tickets and e-Facturas in turn. Even a note for two fifths of a receipt is above 5,000 UI: smaller e-Tickets need not be
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

/** The share of an original that a note takes: two notes of one original stay below its amount. */
const NOTE_SHARE = { numerator: 2, denominator: 5 } as const;

/** Rates of currencies for which the service has no quotation. */
const USUAL_RATES: Readonly<Record<Currency, string>> = { UYU: '1', USD: '40', EUR: '46' };

/** One receipt of a run. */
export interface TestReceipt {
  readonly type: CfeType;
  /** The position among the receipts of its family, notes excluded; for a note, the position of its original. */
  readonly index: number;
  /** The day of the run, in Montevideo. */
  readonly day: string;
  readonly issuerRut: string;
  /** The cfe_id of a note's original. */
  readonly originalId: string | null;
  /** The last known rate of each currency, decimal text. */
  readonly rates: Readonly<Partial<Record<string, string>>>;
}

/** Returns the body of a request to issue a receipt of a run. */
export function testReceiptBody(receipt: TestReceipt): unknown {
  const { type, day, originalId, rates } = receipt;
  const { family } = cfeTypeRow(type);
  const contents = family === 'export' ? EXPORTED : LOCAL;
  // The index is never negative, and the tables are not empty.
  const content = contents[receipt.index % contents.length] as Content;
  const { currency, payment, prices } = content;
  const isNote = originalId !== null;
  const lines = isNote ? content.lines.flatMap(toNoteLine) : content.lines;
  const extra = isNote ? { ...content.extra, reference_reason: 'Prueba' } : content.extra;
  const rate = currency === 'UYU' ? undefined : rates[currency];
  const body = {
    cfe_type: type,
    header: {
      doc_id: {
        emission_date: isNote ? day : addDays(day, -content.daysBack),
        payment_method: payment,
      },
      receiver: chooseReceiver(content, receipt),
      totals: { currency, exchange_rate: new JsonNumber(rate ?? USUAL_RATES[currency]) },
    },
    details: lines.map(({ kind, name, count, price }, at) => ({
      line_number: new JsonNumber(String(at + 1)),
      iva_type: kind,
      item_name: name,
      count: new JsonNumber(String(count)),
      unit_price: new JsonNumber(price),
    })),
    ...(isNote ? { reference: { cfe_id: originalId } } : {}),
    ...(extra ? { extra: JSON.stringify(extra) } : {}),
  };
  const completed = completeRequest(body, prices);
  if (!completed.ok) throw new Error('a test receipt breaks a rule');
  return completed.value;
}

const toNoteLine = (line: Line): Line[] =>
  line.kind === 'NON_BILLABLE_NEGATIVE'
    ? []
    : [{ ...line, count: (line.count / NOTE_SHARE.denominator) * NOTE_SHARE.numerator }];

/** Picks the other receiver if the issuer is the receiver of the content: a company does not sell to itself. */
function chooseReceiver(
  { receiver }: Content,
  { issuerRut }: TestReceipt,
): (typeof RECEIVERS)[keyof typeof RECEIVERS] {
  const isIssuer = RECEIVERS[receiver].receiver_document === issuerRut;
  return RECEIVERS[isIssuer ? (receiver === 'company' ? 'cooperative' : 'company') : receiver];
}
