import { createPrivateKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDgiClient } from '../../../../src/dgi/client.ts';
import { createRutLookUp } from '../../../../src/dgi/rutLookUp.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import { freePort } from '../../../support/processes/services.ts';
import { aRut, rsaKey } from '../../../support/receipts/papers.ts';
import { aSimulator, certificateFor, portal } from '../../../support/simulator/world.ts';

/** The registry that the API asks: that of a simulator, over its real contract. */
let lookUpRut: ReturnType<typeof createRutLookUp>;
let simulator: Awaited<ReturnType<typeof aSimulator>>;
const suite = useApi({ lookUpRut: (rut) => lookUpRut(rut) });

async function lookUpAt(url: string): Promise<typeof lookUpRut> {
  const endpoints = {
    receptionUrl: url,
    consultationUrl: url,
    registryUrl: `${url}/production/ws_personaGetActEmpresarial`,
  };
  const keys = await certificateFor(simulator.url, '219999820013');
  return createRutLookUp({
    client: createDgiClient({
      endpoints: { production: endpoints, sandbox: endpoints },
      timeouts: { connectSeconds: 2, answerSeconds: 5 },
      soapHash: 'sha1',
      trustedSigners: async () => new Set(),
    }),
    credentials: { privateKey: createPrivateKey(keys.privateKey), certificateDer: keys.certificate.raw },
  });
}

beforeAll(async () => {
  simulator = await aSimulator();
  lookUpRut = await lookUpAt(simulator.url);
});
afterAll(() => simulator.stop());

const register = (rut: string, record: unknown) =>
  portal(simulator.url, 'PUT', `/portal/registry/${rut}`, record);

describe.each([
  ['GET /enterprises/{rut}/erut', (rut: string) => `/enterprises/${rut}/erut`],
  ['GET /erut/{rut}', (rut: string) => `/erut/${rut}`],
])('%s', (_, path) => {
  test('200: the record, blanks taken off; any account may ask for any RUT', async () => {
    const rut = aRut();
    const record = {
      legal_name: 'PANADERÍA & CÍA S.R.L.',
      trade_name: 'El Trigal',
      entity_type_code: '7',
      entity_type_description: 'SOCIEDAD DE RESPONSABILIDAD LIMITADA',
      activity_status: 'AA',
      start_date: '2010-05-03',
      business_activities: [
        { activity_code: '1071', activity_name: 'Panadería', start_date: '2010-05-03' },
        { activity_code: '4721', activity_name: 'Venta de alimentos', start_date: null },
      ],
      fiscal_addresses: [{ branch: 1, locality_name: 'MONTEVIDEO', street_name: '18 DE JULIO 1234' }],
    };
    await register(rut, record);

    for (const { client } of [suite.owner, suite.stranger]) {
      const answer = await client.get(path(rut));
      expect(answer.status).toBe(200);
      expect(answer.data).toEqual({ rut, ...record });
    }
  });

  test('200: what the registry does not tell is null; an enterprise of another account is no secret there', async () => {
    const rut = await anEnterprise(suite.db.orm, suite.owner.accountId);
    await register(rut, { legal_name: 'Sin más' });

    expect((await suite.stranger.client.get(path(rut))).data).toEqual({
      rut,
      legal_name: 'Sin más',
      trade_name: null,
      entity_type_code: null,
      entity_type_description: null,
      activity_status: 'AA',
      start_date: null,
      business_activities: [],
      fiscal_addresses: [],
    });
  });

  test.each([
    [10, 'NT'],
    [11, 'CC'],
    [12, 'AF'],
  ])('200: fault %i of the registry is the activity status %s', async (fault, activity_status) => {
    const rut = aRut();
    await register(rut, { legal_name: 'X', fault });

    expect((await suite.owner.client.get(path(rut))).data).toMatchObject({
      rut,
      legal_name: null,
      activity_status,
    });
  });

  test('404: a RUT that the registry does not know, though it is an enterprise here', async () => {
    const rut = await anEnterprise(suite.db.orm, suite.owner.accountId);
    const error = expectRefusal(await suite.owner.client.get(path(rut)), 404, 'NOT_FOUND');
    expect(error.message).toBe(`The tax authority's registry does not have the RUT ${rut}.`);
  });

  test('503: the registry fails, with a time to ask again', async () => {
    const rut = aRut();
    await register(rut, { legal_name: 'X', fault: 1 });

    const answer = await suite.owner.client.get(path(rut));

    expectRefusal(answer, 503, 'UNAVAILABLE');
    expect(answer.headers.get('retry-after')).toBe('30');
  });

  test('503: the registry cannot be reached, or no certificate is there to ask with', async () => {
    const asked = lookUpRut;
    try {
      lookUpRut = await lookUpAt(`http://127.0.0.1:${await freePort()}`);
      const answer = await suite.owner.client.get(path(aRut()));
      expectRefusal(answer, 503, 'UNAVAILABLE');
      expect(answer.text).not.toContain('127.0.0.1');
      lookUpRut = createRutLookUp({
        client: { lookUpRut: () => Promise.reject(new Error('asked')) },
        credentials: null,
      });
      expectRefusal(await suite.owner.client.get(path(aRut())), 503, 'UNAVAILABLE');
    } finally {
      lookUpRut = asked;
    }
  });

  test('500: the authority does not take our certificate', async () => {
    const asked = lookUpRut;
    try {
      lookUpRut = createRutLookUp({
        client: {
          lookUpRut: async () => ({ kind: 'stuck', reason: 'authority.certificate', explanation: 'words' }),
        },
        credentials: { privateKey: createPrivateKey(rsaKey('company')), certificateDer: new Uint8Array() },
      });
      expectRefusal(await suite.owner.client.get(path(aRut())), 500, 'INTERNAL_ERROR');
      expect(JSON.stringify(suite.api.lines)).toContain('authority.certificate');
    } finally {
      lookUpRut = asked;
    }
  });

  test('400: a RUT without its check digit', async () => {
    expectFaults(await suite.owner.client.get(path('219999830018')), [
      ['/path/rut', 'rut.check_digit', /its check digit is 9/],
    ]);
  });

  test('400: a query parameter', async () => {
    expectFaults(await suite.owner.client.get(`${path(aRut())}?fresh=true`), [
      ['/query/fresh', 'body.unknown_field', /^query.fresh: unknown field/],
    ]);
  });

  test('401: without key or token', async () => {
    expectRefusal(await suite.api.client.get(path(aRut())), 401, 'UNAUTHORIZED');
    const headers = { 'x-api-key': suite.owner.apiKey };
    expectRefusal(await suite.api.client.get(path(aRut()), headers), 401, 'UNAUTHORIZED');
  });

  test('400 and 403: sandbox is not supported', async () => {
    const live = suite.owner.client.with({ 'x-sandbox-mode': 'true' });
    expectRefusal(await live.get(path(aRut())), 400, 'INVALID_INPUT');
    const trial = suite.sandbox.client.with({ 'x-sandbox-mode': 'false' });
    expectRefusal(await trial.get(path(aRut())), 403, 'FORBIDDEN');
  });
});
