/**
 * The central bank's service of closing rates, SOAP 1.1 without login
 * (docs/authority/reports.md#the-central-banks-service).
 */
import type { Element } from '@xmldom/xmldom';
import type { KnownRate } from '../domain/exchangeRate.ts';
import { isDate } from '../domain/montevideo.ts';
import { NoAnswer } from './answers.ts';
import { type Breakers, withPermit } from './calls.ts';
import { AnswerTooLarge, post, type Timeouts, Unanswered } from './post.ts';
import {
  childrenNamed,
  childrenOf,
  decodeXml,
  elementAt,
  isNamed,
  parseXml,
  textAt,
  UnreadableXml,
} from './xml/parse.ts';
import { plain } from './xml/write.ts';

/** The bank's number of each currency that can stand in a CFE: the interbank banknote, or the one there is. */
const NUMBERS: Readonly<Record<string, string>> = { USD: '2225', EUR: '1111' };

/** Whether the central bank quotes the currency at all. */
export const isQuoted = (currency: string): boolean => Object.hasOwn(NUMBERS, currency);

/** Closing rates of some currencies in a span of days, ends included; only those that `isQuoted` knows. */
export interface RatesQuestion {
  readonly currencies: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** The central bank, as those who need rates see it. Both reject with CentralBankUnavailable. */
export interface CentralBank {
  /** The buyer's rates; none for a day or a currency without a quotation. */
  readonly closingRates: (question: RatesQuestion) => Promise<KnownRate[]>;
  /** The last day that was closed, `YYYY-MM-DD`. */
  readonly lastClosing: () => Promise<string>;
}

/** The central bank gave no usable answer. */
export class CentralBankUnavailable extends Error {
  override readonly name = 'CentralBankUnavailable';
}

const NAMESPACE = 'Cotiza';
/** Ten years of two currencies have some 2 MB. */
const LIMIT = { mostCharacters: 8 * 1024 * 1024 };
const NO_QUOTATION = '100';
const RATE = /^\d{1,9}(\.\d{1,9})?$/;
/** What comes in place of an answer. */
const NO_ANSWER = [NoAnswer, Unanswered, AnswerTooLarge];

/** Programs of the service: the last piece of their path, their element, and their SOAPAction. */
const PROGRAMS = {
  rates: {
    path: 'awsbcucotizaciones',
    element: 'wsbcucotizaciones.Execute',
    action: 'AWSBCUCOTIZACIONES.Execute',
  },
  lastClosing: {
    path: 'awsultimocierre',
    element: 'wsultimocierre.Execute',
    action: 'AWSULTIMOCIERRE.Execute',
  },
} as const;
type Program = (typeof PROGRAMS)[keyof typeof PROGRAMS];

/** The central bank at `url`, the address before the names of its programs, without a slash at its end. */
export function createCentralBank(options: {
  url: string;
  timeouts: Timeouts;
  /** Say whether the service may be called; without them, always. */
  breakers?: Breakers | undefined;
}): CentralBank {
  async function call(program: Program, content: string): Promise<Element> {
    const answer = await post({
      url: `${options.url}/${program.path}`,
      headers: {
        'content-type': 'text/xml;charset=UTF-8',
        soapaction: `"${NAMESPACE}action/${program.action}"`,
      },
      body: envelope(program.element, content),
      timeouts: options.timeouts,
      mostBytes: LIMIT.mostCharacters,
    });
    if (answer.status !== 200) throw new NoAnswer('http', `HTTP ${answer.status}`);
    return outcomeIn(decodeXml(answer.body), program);
  }

  const permitted = <T>(run: () => Promise<T>): Promise<T> =>
    withPermit(options.breakers, { endpoint: 'rates', isProbe: false }, () =>
      run().catch((error: unknown) => {
        throw error instanceof UnreadableXml ? new NoAnswer('unreadable', error.message) : error;
      }),
    ).catch((error: unknown) => {
      if (!NO_ANSWER.some((kind) => error instanceof kind)) throw error;
      throw new CentralBankUnavailable((error as Error).message, { cause: error });
    });

  return {
    closingRates: (question) =>
      permitted(async () => ratesIn(await call(PROGRAMS.rates, entryOf(question)), question)),
    lastClosing: () => permitted(async () => dayIn(await call(PROGRAMS.lastClosing, ''), 'Fecha')),
  };
}

const envelope = (element: string, content: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?>' +
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header/>' +
  `<soapenv:Body><${element} xmlns="${NAMESPACE}">${content}</${element}></soapenv:Body></soapenv:Envelope>`;

/** Group 0: quotations of the local and of the international market. */
function entryOf({ currencies, from, to }: RatesQuestion): string {
  const items = currencies.map((currency) => plain('item', NUMBERS[currency] ?? '')).join('');
  const span = plain('FechaDesde', from) + plain('FechaHasta', to);
  return `<Entrada><Moneda>${items}</Moneda>${span}${plain('Grupo', '0')}</Entrada>`;
}

/** The element Salida of an answer. Throws UnreadableXml or NoAnswer. */
function outcomeIn(text: string, { element }: Program): Element {
  const root = parseXml(text, LIMIT);
  const body = isNamed(root, 'Envelope') ? elementAt(root, 'Body') : undefined;
  const [content, ...more] = body ? childrenOf(body) : [];
  if (content && isNamed(content, 'Fault')) throw new NoAnswer('fault');
  const outcome =
    content && more.length === 0 && isNamed(content, `${element}Response`)
      ? elementAt(content, 'Salida')
      : undefined;
  if (!outcome) throw new UnreadableXml('not an answer to the question');
  return outcome;
}

/**
 * The rates in an answer, read strictly: one row that is not what was asked for, or is quoted in two ways, makes all of
 * them void. The service answers 200 to mistakes, too: status 0 with a code, and a row of zeros.
 */
function ratesIn(outcome: Element, { currencies, from, to }: RatesQuestion): KnownRate[] {
  const status = textAt(outcome, 'respuestastatus', 'status');
  const code = textAt(outcome, 'respuestastatus', 'codigoerror');
  if (status === '0' && code === NO_QUOTATION) return [];
  if (status !== '1') throw new NoAnswer('unreadable', `the service answers code ${shortCode(code)}`);
  const rows = elementAt(outcome, 'datoscotizaciones');
  const rates = (rows ? childrenNamed(rows, 'datoscotizaciones.dato') : []).map((row) => {
    const number = textAt(row, 'Moneda');
    const currency = currencies.find((one) => NUMBERS[one] === number);
    const date = dayIn(row, 'Fecha');
    const rate = textAt(row, 'TCC') ?? '';
    const isNamedSo = (textAt(row, 'CodigoISO') ?? currency) === currency;
    if (currency === undefined || !isNamedSo || date < from || date > to)
      throw new UnreadableXml('a rate that was not asked for');
    if (!RATE.test(rate) || !/[1-9]/.test(rate)) throw new UnreadableXml('a rate that is none');
    return { currency, date, rate, source: `BCU ${number}` };
  });
  const byDay = new Map(rates.map((rate) => [`${rate.currency} ${rate.date}`, rate]));
  if (rates.some(({ currency, date, rate }) => byDay.get(`${currency} ${date}`)?.rate !== rate))
    throw new UnreadableXml('two rates for one day');
  return [...byDay.values()];
}

/** A code of the service, for logs. */
const shortCode = (code: string | undefined): string => (/^\d{1,6}$/.test(code ?? '') ? String(code) : '-');

/** A day; the service may write it with a time behind. */
function dayIn(element: Element, name: string): string {
  const date = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+Z?)?$/.exec(textAt(element, name) ?? '')?.[1] ?? '';
  if (!isDate(date)) throw new UnreadableXml('a day that is none');
  return date;
}
