/**
 * The central bank's service of closing rates, as the simulator serves it
 * (docs/authority/reports.md#the-central-banks-service).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from './clock.ts';
import { daysAfter, momentOf } from './clock.ts';
import { readBody, send, sendJson, TooLarge } from './http.ts';
import { GatewayRefused } from './security/wsSecurity.ts';
import { faultEnvelope } from './soap/answers.ts';
import { readSoap } from './soap/request.ts';
import type { State } from './state/database.ts';
import { closingRate, lastClosing, QUOTED, QUOTED_CURRENCIES } from './state/rates.ts';
import { RATES_NS, SOAP_NS } from './xml/names.ts';
import { childOf, textAt, treeOf, type XmlTree } from './xml/read.ts';
import { leaf, maybe, tag } from './xml/write.ts';

/** Where the service's programs are. */
export const BANK_PATH = '/wscotizaciones/servlet/';

interface Bank {
  readonly state: State;
  readonly clock: Clock;
}

/** Programs by the last piece of their path: their element, and what their Salida holds. */
const PROGRAMS: Readonly<Record<string, { element: string; answer: (call: XmlTree, bank: Bank) => string }>> =
  {
    awsbcucotizaciones: { element: 'wsbcucotizaciones.Execute', answer: quotations },
    awsultimocierre: {
      element: 'wsultimocierre.Execute',
      answer: (_call, { state, clock }) => leaf('Fecha', lastClosing(state, clock())),
    },
  };

const MOST_BYTES = 64 * 1024;

/** Serves one call of the service; it needs no login. */
export async function serveBank(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  bank: Bank,
): Promise<void> {
  const program = PROGRAMS[path.slice(BANK_PATH.length)];
  if (!program || request.method !== 'POST') {
    sendJson(response, program ? 405 : 404, { error: { code: 'NOT_FOUND', message: 'POST to a program' } });
    return;
  }
  try {
    using soap = readSoap(await readBody(request, MOST_BYTES));
    const call = treeOf(soap.call);
    if (call.name !== program.element || call.namespace !== RATES_NS)
      throw new GatewayRefused('not the operation of this program');
    const name = `${program.element}Response`;
    const inner = `<${name} xmlns="${RATES_NS}">${tag('Salida', program.answer(call, bank))}</${name}>`;
    const envelope = `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${SOAP_NS}">${tag('SOAP-ENV:Body', inner)}</SOAP-ENV:Envelope>`;
    send(response, 200, 'text/xml', `<?xml version="1.0" encoding="utf-8"?>\n${envelope}`);
  } catch (error) {
    if (error instanceof TooLarge) {
      response.setHeader('connection', 'close');
      sendJson(response, 413, { error: { code: 'PAYLOAD_TOO_LARGE', message: 'the request is too large' } });
    } else if (error instanceof GatewayRefused)
      send(response, 500, 'text/xml', faultEnvelope('Client', error.message));
    else throw error;
  }
}

/** What the service answers in place of rates: status 0 with a code, and a row of zeros. */
const refusal = (code: number, message: string): string =>
  status(0, code, message) +
  rows(row({ date: '', number: 0, name: '', iso: '', issuer: '', rate: '0.000000' }));

const status = (value: number, code: number, message: string): string =>
  tag('respuestastatus', leaf('status', value), leaf('codigoerror', code), leaf('mensaje', message));
const rows = (...inner: readonly string[]): string => tag('datoscotizaciones', ...inner);
const row = (one: {
  readonly date: string;
  readonly number: number;
  readonly name: string;
  readonly iso: string;
  readonly issuer: string;
  readonly rate: string;
}): string =>
  tag(
    'datoscotizaciones.dato',
    maybe('Fecha', one.date),
    leaf('Moneda', one.number),
    leaf('Nombre', one.name),
    leaf('CodigoISO', one.iso),
    leaf('Emisor', one.issuer),
    leaf('TCC', one.rate),
    leaf('TCV', one.rate),
    leaf('ArbAct', '1.000000'),
    leaf('FormaArbitrar', 0),
  );

const MOST_DAYS = 400;

/** The rates of the currencies asked for, of every day of the span that has one. */
function quotations(call: XmlTree, { state, clock }: Bank): string {
  const entry = childOf(call, 'Entrada');
  const [from, to] = ['FechaDesde', 'FechaHasta'].map((name) => dayIn(textAt(entry, name)));
  if (!from || !to) return refusal(101, 'Fecha no válida');
  if (to < from) return refusal(103, 'Fecha Hasta es menor que Fecha Desde');
  const numbers = (childOf(entry, 'Moneda')?.children ?? []).map(({ text }) => Number(text));
  const currencies = QUOTED_CURRENCIES.filter((currency) => numbers.includes(QUOTED[currency].number));
  const now = clock();
  const found: string[] = [];
  for (let day = from, count = 0; day <= to && count < MOST_DAYS; day = daysAfter(day, 1), count += 1) {
    for (const currency of currencies) {
      const rate = closingRate(state, currency, day, now);
      if (rate === null) continue;
      const { number, name } = QUOTED[currency];
      found.push(row({ date: day, number, name, iso: currency, issuer: 'SIMULADOR', rate }));
    }
  }
  return found.length === 0
    ? refusal(100, 'No existen cotizaciones para la fecha')
    : status(1, 0, '') + rows(...found);
}

/** The day of a date or moment; undefined where it is none. */
function dayIn(text: string | undefined): string | undefined {
  const day = text?.trim().slice(0, 10) ?? '';
  return momentOf(day) === null ? undefined : day;
}
