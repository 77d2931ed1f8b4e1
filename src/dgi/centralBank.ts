/**
 * The central bank's service of closing rates, SOAP 1.1 without login
 * (docs/authority/reports.md#the-central-banks-service).
 */
import type { Element } from '@xmldom/xmldom';
import type { KnownRate } from '../domain/receipts/exchangeRate.ts';
import { isDate } from '../domain/values/montevideo.ts';
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

/** The bank's number of each currency of a CFE: the interbank banknote where the bank quotes one. */
const NUMBERS: Readonly<Record<string, string>> = { USD: '2225', EUR: '1111' };

/** True when the central bank quotes the currency. */
export const isQuoted = (currency: string): boolean => Object.hasOwn(NUMBERS, currency);

/** A query for closing rates of quoted currencies (`isQuoted`), from `from` to `to`, both included. */
export interface RatesQuery {
  readonly currencies: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** The central bank's service. Both calls reject with CentralBankUnavailable. */
export interface CentralBank {
  /** Returns the buyer's rates; days and currencies without a quotation are missing. */
  readonly closingRates: (query: RatesQuery) => Promise<KnownRate[]>;
  /** Returns the last closed day, `YYYY-MM-DD`. */
  readonly lastClosing: () => Promise<string>;
}

/** The central bank gave no usable answer. */
export class CentralBankUnavailable extends Error {
  override readonly name = 'CentralBankUnavailable';
}

const NAMESPACE = 'Cotiza';
/** Ten years of two currencies take some 2 MB. */
const LIMIT = { mostCharacters: 8 * 1024 * 1024 };
const NO_QUOTATION = '100';
const RATE = /^\d{1,9}(\.\d{1,9})?$/;
const NO_ANSWER = [NoAnswer, Unanswered, AnswerTooLarge];

/** The service's programs: last part of the path, element and SOAPAction. */
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

/** Creates a client of the central bank. `url`: the address before the program's name, without a final slash. */
export function createCentralBank(options: {
  url: string;
  timeouts: Timeouts;
  /** Permit or refuse each call; without them, all are permitted. */
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
    return readOutput(decodeXml(answer.body), program);
  }

  const callIfPermitted = <T>(run: () => Promise<T>): Promise<T> =>
    withPermit(options.breakers, { endpoint: 'rates', isProbe: false }, () =>
      run().catch((error: unknown) => {
        throw error instanceof UnreadableXml ? new NoAnswer('unreadable', error.message) : error;
      }),
    ).catch((error: unknown) => {
      if (!NO_ANSWER.some((kind) => error instanceof kind)) throw error;
      throw new CentralBankUnavailable((error as Error).message, { cause: error });
    });

  return {
    closingRates: (query) =>
      callIfPermitted(async () => readRates(await call(PROGRAMS.rates, writeInput(query)), query)),
    lastClosing: () => callIfPermitted(async () => readDay(await call(PROGRAMS.lastClosing, ''), 'Fecha')),
  };
}

const envelope = (element: string, content: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?>' +
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header/>' +
  `<soapenv:Body><${element} xmlns="${NAMESPACE}">${content}</${element}></soapenv:Body></soapenv:Envelope>`;

/** Group 0: quotations of the local and the international market. */
function writeInput({ currencies, from, to }: RatesQuery): string {
  const items = currencies.map((currency) => plain('item', NUMBERS[currency] ?? '')).join('');
  const span = plain('FechaDesde', from) + plain('FechaHasta', to);
  return `<Entrada><Moneda>${items}</Moneda>${span}${plain('Grupo', '0')}</Entrada>`;
}

/** Returns the element Salida of an answer. Throws UnreadableXml or NoAnswer. */
function readOutput(text: string, { element }: Program): Element {
  const root = parseXml(text, LIMIT);
  const body = isNamed(root, 'Envelope') ? elementAt(root, 'Body') : undefined;
  const [content, ...more] = body ? childrenOf(body) : [];
  if (content && isNamed(content, 'Fault')) throw new NoAnswer('fault');
  const output =
    content && more.length === 0 && isNamed(content, `${element}Response`)
      ? elementAt(content, 'Salida')
      : undefined;
  if (!output) throw new UnreadableXml('not an answer to the question');
  return output;
}

/**
 * Reads the rates strictly: one unrequested or contradictory row invalidates the whole answer. The service reports its
 * errors with HTTP 200 too: status 0, a code and a row of zeros.
 */
function readRates(output: Element, { currencies, from, to }: RatesQuery): KnownRate[] {
  const status = textAt(output, 'respuestastatus', 'status');
  const code = textAt(output, 'respuestastatus', 'codigoerror');
  if (status === '0' && code === NO_QUOTATION) return [];
  if (status !== '1') throw new NoAnswer('unreadable', `the service answers code ${shortCode(code)}`);
  const rows = elementAt(output, 'datoscotizaciones');
  const rates = (rows ? childrenNamed(rows, 'datoscotizaciones.dato') : []).map((row) => {
    const number = textAt(row, 'Moneda');
    const currency = currencies.find((candidate) => NUMBERS[candidate] === number);
    const date = readDay(row, 'Fecha');
    const rate = textAt(row, 'TCC') ?? '';
    const isoCodeMatches = (textAt(row, 'CodigoISO') ?? currency) === currency;
    if (currency === undefined || !isoCodeMatches || date < from || date > to)
      throw new UnreadableXml('a rate that was not asked for');
    if (!RATE.test(rate) || !/[1-9]/.test(rate)) throw new UnreadableXml('an invalid rate');
    return { currency, date, rate, source: `BCU ${number}` };
  });
  const byDay = new Map(rates.map((rate) => [`${rate.currency} ${rate.date}`, rate]));
  if (rates.some(({ currency, date, rate }) => byDay.get(`${currency} ${date}`)?.rate !== rate))
    throw new UnreadableXml('two rates for one day');
  return [...byDay.values()];
}

const shortCode = (code: string | undefined): string => (/^\d{1,6}$/.test(code ?? '') ? String(code) : '-');

/** Reads a day, to which the service may append a time. */
function readDay(element: Element, name: string): string {
  const date = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+Z?)?$/.exec(textAt(element, name) ?? '')?.[1] ?? '';
  if (!isDate(date)) throw new UnreadableXml('an invalid date');
  return date;
}
