import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ISSUER_RUT, montevideo, RECEIVER_RUT } from '../../support/simulator/aCfe.ts';
import {
  aCustomer,
  aSimulator,
  type CaeFile,
  type Customer,
  field,
  fields,
  portal,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let customer: Customer;
let stranger: Customer;
let cae: CaeFile;
beforeAll(async () => {
  simulator = await aSimulator();
  customer = await aCustomer(simulator.url);
  stranger = await aCustomer(simulator.url, { rut: RECEIVER_RUT });
  cae = await customer.cae(101);
});
afterAll(() => simulator.stop());

let lastNumber = 0;
const cfe = (name = 'Yerba'): string => {
  lastNumber += 1;
  return customer.cfe({ type: 101, cae, number: lastNumber, name });
};
const sent = async (more: { idemisor?: number; name?: string } = {}) => {
  const idemisor = more.idemisor ?? customer.nextIdemisor();
  const ack = (await customer.send(customer.sobre([cfe(more.name)], { idemisor }))).payload;
  return { ack, idemisor, number: lastNumber, id: field(ack, 'IDReceptor'), token: field(ack, 'Token') };
};
const answeredCode = (answer: { payload: string }): string | undefined => field(answer.payload, 'codigo');

describe('the query for a verdict', () => {
  test('is answered 105 at least once, however late it comes, and then always with the same document', async () => {
    const { id, token } = await sent();
    simulator.hurry(60_000);
    const notYet = await customer.ask(id, token);
    expect([notYet.status, answeredCode(notYet)]).toEqual([200, '105']);
    expect(notYet.payload).toMatch(
      /^<\?xml[^>]*\?><Respuestas><Respuesta><codigo>105<\/codigo><descripcion>.+Vuelva a consultar luego\./,
    );
    const [first, second] = [await customer.ask(id, token), await customer.ask(id, token)];
    expect(field(first.payload, 'Estado')).toBe('AE');
    expect(second.payload).toBe(first.payload);
  });

  test('tells a wrong token (3), a stranger (4) and a number that is none (104)', async () => {
    const [one, two] = [await sent(), await sent()];
    expect(answeredCode(await customer.ask(one.id, two.token))).toBe('3');
    expect(answeredCode(await stranger.ask(one.id, one.token))).toBe('4');
    expect(answeredCode(await customer.ask('999999', one.token))).toBe('104');
  });

  test('tells a query that cannot be read (1) and an IdReceptor that is not positive (2)', async () => {
    const { token } = await sent();
    expect(answeredCode(await customer.ask('0', token))).toBe('2');
    expect(answeredCode(await customer.ask('-4', token))).toBe('2');
    for (const payload of [
      '',
      '<ConsultaCFE>',
      '<ConsultaCFE xmlns="http://dgi.gub.uy"><Token>x</Token></ConsultaCFE>',
      '<ConsultaCFE><IdReceptor>1</IdReceptor><Token>x</Token></ConsultaCFE>',
    ])
      expect(answeredCode(await customer.reception('EFACCONSULTARESTADOENVIO', payload))).toBe('1');
  });

  test('of the other environment finds nothing', async () => {
    const { id, token } = await sent();
    const sandbox = await aCustomer(simulator.url, { environment: 'sandbox' });
    expect(answeredCode(await sandbox.ask(id, token))).toBe('104');
  });

  test('about a refused sobre finds nothing', async () => {
    const ack = (await customer.send(customer.sobre([cfe()], { count: 3 }))).payload;
    expect(answeredCode(await customer.ask(field(ack, 'IDReceptor'), 'x'))).toBe('104');
  });
});

describe('the consultations', () => {
  const span = (from: number, to: number): string =>
    `<d:FechaDesde xmlns:d="http://dgi.gub.uy">${montevideo(new Date(Date.now() + from * 86_400_000)).slice(0, 19)}</d:FechaDesde><d:FechaHasta xmlns:d="http://dgi.gub.uy">${montevideo(new Date(Date.now() + to * 86_400_000)).slice(0, 19)}</d:FechaHasta>`;
  const shipments = (idemisor: number, dates = span(-1, 1), by = customer) =>
    by.consult(
      'EFACCONSULTARENVIOSSOBRE',
      `<d:Consultaenviossobre xmlns:d="http://dgi.gub.uy"><d:IdEmisor>${idemisor}</d:IdEmisor><d:IdReceptor>0</d:IdReceptor>${dates}</d:Consultaenviossobre>`,
    );
  const cfeid = (number: number): string =>
    `<d:Cfeid xmlns:d="http://dgi.gub.uy"><d:TipoCFE>101</d:TipoCFE><d:Serie>A</d:Serie><d:Nro>${number}</d:Nro></d:Cfeid>`;

  test('EFACCONSULTARENVIOSSOBRE finds a sobre whose answer was lost', async () => {
    const idemisor = customer.nextIdemisor();
    await expect(customer.send(customer.sobre([cfe('SIM LOST')], { idemisor }))).rejects.toThrow();
    const { status, envelope } = await shipments(idemisor);
    expect(status).toBe(200);
    expect([fields(envelope, 'EstadoSobre'), fields(envelope, 'IdEmisor')]).toEqual([
      ['AS'],
      [String(idemisor)],
    ]);
    expect(field(envelope, 'FechaHoraSobre')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    const verdict = await customer.await(field(envelope, 'IdReceptor'), field(envelope, 'Token'));
    expect(field(verdict, 'Estado')).toBe('AE');
  });

  test('EFACCONSULTARENVIOSSOBRE lists a refused sobre without a token, nobody else’s, and nothing outside the span', async () => {
    const idemisor = customer.nextIdemisor();
    await customer.send(customer.sobre([cfe()], { idemisor, count: 3 }));
    const { envelope } = await shipments(idemisor);
    expect([fields(envelope, 'EstadoSobre'), fields(envelope, 'Token')]).toEqual([['BS'], []]);
    expect(fields((await shipments(idemisor, span(-1, 1), stranger)).envelope, 'EstadoSobre')).toEqual([]);
    expect(fields((await shipments(idemisor, span(-9, -8))).envelope, 'EstadoSobre')).toEqual([]);
    expect(fields((await shipments(0)).envelope, 'EstadoSobre').length).toBeGreaterThan(3);
  });

  test('EFACCONSULTARENVIOSSOBRE refuses a span of more than 31 days or none', async () => {
    expect((await shipments(0, span(-40, 0))).status).toBe(500);
    expect((await shipments(0, '')).status).toBe(500);
  });

  test('EFACCONSULTARESTADOCFE tells the state of a receipt and the sobre that first brought it', async () => {
    const { id, idemisor, token, number } = await sent();
    const ask = async () => (await customer.consult('EFACCONSULTARESTADOCFE', cfeid(number))).envelope;
    expect(field(await ask(), 'EstadoCFE')).toBe('');
    simulator.hurry(1_000);
    const answer = await ask();
    expect(answer).toContain(
      '<WS_eFactura_Consultas.EFACCONSULTARESTADOCFEResponse xmlns="http://dgi.gub.uy">',
    );
    expect([
      field(answer, 'EstadoCFE'),
      field(answer, 'IdEmisor'),
      field(answer, 'IdReceptor'),
      field(answer, 'Token'),
    ]).toEqual(['AE', String(idemisor), id, token]);
  });

  test('EFACCONSULTARESTADOCFE finds a receipt of another system of the company', async () => {
    const { rut } = customer;
    const cfe = { rut, cfe_type_code: '101', serie: 'A', numero: 7776, emission_date: '2026-11-20' };
    await portal(customer.url, 'POST', '/portal/foreign-cfes', cfe);
    const { envelope } = await customer.consult('EFACCONSULTARESTADOCFE', cfeid(7776));
    expect(envelope).toContain('<EstadoCFE>AE</EstadoCFE><IdEmisor>1</IdEmisor>');
    expect(field(envelope, 'Token')).toBeTruthy();
  });

  test('EFACCONSULTARESTADOCFE of a receipt that is not there names no sobre', async () => {
    const { envelope } = await customer.consult('EFACCONSULTARESTADOCFE', cfeid(7777));
    expect([field(envelope, 'EstadoCFE'), field(envelope, 'IdReceptor'), fields(envelope, 'Token')]).toEqual([
      '',
      '0',
      [],
    ]);
  });

  test('EFACCONSULTARENVIOSCFE lists every sobre that carried a receipt', async () => {
    const first = await sent();
    const receipt = customer.cfe({ type: 101, cae, number: first.number });
    const second = (await customer.send(customer.sobre([receipt]))).payload;
    const { envelope } = await customer.consult('EFACCONSULTARENVIOSCFE', cfeid(first.number));
    expect(fields(envelope, 'IdReceptor')).toEqual([first.id, field(second, 'IDReceptor')]);
  });

  test('a consultation that the authority does not have is a fault', async () => {
    const answer = await customer.consult('EFACCONSULTARNADA', '');
    expect([answer.status, field(answer.envelope, 'faultstring')]).toEqual([
      500,
      'No matching operation for SOAPAction',
    ]);
    expect(ISSUER_RUT).not.toBe(RECEIVER_RUT);
  });
});
