import { describe, expect, test } from '@jest/globals';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { outboxOf } from '../../../support/commandDeps.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import {
  aCertificate,
  anIssuer,
  aRut,
  type CertificateWishes,
  day,
} from '../../../support/receipts/papers.ts';

const suite = useApi();
const pending = () => anEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/certificate`;

/** Uploads a certificate of that kind; `password` is the one told to the API. */
function upload(rut: string, wishes: Partial<CertificateWishes> = {}, password?: string) {
  const papers = aCertificate({ rut, ...wishes });
  return suite.owner.client.post(path(rut), {
    cert_b64: papers.certB64,
    password: password ?? papers.password,
  });
}

describe('POST /enterprises/{rut}/certificate', () => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'POST',
    path,
    rut: pending,
    body: () => ({ cert_b64: 'AAAA', password: 'x' }),
  });

  test('201: holder and dates, and onboarding is told', async () => {
    const rut = await pending();

    const answer = await upload(rut);

    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({
      status: 'VALID',
      subject: 'Comercial Ñandú S.A.',
      emission_date: day(-365),
      expiration_date: day(365),
    });
    expect(await outboxOf(suite.db.orm, `enterprise:${rut}`)).toMatchObject([{ signal: 'factsChanged' }]);
  });

  test('201: another one replaces it', async () => {
    const rut = await pending();
    await upload(rut, { legalName: 'Antes' });
    await upload(rut, { legalName: 'Después' });
    expect((await suite.owner.client.get(path(rut))).data).toMatchObject({ subject: 'Después' });
  });

  test('400: a stranger issued it, under the name of an authority', async () => {
    const rut = await pending();
    expectFaults(await upload(rut, { issuer: anIssuer('stranger') }), [
      [
        '/cert_b64',
        'certificate.unknown_issuer',
        'The certificate must be issued by an accredited certification authority of Uruguay.',
      ],
    ]);
    expectRefusal(await suite.owner.client.get(path(rut)), 404, 'NOT_FOUND');
  });

  test('400: it may not be used for signing; nonRepudiation is enough', async () => {
    const rut = await pending();
    expectFaults(await upload(rut, { keyUsage: { keyEncipherment: true } }), [
      ['/cert_b64', 'certificate.key_usage', /must allow signatures/],
    ]);
    expect((await upload(rut, { keyUsage: { nonRepudiation: true } })).status).toBe(201);
    expect((await upload(rut, { keyUsage: { digitalSignature: true } })).status).toBe(201);
  });

  test('400: the password is wrong', async () => {
    expectFaults(await upload(await pending(), {}, 'otra'), [
      ['/password', 'certificate.wrong_password', 'The password does not open the certificate file.'],
    ]);
  });

  test('400: it has expired', async () => {
    const wishes = {
      notBefore: new Date('2023-01-01T00:00:00Z'),
      notAfter: new Date('2025-01-01T12:00:00Z'),
    };
    expectFaults(await upload(await pending(), wishes), [
      ['/cert_b64', 'certificate.expired', 'The certificate expired at 2025-01-01T12:00:00Z.'],
    ]);
  });

  test('400: it is not valid yet', async () => {
    const wishes = {
      notBefore: new Date('2049-01-01T12:00:00Z'),
      notAfter: new Date('2049-12-31T00:00:00Z'),
    };
    expectFaults(await upload(await pending(), wishes), [
      ['/cert_b64', 'certificate.not_yet_valid', 'The certificate is valid only from 2049-01-01T12:00:00Z.'],
    ]);
  });

  test('400: it is that of another RUT', async () => {
    const rut = await pending();
    const other = aRut();
    expectFaults(await upload(rut, { serialNumber: `RUC${other}` }), [
      [
        '/cert_b64',
        'certificate.other_rut',
        `The serialNumber of the subject must be RUC${rut}, found RUC${other}.`,
      ],
    ]);
  });

  test('400: it is that of a person, whose number is not told', async () => {
    const answer = await upload(await pending(), { serialNumber: 'CI12345672' });
    expectFaults(answer, [['/cert_b64', 'certificate.other_rut', /found another\.$/]]);
    expect(answer.text).not.toContain('12345672');
  });

  test('400: its key does not belong to it', async () => {
    expectFaults(await upload(await pending(), { otherKey: true }), [
      [
        '/cert_b64',
        'certificate.key_mismatch',
        'The private key in the file must belong to its certificate.',
      ],
    ]);
  });

  test('400: its RSA key is too short, and everything else that is wrong with it', async () => {
    expectFaults(await upload(await pending(), { bits: 1024, serialNumber: 'RUC219999830019' }), [
      ['/cert_b64', 'certificate.rsa_too_short', 'The RSA key must have at least 2048 bits, found 1024.'],
      ['/cert_b64', 'certificate.other_rut', /found RUC219999830019\.$/],
    ]);
  });

  test.each([
    ['text', Buffer.from('hello world!').toString('base64')],
    ['a certificate in PEM', Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64')],
  ])('400: the file is %s, not a .p12', async (_what, cert_b64) => {
    const answer = await suite.owner.client.post(path(await pending()), { cert_b64, password: 'x' });
    expectFaults(answer, [
      [
        '/cert_b64',
        'certificate.not_pkcs12',
        'The file must be a .p12 with a certificate and its private key.',
      ],
    ]);
  });

  test('400: every fault of the body at once', async () => {
    const answer = await suite.owner.client.post(path(await pending()), {
      cert_b64: 'not base64!',
      pass: 'x',
    });
    expectFaults(answer, [
      ['/cert_b64', 'base64.malformed', /^cert_b64: must be a file in base64/],
      ['/password', 'body.missing', 'password: is required and must be a string.'],
      ['/pass', 'body.unknown_field', /^pass: unknown field/],
    ]);
  });

  test('413: a file larger than any certificate', async () => {
    const body = { cert_b64: 'A'.repeat(140_000), password: 'x' };
    expectRefusal(await suite.owner.client.post(path(await pending()), body), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('neither file nor password stands in the log or in an answer', async () => {
    const answer = await upload(await pending(), {}, 'clave-equivocada');
    expect(answer.text + JSON.stringify(suite.api.lines)).not.toMatch(/clave-equivocada|clave de prueba|MII/);
  });
});

describe('GET /enterprises/{rut}/certificate', () => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'GET',
    path,
    rut: async () => {
      const rut = await pending();
      await upload(rut);
      return rut;
    },
  });

  test('404: none was uploaded', async () => {
    const rut = await pending();
    const error = expectRefusal(await suite.owner.client.get(path(rut)), 404, 'NOT_FOUND');
    expect(error.message).toBe(`The enterprise ${rut} has no certificate yet.`);
  });

  test('200: the one that signs', async () => {
    const rut = await pending();
    const uploaded = await upload(rut);
    const answer = await suite.owner.client.get(path(rut));
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual(uploaded.data);
  });
});
