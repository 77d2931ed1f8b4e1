import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CentralBankUnavailable, createCentralBank } from '../../../src/dgi/centralBank.ts';
import { answers, aServer } from '../../support/dgi/aServer.ts';
import { freePort } from '../../support/processes/services.ts';

let server: Awaited<ReturnType<typeof aServer>>;
beforeAll(async () => {
  server = await aServer();
});
afterAll(() => server.stop());

const ASKED = { currencies: ['USD', 'EUR'], from: '2022-03-21', to: '2022-03-28' } as const;
const bank = (url = server.url, answerSeconds = 20) =>
  createCentralBank({ url, timeouts: { connectSeconds: 5, answerSeconds } });
const envelope = (inner: string) =>
  `<?xml version="1.0" encoding="utf-8"?>\n<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><SOAP-ENV:Body>${inner}</SOAP-ENV:Body></SOAP-ENV:Envelope>`;
const row = (more: Partial<Record<'Fecha' | 'Moneda' | 'CodigoISO' | 'TCC', string>> = {}) => {
  const one = { Fecha: '2022-03-25', Moneda: '2225', CodigoISO: 'USD', TCC: '41.478000', ...more };
  return `<datoscotizaciones.dato xmlns="Cotiza"><Fecha>${one.Fecha}</Fecha><Moneda>${one.Moneda}</Moneda><Nombre>DLS. USA BILLETE</Nombre><CodigoISO>${one.CodigoISO}</CodigoISO><Emisor>ESTADOS UNIDOS</Emisor><TCC>${one.TCC}</TCC><TCV>41.500000</TCV><ArbAct>1.000000</ArbAct><FormaArbitrar>0</FormaArbitrar></datoscotizaciones.dato>`;
};
const says = (rows: string, status = '1', code = '0') =>
  server.behaves(
    answers(
      envelope(
        `<wsbcucotizaciones.ExecuteResponse xmlns="Cotiza"><Salida xmlns="Cotiza"><respuestastatus><status>${status}</status><codigoerror>${code}</codigoerror><mensaje/></respuestastatus><datoscotizaciones>${rows}</datoscotizaciones></Salida></wsbcucotizaciones.ExecuteResponse>`,
      ),
    ),
  );
const ZEROS =
  '<datoscotizaciones.dato xmlns="Cotiza"><Fecha xsi:nil="true"/><Moneda>0</Moneda><Nombre/><CodigoISO/><TCC>0.000000</TCC></datoscotizaciones.dato>';

describe('the central bank', () => {
  test('is asked as its service wants it, and its buyer’s rates keep all decimals', async () => {
    says(row() + row({ Fecha: '2022-03-28', TCC: '41.3650001' }) + row({ Moneda: '1111', CodigoISO: '' }));

    expect(await bank().closingRates(ASKED)).toEqual([
      { currency: 'USD', date: '2022-03-25', rate: '41.478000', source: 'BCU 2225' },
      { currency: 'USD', date: '2022-03-28', rate: '41.3650001', source: 'BCU 2225' },
      { currency: 'EUR', date: '2022-03-25', rate: '41.478000', source: 'BCU 1111' },
    ]);

    const { url, headers, body } = server.requests.at(-1) ?? {};
    expect(url).toBe('/awsbcucotizaciones');
    expect(headers?.['soapaction']).toBe('"Cotizaaction/AWSBCUCOTIZACIONES.Execute"');
    expect(body).toContain(
      '<wsbcucotizaciones.Execute xmlns="Cotiza"><Entrada><Moneda><item>2225</item><item>1111</item></Moneda><FechaDesde>2022-03-21</FechaDesde><FechaHasta>2022-03-28</FechaHasta><Grupo>0</Grupo></Entrada></wsbcucotizaciones.Execute>',
    );
  });

  test('without a quotation answers status 0 with code 100 and a row of zeros: no rates', async () => {
    says(ZEROS, '0', '100');
    expect(await bank().closingRates(ASKED)).toEqual([]);
  });

  test('tells its last closing, with or without a time', async () => {
    const closed = (day: string) =>
      server.behaves(
        answers(
          envelope(
            `<wsultimocierre.ExecuteResponse xmlns="Cotiza"><Salida><Fecha>${day}</Fecha></Salida></wsultimocierre.ExecuteResponse>`,
          ),
        ),
      );
    closed('2022-03-25');
    expect(await bank().lastClosing()).toBe('2022-03-25');
    expect(server.requests.at(-1)?.url).toBe('/awsultimocierre');
    closed('2022-03-25T00:00:00');
    expect(await bank().lastClosing()).toBe('2022-03-25');
    closed('0000-00-00');
    await expect(bank().lastClosing()).rejects.toThrow(CentralBankUnavailable);
  });

  test.each<[string, () => void]>([
    ['another mistake than 100', () => says(ZEROS, '0', '103')],
    ['no status', () => says(row(), '')],
    ['a rate of zero', () => says(row({ TCC: '0.000000' }))],
    ['a rate with a comma', () => says(row({ TCC: '41,478' }))],
    ['a rate below zero', () => says(row({ TCC: '-41.4' }))],
    ['a currency that was not asked for', () => says(row({ Moneda: '9800' }))],
    ['a name that is another currency’s', () => says(row({ CodigoISO: 'EUR' }))],
    ['a day that was not asked for', () => says(row({ Fecha: '2022-03-29' }))],
    ['no day', () => says(row({ Fecha: '' }))],
    ['two rates for one day', () => says(row() + row({ TCC: '41.5' }))],
    ['one good row and a bad one', () => says(row() + row({ Fecha: '2022-03-28', TCC: '' }))],
    [
      'a fault',
      () =>
        server.behaves(answers(envelope('<SOAP-ENV:Fault><faultstring>x</faultstring></SOAP-ENV:Fault>'))),
    ],
    ['an error page', () => server.behaves(answers('down', { status: 503 }))],
    ['a redirect', () => server.behaves(answers('', { status: 302, headers: { location: '/' } }))],
    ['no XML', () => server.behaves(answers('<html>'))],
    ['a document with a DOCTYPE', () => server.behaves(answers('<!DOCTYPE x><x/>'))],
    ['another answer', () => server.behaves(answers(envelope('<x/>')))],
    ['a dropped connection', () => server.behaves((response) => response.destroy())],
  ])('%s is no answer, and nothing of it is taken', async (_, prepare) => {
    prepare();
    await expect(bank().closingRates(ASKED)).rejects.toThrow(CentralBankUnavailable);
  });

  test('silence ends with the time-out, nobody there at once', async () => {
    server.behaves(() => {});
    await expect(bank(server.url, 0.3).closingRates(ASKED)).rejects.toThrow(CentralBankUnavailable);
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    await expect(bank(nowhere).closingRates(ASKED)).rejects.toThrow(CentralBankUnavailable);
  });

  test('is not called while its breaker is open', async () => {
    const before = server.requests.length;
    const held = createCentralBank({
      url: server.url,
      timeouts: { connectSeconds: 1, answerSeconds: 1 },
      breakers: { permit: () => Promise.resolve(null) },
    });
    await expect(held.closingRates(ASKED)).rejects.toThrow(CentralBankUnavailable);
    expect(server.requests).toHaveLength(before);
  });
});
