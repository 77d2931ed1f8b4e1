import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isCertified } from '../../../src/crypto/certificateAuthorities.ts';
import { readCertificateAuthorities } from '../../../src/wiring/certificateAuthorities.ts';
import { ISSUER_RUT, montevideo, RECEIVER_RUT, twoYearsAfter } from '../../support/simulator/aCfe.ts';
import { openPkcs12 } from '../../support/simulator/signing.ts';
import {
  aSimulator,
  type CaeFile,
  field,
  portal,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await aSimulator();
});
afterAll(() => simulator.stop());

const call = (method: string, path: string, body?: unknown) => portal(simulator.url, method, path, body);
const cae = async (order: Record<string, unknown>): Promise<CaeFile & { xml: string }> => {
  const { status, json } = await call('POST', '/portal/caes', {
    rut: ISSUER_RUT,
    cfe_type_code: '101',
    ...order,
  });
  expect(status).toBe(201);
  const file = json as CaeFile;
  return { ...file, xml: Buffer.from(file.cae_b64, 'base64').toString() };
};
const today = (): string => montevideo(new Date()).slice(0, 10);

describe('POST /portal/certificates', () => {
  test('gives a .p12 that opens with its password, is valid now and names the RUT', async () => {
    const { status, json } = await call('POST', '/portal/certificates', {
      rut: ISSUER_RUT,
      legal_name: 'Ñandú S.A.',
      password: 'contraseña€',
    });
    expect(status).toBe(201);
    const { cert_b64, password } = json as { cert_b64: string; password: string };
    const { certificate } = openPkcs12(Buffer.from(cert_b64, 'base64'), password);
    expect(certificate.subject).toBe(`C=UY\nO=Ñandú S.A.\nCN=Ñandú S.A.\nserialNumber=RUC${ISSUER_RUT}`);
    expect(certificate.validFromDate.getTime()).toBeLessThan(Date.now());
    expect(certificate.validToDate.getTime()).toBeGreaterThan(Date.now() + 600 * 86_400_000);
    expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(password).toBe('contraseña€');
  });

  test.each([
    [
      'expired',
      { not_before: '2020-01-01', not_after: '2021-01-01' },
      '2020-01-01T03:00:00.000Z',
      '2021-01-01T03:00:00.000Z',
    ],
    [
      'not valid yet',
      { not_before: '2040-01-01T00:00:00Z' },
      '2040-01-01T00:00:00.000Z',
      '2041-12-31T00:00:00.000Z',
    ],
  ])('makes one that is %s when asked', async (_why, dates, from, to) => {
    const { json } = await call('POST', '/portal/certificates', { rut: ISSUER_RUT, password: 'x', ...dates });
    const { certificate } = openPkcs12(Buffer.from((json as { cert_b64: string }).cert_b64, 'base64'), 'x');
    expect([certificate.validFromDate.toISOString(), certificate.validToDate.toISOString()]).toEqual([
      from,
      to,
    ]);
  });

  test('is issued by the authority that GET /portal/certificate-authorities tells, as a service is configured with it', async () => {
    const { json } = await call('POST', '/portal/certificates', { rut: ISSUER_RUT, password: 'x' });
    const { certificate } = openPkcs12(Buffer.from((json as { cert_b64: string }).cert_b64, 'base64'), 'x');
    const path = join(mkdtempSync(join(tmpdir(), 'cfe-authorities-')), 'authorities.pem');
    const answer = await fetch(`${simulator.url}/portal/certificate-authorities`);
    writeFileSync(path, await answer.text());

    const authorities = readCertificateAuthorities({ CFE_CERTIFICATE_CA_FILE: path });

    expect(authorities).toHaveLength(1);
    expect(isCertified(certificate.raw, authorities, new Date())).toBe(true);
  });

  test('one that has only an end begins before it', async () => {
    const { json } = await call('POST', '/portal/certificates', {
      rut: ISSUER_RUT,
      password: 'x',
      not_after: '2022-01-01',
    });
    const { certificate } = openPkcs12(Buffer.from((json as { cert_b64: string }).cert_b64, 'base64'), 'x');
    expect(certificate.validFromDate < certificate.validToDate).toBe(true);
  });
});

describe('POST /portal/caes', () => {
  test('authorizes series A, the next free 10,000 numbers, from today for two years', async () => {
    const [first, second] = [await cae({ rut: RECEIVER_RUT }), await cae({ rut: RECEIVER_RUT })];
    expect([first.number_start, first.number_end, second.number_start, second.number_end]).toEqual([
      1, 10_000, 10_001, 20_000,
    ]);
    expect(first.authorization_number).toMatch(/^90\d{9}$/);
    expect(second.authorization_number).not.toBe(first.authorization_number);
    const names = ['RucE', 'TCFE', 'Serie', 'DNro', 'HNro', 'TA', 'NA', 'FA', 'FVD'];
    expect(names.map((name) => field(first.xml, name))).toEqual([
      RECEIVER_RUT,
      '101',
      'A',
      '1',
      '10000',
      'E',
      first.authorization_number,
      today(),
      twoYearsAfter(today()),
    ]);
    expect(first.xml).not.toContain('CAEEspecial');
  });

  test('counts free numbers by environment, company, type and series apart', async () => {
    await cae({ series: 'Q' });
    expect((await cae({ series: 'R' })).number_start).toBe(1);
    expect((await cae({ series: 'Q', cfe_type_code: '111' })).number_start).toBe(1);
    expect((await cae({ series: 'Q', environment: 'sandbox' })).number_start).toBe(1);
    expect((await cae({ series: 'Q' })).number_start).toBe(10_001);
  });

  test('makes whatever is asked: expired, overlapping, special', async () => {
    const asked = {
      series: 'T',
      number_start: 5,
      number_end: 9,
      issue_date: '2020-01-01',
      expiration_date: '2022-01-01',
    };
    const [one, two] = [await cae(asked), await cae({ ...asked, cae_especial: 1, causal: '7' })];
    expect([one.number_start, two.number_end, field(one.xml, 'FVD')]).toEqual([5, 9, '2022-01-01']);
    expect([field(two.xml, 'CAEEspecial'), field(two.xml, 'CausalCAEEsp')]).toEqual(['1', '7']);
  });

  test('ends at the last number there is', async () => {
    const { number_start, number_end } = await cae({ series: 'U', number_start: 9_995_000 });
    expect([number_start, number_end]).toEqual([9_995_000, 9_999_999]);
  });
});

describe('POST /credentials/validate', () => {
  const check = async (username: string, password: string, rut = ISSUER_RUT) =>
    (await call('POST', '/credentials/validate', { rut, username, password })).json;
  const failed = { login: 'failed', permissions: [], message: 'unknown company, username or password' };

  test('fails for a company that nobody put there', async () => {
    expect(await check('a', 'b', '214844360018')).toEqual(failed);
  });

  test('answers what was put: any login where none was named, else that one only', async () => {
    await call('PUT', `/portal/credentials/${ISSUER_RUT}`, { permissions: ['HOMO'] });
    expect(await check('anyone', 'anything')).toEqual({
      login: 'success',
      permissions: ['HOMO'],
      message: 'the login is valid',
    });

    await call('PUT', `/portal/credentials/${ISSUER_RUT}`, {
      username: 'ana',
      password: 's3creta',
      permissions: ['HOMO', 'PROD'],
    });
    expect(await check('ana', 's3creta')).toMatchObject({ login: 'success', permissions: ['HOMO', 'PROD'] });
    expect(await check('ana', 'otra')).toEqual(failed);
    expect(await check('eva', 's3creta')).toEqual(failed);
    expect((await call('POST', '/credentials/validate', { rut: ISSUER_RUT })).json).toEqual(failed);
  });
});

describe('what the portal does not take is 400 and names the field', () => {
  test.each<[string, string, unknown, string[]]>([
    ['POST', '/portal/certificates', {}, ['/rut', '/password']],
    ['POST', '/portal/certificates', { rut: '123', password: '' }, ['/rut', '/password']],
    ['POST', '/portal/certificates', { rut: ISSUER_RUT, password: 'x', not_after: 'soon' }, ['/not_after']],
    ['POST', '/portal/certificates', { rut: ISSUER_RUT, password: 'x', name: 'y' }, ['/name']],
    ['POST', '/portal/caes', { rut: ISSUER_RUT, cfe_type_code: 101 }, ['/cfe_type_code']],
    [
      'POST',
      '/portal/caes',
      { rut: ISSUER_RUT, cfe_type_code: '101', environment: 'test' },
      ['/environment'],
    ],
    [
      'POST',
      '/portal/caes',
      { rut: ISSUER_RUT, cfe_type_code: '101', issue_date: '2026-02-30' },
      ['/issue_date'],
    ],
    [
      'POST',
      '/portal/caes',
      { rut: ISSUER_RUT, cfe_type_code: '101', number_start: 0, series: 'a' },
      ['/series', '/number_start'],
    ],
    ['POST', '/portal/annulments', { rut: ISSUER_RUT, cfe_type_code: '101', serie: 'A' }, ['/number_start']],
    ['PUT', '/portal/registry/12', {}, ['/path/rut']],
    ['PUT', `/portal/registry/${ISSUER_RUT}`, { legal_name: 'X', rut: RECEIVER_RUT }, ['/rut']],
    ['PUT', `/portal/registry/${ISSUER_RUT}`, { legal_name: 'X', fault: 3 }, ['/fault']],
    ['PUT', `/portal/credentials/${ISSUER_RUT}`, { permissions: ['ALL'] }, ['/permissions/0']],
    ['POST', '/credentials/validate', { username: 'u', user: 'u' }, ['/rut', '/user']],
    [
      'GET',
      '/portal/ledger?rut=1&since=never&page=2',
      undefined,
      ['/query/rut', '/query/since', '/query/page'],
    ],
    ['GET', `/portal/ledger/${ISSUER_RUT}/101/a/0x1`, undefined, ['/path/serie', '/path/numero']],
  ])('%s %s %j', async (method, path, body, paths) => {
    const { status, json } = await call(method, path, body);
    const { error } = json as {
      error: { code: string; details: { fields: { path: string; message: string }[] } };
    };
    expect([status, error.code, error.details.fields.map((fault) => fault.path).toSorted()]).toEqual([
      400,
      'INVALID_INPUT',
      paths.toSorted(),
    ]);
  });

  test('a body that is not JSON', async () => {
    const response = await fetch(`${simulator.url}/portal/caes`, { method: 'POST', body: '{' });
    expect(response.status).toBe(400);
  });
});

test('the portal answers 404 for what is not there, 405 for a wrong method, 413 for too much', async () => {
  expect((await call('GET', '/portal')).status).toBe(404);
  expect((await call('GET', '/portal/caes')).status).toBe(405);
  expect((await call('GET', `/portal/ledger/${ISSUER_RUT}/101/A/1`)).status).toBe(404);
  expect((await call('POST', '/portal/caes', { rut: 'x'.repeat(300_000) })).status).toBe(413);
});

test('the ledger filters by company, environment and time', async () => {
  for (const query of ['', `?rut=${ISSUER_RUT}`, '?environment=sandbox', '?since=2026-01-01T00:00:00Z'])
    expect((await call('GET', `/portal/ledger${query}`)).json).toEqual({ items: [] });
});

test('the portal takes the services down for so many seconds, counts what they refuse, and brings them back', async () => {
  const outage = (seconds: unknown) => call('PUT', '/portal/outage', { seconds });
  const asked = async () =>
    (await fetch(`${simulator.url}/production/ws_efactura`, { method: 'POST', body: 'x' })).status;
  expect((await outage(-1)).status).toBe(400);
  expect((await outage(600)).json).toEqual({ is_down: true, refused: 0 });
  expect([await asked(), await asked()]).toEqual([503, 503]);
  expect((await call('GET', '/portal/outage')).json).toEqual({ is_down: true, refused: 2 });
  expect((await outage(600)).json).toEqual({ is_down: true, refused: 2 });

  expect((await outage(0)).json).toEqual({ is_down: false, refused: 2 });

  expect(await asked()).toBe(500);
  await outage(5);
  expect((await call('GET', '/portal/outage')).json).toEqual({ is_down: true, refused: 0 });
  simulator.hurry(5_000);
  expect((await call('GET', '/portal/outage')).json).toEqual({ is_down: false, refused: 0 });
});
