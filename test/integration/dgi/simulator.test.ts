import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDgiClient, type DgiClient } from '../../../src/dgi/client.ts';
import { createCredentialsCheck } from '../../../src/dgi/credentials.ts';
import type { DgiCredentials } from '../../../src/dgi/wsSecurity.ts';
import { readCae } from '../../../src/dgi/xml/cae.ts';
import { sendSobre } from '../../support/dgi/sendSobre.ts';
import { startTcpProxy } from '../../support/processes/tcpProxy.ts';
import { aCustomer, aSimulator, type Customer, portal } from '../../support/simulator/world.ts';

/**
 * The client and the simulator share no code: what they agree on is the authority's contract
 * (docs/authority/services.md).
 */
const DAY = 86_400_000;
let simulator: Awaited<ReturnType<typeof aSimulator>>;
let customer: Customer;
let client: DgiClient;
let credentials: DgiCredentials;
let signers: Set<string>;

beforeAll(async () => {
  simulator = await aSimulator();
  const { bytes } = await portal(simulator.url, 'GET', '/portal/authority-certificates');
  const pems = bytes.toString().match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  signers = new Set(
    pems.map((pem) => new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase()),
  );
  client = clientWith('sha1');
  customer = await aCustomer(simulator.url);
  credentials = credentialsOf(customer);
});
afterAll(() => simulator.stop());

const endpointsOf = (environment: 'production' | 'sandbox', url: string) => ({
  receptionUrl: `${url}/${environment}/ws_efactura`,
  consultationUrl: `${url}/${environment}/ws_consultas`,
  registryUrl: `${url}/${environment}/ws_personaGetActEmpresarial`,
});
const clientWith = (soapHash: 'sha1' | 'sha256', url = simulator.url) =>
  createDgiClient({
    endpoints: { production: endpointsOf('production', url), sandbox: endpointsOf('sandbox', url) },
    timeouts: { connectSeconds: 5, answerSeconds: 10 },
    soapHash,
    trustedSigners: async () => signers,
  });
const credentialsOf = ({ keys }: Customer): DgiCredentials => ({
  privateKey: createPrivateKey(keys.privateKey),
  certificateDer: keys.certificate.raw,
});

test('a send and the questions after it go by one connection', async () => {
  const proxy = await startTcpProxy(simulator.url);
  try {
    const by = new URL(proxy.url).origin;
    const near = clientWith('sha256', by);
    const sobre = await aSobreWith('Café');
    const answer = await sendSobre(near, credentials, 'production', sobre);
    if (answer.kind !== 'received') throw new Error(`not received: ${JSON.stringify(answer)}`);
    expect(await near.askVerdict(credentials, 'production', answer)).toMatchObject({ kind: 'notYet' });
    simulator.hurry(10_000);
    expect(await near.askVerdict(credentials, 'production', answer)).toMatchObject({ kind: 'answered' });
    expect(proxy.opened()).toBe(1);
  } finally {
    await proxy.cut();
  }
});

/** A sobre with one e-Ticket whose first line has that name. */
async function aSobreWith(name: string, number = 1) {
  const cae = await customer.cae(101);
  const idemisor = customer.nextIdemisor();
  const numero = cae.number_start + number - 1;
  const series = 'A';
  const xml = customer.sobre([customer.cfe({ type: 101, cae, number: numero, series, name })], { idemisor });
  return { idemisor: BigInt(idemisor), xml, numero, serie: series };
}
const aroundNow = (idemisor: bigint) => ({
  idemisor,
  from: new Date(Date.now() - DAY),
  to: new Date(Date.now() + DAY),
});

async function received(sobre: { idemisor: bigint; xml: string }) {
  const answer = await sendSobre(client, credentials, 'production', sobre);
  if (answer.kind !== 'received') throw new Error(`not received: ${JSON.stringify(answer)}`);
  return answer;
}

/** Asks until there is a verdict, the simulator's clock put forward. */
async function verdict(ticket: { idReceptor: string; token: string }) {
  for (let tries = 0; tries < 20; tries += 1) {
    const answer = await client.askVerdict(credentials, 'production', ticket);
    if (answer.kind !== 'notYet') return answer;
    simulator.hurry(1_000);
  }
  throw new Error('no verdict after 20 questions');
}

describe('client and simulator', () => {
  test.each(['sha1', 'sha256'] as const)('a sobre signed over SOAP with %s is received', async (hash) => {
    const answer = await sendSobre(clientWith(hash), credentials, 'production', await aSobreWith('Producto'));
    expect(answer).toMatchObject({ kind: 'received', askFrom: expect.any(Date) });
  });

  test('before the verdict the answer is "not yet", then AE', async () => {
    const sobre = await aSobreWith('Producto');
    const ticket = await received(sobre);
    expect(await client.askVerdict(credentials, 'production', ticket)).toEqual({
      kind: 'notYet',
      code: '105',
    });
    expect(await verdict(ticket)).toMatchObject({
      kind: 'answered',
      ack: {
        receipts: [{ ordinal: 1, typeCode: 101, serie: 'A', numero: sobre.numero, state: 'AE', reasons: [] }],
      },
    });
  });

  test.each([
    ['SIM REJECT E05', 'BE', 'E05'],
    ['SIM OBSERVE', 'CE', 'C06'],
  ])('%s ends %s with %s', async (name, state, code) => {
    const answer = await verdict(await received(await aSobreWith(name)));
    expect(answer).toMatchObject({ ack: { receipts: [{ state, reasons: [{ code }] }] } });
  });

  test('SIM SOBRE S04 is refused, and listed as such', async () => {
    const sobre = await aSobreWith('SIM SOBRE S04');
    const answer = await sendSobre(client, credentials, 'production', sobre);
    expect(answer).toMatchObject({ kind: 'refused', reasons: [{ code: 'S04' }] });
    expect(await client.findSobre(credentials, 'production', aroundNow(sobre.idemisor))).toEqual({
      kind: 'refused',
    });
  });

  test('SIM FAULT: two faults that go by themselves, then received', async () => {
    const sobre = await aSobreWith('SIM FAULT 2');
    for (const _ of [1, 2]) {
      expect(await sendSobre(client, credentials, 'production', sobre)).toMatchObject({
        kind: 'fateUnknown',
      });
    }
    expect(await sendSobre(client, credentials, 'production', sobre)).toMatchObject({ kind: 'received' });
  });

  test('SIM LOST: the answer is lost, the list knows the sobre, the same bytes again are a duplicate', async () => {
    const sobre = await aSobreWith('SIM LOST');
    expect(await sendSobre(client, credentials, 'production', sobre)).toMatchObject({ kind: 'fateUnknown' });
    const found = await client.findSobre(credentials, 'production', aroundNow(sobre.idemisor));
    if (found.kind !== 'received') throw new Error(`not found: ${found.kind}`);
    expect(await sendSobre(client, credentials, 'production', sobre)).toEqual({ kind: 'duplicate' });
    expect(await verdict(found)).toMatchObject({ ack: { receipts: [{ state: 'AE' }] } });
  });

  test('the same receipt in another sobre is E02 and names the first, which the consultation names too', async () => {
    const first = await aSobreWith('Producto');
    const ticket = await received(first);
    await verdict(ticket);
    const cfe = /<CFE [\s\S]*<\/CFE>/.exec(first.xml)?.[0] ?? '';
    const idemisor = customer.nextIdemisor();
    const again = await received({ idemisor: BigInt(idemisor), xml: customer.sobre([cfe], { idemisor }) });
    expect(await verdict(again)).toMatchObject({
      ack: {
        receipts: [
          {
            state: 'BE',
            reasons: [{ code: 'E02' }],
            original: {
              idemisor: first.idemisor.toString(),
              idReceptor: ticket.idReceptor,
              token: ticket.token,
            },
          },
        ],
      },
    });
    const { serie, numero } = first;
    expect(await client.findCfe(credentials, 'production', { typeCode: 101, serie, numero })).toMatchObject({
      kind: 'found',
      state: 'AE',
      idemisor: first.idemisor.toString(),
      idReceptor: ticket.idReceptor,
      token: ticket.token,
    });
  });

  test('a sobre or receipt that was never sent is absent', async () => {
    expect(await client.findSobre(credentials, 'production', aroundNow(999_999n))).toEqual({
      kind: 'absent',
    });
    const cfe = { typeCode: 101, serie: 'Z', numero: 999 };
    expect(await client.findCfe(credentials, 'production', cfe)).toEqual({ kind: 'absent' });
  });

  test('a number that the authority never gave, and a token of another sobre', async () => {
    const ticket = await received(await aSobreWith('Producto'));
    const unknown = { idReceptor: '999999', token: ticket.token };
    expect(await client.askVerdict(credentials, 'production', unknown)).toEqual({ kind: 'recover' });
    const mixed = { idReceptor: ticket.idReceptor, token: 'b3Rybw==' };
    expect(await client.askVerdict(credentials, 'production', mixed)).toMatchObject({ kind: 'stuck' });
  });

  test('the two environments are two authorities', async () => {
    const sobre = await aSobreWith('Producto');
    await received(sobre);
    expect(await client.findSobre(credentials, 'sandbox', aroundNow(sobre.idemisor))).toEqual({
      kind: 'absent',
    });
  });

  test('eRUT: a company that the registry knows, and one that it does not', async () => {
    const rut = '210475730011';
    const record = {
      rut,
      legal_name: 'ÑANDÚ & CÍA SA',
      trade_name: null,
      entity_type_code: '6',
      entity_type_description: 'SOCIEDAD COLECTIVA',
      activity_status: 'AA',
      start_date: '2006-09-27',
      business_activities: [{ activity_code: '1132', activity_name: 'Cultivos', start_date: '2013-04-02' }],
      fiscal_addresses: [{ branch: 1, locality_name: 'MONTEVIDEO', street_name: 'FERNANDEZ CRESPO' }],
    };
    const put = await portal(simulator.url, 'PUT', `/portal/registry/${rut}`, record);
    expect(put.status).toBeLessThan(300);
    expect(await client.lookUpRut(credentials, 'production', rut)).toEqual({
      kind: 'found',
      record: {
        rut,
        legalName: 'ÑANDÚ & CÍA SA',
        tradeName: null,
        entityTypeCode: '6',
        entityTypeDescription: 'SOCIEDAD COLECTIVA',
        activityStatus: 'AA',
        startDate: '2006-09-27',
        businessActivities: [{ activityCode: '1132', activityName: 'Cultivos', startDate: '2013-04-02' }],
        fiscalAddresses: [{ branch: 1, localityName: 'MONTEVIDEO', streetName: 'FERNANDEZ CRESPO' }],
      },
    });
    expect(await client.lookUpRut(credentials, 'production', '211003420017')).toEqual({
      kind: 'unregistered',
    });
  });

  test('a CAE of the portal is read, and its signer is the authority', async () => {
    const { cae_b64, number_start, number_end, authorization_number } = await customer.cae(111);
    const reading = readCae(Buffer.from(cae_b64, 'base64'));
    if (reading.kind !== 'signed') throw new Error(reading.kind);
    expect(reading.facts).toMatchObject({
      issuerRut: customer.rut,
      typeCode: 111,
      numberStart: number_start,
      numberEnd: number_end,
      authorizationNumber: authorization_number,
    });
    expect(signers).toContain(reading.signer.fingerprint);
    expect(reading.signer).toMatchObject({ wasValid: true });
  });

  test('the credentials check: a login that holds, and one that does not', async () => {
    const { rut } = customer;
    await portal(simulator.url, 'PUT', `/portal/credentials/${rut}`, {
      username: 'u',
      password: 'p',
      permissions: ['PROD'],
    });
    const check = createCredentialsCheck({ url: `${simulator.url}/credentials/validate`, timeoutSeconds: 5 });
    expect(await check({ rut, username: 'u', password: 'p' })).toMatchObject({
      login: 'success',
      permissions: ['PROD'],
    });
    expect(await check({ rut, username: 'u', password: 'q' })).toMatchObject({
      login: 'failed',
      permissions: [],
    });
  });

  test('SIM DOWN: the authority that is down is unreached or says so, and has the sobre when it is back', async () => {
    const sobre = await aSobreWith('SIM DOWN 30');
    await sendSobre(client, credentials, 'production', sobre);
    expect(await client.findSobre(credentials, 'production', aroundNow(sobre.idemisor))).toMatchObject({
      kind: 'repeat',
    });
    simulator.hurry(31_000);
    expect(await client.findSobre(credentials, 'production', aroundNow(sobre.idemisor))).toMatchObject({
      kind: 'received',
    });
  });

  test('the list of electronic issuers: whole, of one RUC, and what changed', async () => {
    const entry = { name: 'PANADERÍA & CÍA <S.R.L.>', mail: 'cfe@panaderia.example', since: '2019-05-01' };
    await portal(simulator.url, 'PUT', '/portal/directory/219000090011', entry);
    await portal(simulator.url, 'PUT', '/portal/directory/210475730011', { ...entry, until: '2020-12-31' });
    const list = async (query: { since: Date; rut?: string }) => {
      const answer = await client.listIssuers(credentials, 'production', query);
      // Companies that were granted PROD are listed too, without a mail address.
      return answer.kind === 'listed' ? [...answer.issuers].filter(({ mail }) => mail !== '') : answer;
    };
    const since = new Date('2010-01-01T00:00:00Z');
    expect(await list({ since })).toEqual([
      { rut: '210475730011', name: entry.name, mail: entry.mail, since: '2019-05-01', until: '2020-12-31' },
      { rut: '219000090011', name: entry.name, mail: entry.mail, since: '2019-05-01', until: '0000-00-00' },
    ]);
    expect(await list({ since, rut: '219000090011' })).toHaveLength(1);
    expect(await list({ since, rut: '219999830019' })).toEqual([]);
    expect(await list({ since: new Date(Date.now() + 2 * DAY) })).toEqual([]);
  });
});
