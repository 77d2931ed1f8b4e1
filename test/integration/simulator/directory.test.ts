import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  aCustomer,
  aSimulator,
  type Customer,
  fields,
  portal,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let customer: Customer;
beforeAll(async () => {
  simulator = await aSimulator();
  customer = await aCustomer(simulator.url);
});
afterAll(() => simulator.stop());

const put = (rut: string, entry: Record<string, unknown>) =>
  portal(simulator.url, 'PUT', `/portal/directory/${rut}`, entry);
const filter = ({ rut = '', name = '', since = '2010-01-01T00:00:00' } = {}) =>
  `<dgi:Consultarucemisores><dgi:Filtro_eFacDocNro>${rut}</dgi:Filtro_eFacDocNro><dgi:Filtro_eFacDenominacion>${name}</dgi:Filtro_eFacDenominacion><dgi:Filtro_eFacRUCEmisorAudFchHora>${since}</dgi:Filtro_eFacRUCEmisorAudFchHora></dgi:Consultarucemisores>`;
const list = (operation: string, wishes = {}) =>
  customer.consult(`EFACCONSULTARRUCEMISORES${operation}`, filter(wishes));
/** The document in a compressed answer. */
const unzipped = (envelope: string): string =>
  gunzipSync(Buffer.from(fields(envelope, 'Rucemisorestransicionmail')[0] ?? '', 'base64')).toString();

const ENTRY = { name: 'PANADERÍA & CÍA S.R.L.', mail: 'cfe@panaderia.example', since: '2019-05-01' };
const [FIRST, SECOND] = ['219000090011', '210475730011'];

describe('the list of electronic issuers', () => {
  test('tells what the portal put there, in four forms', async () => {
    expect(await put(FIRST, ENTRY)).toMatchObject({
      status: 200,
      json: { rut: FIRST, ...ENTRY, until: null },
    });
    await put(SECOND, { name: 'CERRADA S.A.', mail: '', since: '2015-01-01', until: '2020-12-31' });

    for (const operation of ['', 'TRANSICION']) {
      const { status, envelope } = await list(operation);
      expect(status).toBe(200);
      expect(fields(envelope, 'RUC')).toEqual([SECOND, FIRST].sort());
      expect(fields(envelope, 'DENOMINACION')).toContain('PANADERÍA &amp; CÍA S.R.L.');
      expect(fields(envelope, 'FECHA_FIN').sort()).toEqual(['0000-00-00', '2020-12-31']);
    }
    for (const operation of ['TRANSICIONCOMPRIMIDO', 'TRANSICIONCOMPRIMIDOPROV']) {
      const document = unzipped((await list(operation)).envelope);
      expect(fields(document, 'MAIL').sort()).toEqual(['', ENTRY.mail]);
      expect(document.includes('URL_WEBSERVICE')).toBe(operation.endsWith('PROV'));
    }
  });

  test('of one RUC, by a part of the name, or what changed since a moment', async () => {
    expect(fields((await list('', { rut: FIRST })).envelope, 'RUC')).toEqual([FIRST]);
    expect(fields((await list('', { name: 'cerrada' })).envelope, 'RUC')).toEqual([SECOND]);
    simulator.hurry(3_600_000);
    const between = new Date(Date.now() + 600_000 - 3 * 3_600_000).toISOString().slice(0, 19);
    expect(fields((await list('', { since: between })).envelope, 'RUC')).toEqual([]);
    await put(SECOND, { name: 'REABIERTA S.A.', mail: 'a@b.example', since: '2015-01-01' });
    expect(fields((await list('', { since: between })).envelope, 'DENOMINACION')).toEqual(['REABIERTA S.A.']);
  });

  test('refuses a question without a moment, and an entry that is none', async () => {
    const { status, envelope } = await list('', { since: '' });
    expect([status, envelope.includes('Fault')]).toEqual([500, true]);
    for (const entry of [{}, { ...ENTRY, since: 'ayer' }, { ...ENTRY, other: 1 }])
      expect((await put(FIRST, entry)).status).toBe(400);
    expect((await put('12', ENTRY)).status).toBe(400);
  });

  test('names whom the portal lets issue in production, until the day before it no longer does', async () => {
    const rut = '210000000013';
    const permit = (...permissions: string[]) =>
      portal(simulator.url, 'PUT', `/portal/credentials/${rut}`, { permissions });
    const endOf = async () => fields((await list('', { rut })).envelope, 'FECHA_FIN');
    await permit('HOMO');
    expect(await endOf()).toEqual([]);
    await permit('HOMO', 'PROD');
    expect(await endOf()).toEqual(['0000-00-00']);
    await permit('HOMO');
    const [end = ''] = await endOf();
    expect(end).toMatch(/^2\d{3}-/);
    await permit('PROD');
    expect(await endOf()).toEqual(['0000-00-00']);
  });
});
