import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import forge from 'node-forge';
import { type OpenedFile, openPkcs12 as openFor } from '../../../src/crypto/pkcs12.ts';
import { openContainer } from '../../../src/crypto/pkcs12Container.ts';
import { hasRsaKey, isRsaKey } from '../../../src/crypto/rsa.ts';
import { dsaP12, hugeNumber, roundsP12, rsaP12 } from '../../support/enterprises/hostileP12.ts';
import { aCertificate, rsaKey } from '../../support/receipts/papers.ts';

const RUT = '219999830019';
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const openPkcs12 = (file: Uint8Array, password: string) => openFor(file, password, 'the test');
/** Why a file does not open, or 'opened'. */
const outcome = (opened: OpenedFile): string => (opened.ok ? 'opened' : opened.reason);

describe('a .p12 as node-forge writes it', () => {
  test('opens to key, certificate and what the certificate says', async () => {
    const paper = aCertificate({ rut: RUT, legalName: 'Ñandú, Hijos & Cía.' });

    const opened = await openPkcs12(Buffer.from(paper.certB64, 'base64'), paper.password);

    const certificate = new X509Certificate(paper.certificatePem);
    expect(opened).toMatchObject({
      ok: true,
      identity: {
        commonName: 'Ñandú, Hijos & Cía.',
        serialNumber: `RUC${RUT}`,
        subject: `C=UY, serialNumber=RUC${RUT}, CN=Ñandú, Hijos & Cía.`,
        certificateDer: certificate.raw,
        notBefore: certificate.validFromDate,
        notAfter: certificate.validToDate,
        modulusBits: 2048,
      },
    });
    if (opened.ok) expect(opened.identity.privateKeyDer.subarray(0, 2).toString('hex')).toBe('3082');
  });

  test('tells the length of a short key', async () => {
    const { certB64, password } = aCertificate({ rut: RUT, bits: 1024 });

    expect(await openPkcs12(Buffer.from(certB64, 'base64'), password)).toMatchObject({
      identity: { modulusBits: 1024 },
    });
  });

  test.each<[string, { password?: string; otherKey?: boolean }, string]>([
    ['the wrong password', { password: 'wrong' }, 'wrong_password'],
    ['an empty password', { password: '' }, 'wrong_password'],
    ['a key that is not the certificate’s', { otherKey: true }, 'key_mismatch'],
  ])('does not open with %s', async (_, { password, otherKey = false }, reason) => {
    const paper = aCertificate({ rut: RUT, otherKey });

    const opened = await openPkcs12(Buffer.from(paper.certB64, 'base64'), password ?? paper.password);

    expect(outcome(opened)).toBe(reason);
  });

  test('opens with a password beyond ASCII also where the first, wrong reading of it is padded well', () => {
    const { privateKeyPem, certificatePem } = aCertificate({ rut: RUT });
    const key = forge.pki.privateKeyFromPem(privateKeyPem);
    const certificate = forge.pki.certificateFromPem(certificatePem);
    // Its salt is new at every turn: each has one chance in 256.
    const files = Array.from({ length: 1_500 }, () => {
      const options = { algorithm: 'aes256', count: 1, useMac: false } as const;
      const pfx = forge.pkcs12.toPkcs12Asn1(key, [certificate], forge.util.encodeUtf8('ñandú€'), options);
      return Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1');
    });

    expect(files.filter((file) => !openContainer(file, 'ñandú€').ok)).toHaveLength(0);
  });

  test('opens one of many at a time, each to its own', async () => {
    const papers = ['A', 'B', 'C'].map((legalName) =>
      aCertificate({ rut: RUT, legalName, password: legalName }),
    );

    const opened = await Promise.all(
      papers.map((one) => openPkcs12(Buffer.from(one.certB64, 'base64'), one.password)),
    );

    expect(opened.map((one) => one.ok && one.identity.commonName)).toEqual(['A', 'B', 'C']);
  });
});

describe('what is no .p12', () => {
  const certificate = new X509Certificate(aCertificate({ rut: RUT }).certificatePem).raw;
  const p12 = Buffer.from(aCertificate({ rut: RUT }).certB64, 'base64');

  test.each<[string, Uint8Array]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('-----BEGIN CERTIFICATE-----')],
    ['a certificate', certificate],
    ['the first half of one', p12.subarray(0, p12.length / 2)],
    ['sequences within sequences', Buffer.alloc(60_000, Buffer.from('3080', 'hex'))],
    ['a file of a megabyte', Buffer.concat([p12, Buffer.alloc(1024 * 1024)])],
  ])('%s is not opened', async (_, file) => {
    expect(outcome(await openPkcs12(file, 'clave de prueba'))).toBe('not_pkcs12');
  });
});

describe('a key that OpenSSL would compute with for long, where nothing stops it', () => {
  const paper = aCertificate({ rut: RUT });
  const small = hugeNumber(128);

  test('is not read unless it is RSA', async () => {
    const [tiny, large] = [64, 4_096].map((bytes) => dsaP12(paper.certificatePem, bytes));

    expect(outcome(await openPkcs12(tiny ?? Buffer.of(), ''))).toBe('not_rsa');
    expect(outcome(await openPkcs12(large ?? Buffer.of(), ''))).toBe('not_rsa');
  });

  test.each<[string, (key: forge.pki.rsa.PrivateKey) => Partial<forge.pki.rsa.PrivateKey>, string]>([
    ['the numbers of a sound key', () => ({}), 'opened'],
    ['a modulus of 8,200 bits', () => ({ n: hugeNumber(1_025) }), 'not_rsa'],
    ['a prime of 8,000 bytes', () => ({ p: hugeNumber(8_000) }), 'not_rsa'],
    ['primes that are not those of the modulus', () => ({ p: small, q: small }), 'not_rsa'],
    ['a private exponent of 8,000 bytes', () => ({ d: hugeNumber(8_000) }), 'not_rsa'],
    ['an exponent of a prime as long as the modulus', ({ n }) => ({ dP: n }), 'not_rsa'],
    ['a coefficient as long as the modulus', ({ n }) => ({ qInv: n }), 'not_rsa'],
    ['a public exponent of 128 bytes', () => ({ e: small }), 'not_rsa'],
  ])('is not read with %s', async (_, change, reason) => {
    expect(outcome(await openPkcs12(rsaP12(paper, change), ''))).toBe(reason);
  });

  test('nor a file with more keys or certificates than a company has', async () => {
    const files = [{ keys: 5 }, { certificates: 17 }, { keys: 4, certificates: 16 }].map((times) =>
      rsaP12(paper, () => ({}), times),
    );

    const outcomes = await Promise.all(files.map(async (file) => outcome(await openPkcs12(file, ''))));

    expect(outcomes).toEqual(['too_costly', 'too_costly', 'opened']);
  });

  test('nor a certificate with another inside as PEM, which Node would read in its place', () => {
    const [shown, hidden] = [paper, aCertificate({ rut: RUT })].map(
      ({ certificatePem }) => new X509Certificate(certificatePem),
    ) as [X509Certificate, X509Certificate];
    const { asn1 } = forge;
    const [signed] = asn1.fromDer(shown.raw.toString('latin1')).value as forge.asn1.Asn1[];
    const octets = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, `\n${hidden.toString()}`);
    const both = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [
      signed as forge.asn1.Asn1,
      octets,
    ]);
    const der = Buffer.from(asn1.toDer(both).getBytes(), 'latin1');
    expect(new X509Certificate(der).serialNumber).toBe(hidden.serialNumber);

    expect([shown.raw, hidden.raw, der].map(hasRsaKey)).toEqual([true, true, false]);
  });

  test('nothing that is cut short or has other bytes is taken for a key', () => {
    const pem = forge.pki.privateKeyFromPem(rsaKey('company', 1024));
    const der = forge.asn1.toDer(forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(pem))).getBytes();
    const key = Buffer.from(der, 'latin1');

    expect(isRsaKey(key)).toBe(true);
    expect(key.findIndex((_, end) => isRsaKey(key.subarray(0, end)))).toBe(-1);
  });
});

describe('a count of rounds below one', () => {
  test.each([
    ['-2,147,483,648', [0x80, 0, 0, 0]],
    ['0', [0, 0, 0, 0]],
  ])('is refused before it is counted: %s', (_, bytes) => {
    expect(openContainer(roundsP12(Buffer.from(bytes)), 'ñandú')).toEqual({
      ok: false,
      reason: 'too_costly',
    });
  });
});

(hasOpenssl ? describe : describe.skip)(
  'a .p12 as OpenSSL writes it (skipped where there is no openssl)',
  () => {
    let folder: string;
    const openssl = (...words: string[]) =>
      execFileSync('openssl', words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const rsa = ['-inkey', 'rsa.pem', '-in', 'rsa.crt'];
    const file = (password: string, words: string[]): Buffer => {
      openssl('pkcs12', '-export', '-out', 'out.p12', '-passout', `pass:${password}`, ...words);
      return readFileSync(join(folder, 'out.p12'));
    };

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'cfe-p12-'));
      const subject = ['-utf8', '-subj', `/C=UY/serialNumber=RUC${RUT}/CN=Ñandú`];
      openssl(
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        'rsa.pem',
        '-out',
        'rsa.crt',
        '-days',
        '9',
        ...subject,
      );
      openssl('req', '-x509', '-new', '-key', 'rsa.pem', '-out', 'longer.crt', '-days', '99', ...subject);
      openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'ec.pem');
      openssl('req', '-x509', '-new', '-key', 'ec.pem', '-out', 'ec.crt', '-days', '9', ...subject);
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test.each<[string, string, string[]]>([
      ['PBES2, AES-256, HMAC-SHA-256 (today’s default)', 'secret', []],
      ['RC2-40 and 3DES (-legacy)', 'secret', ['-legacy']],
      [
        '3DES and SHA-1',
        'secret',
        ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'],
      ],
      ['PBES2 and a password beyond ASCII', 'contraseña€', []],
      ['RC2-40 and a password beyond ASCII', 'contraseña€', ['-legacy']],
      ['no MAC', 'secret', ['-nomac']],
      ['no MAC and a password beyond ASCII', 'contraseña€', ['-nomac']],
      ['contents in the clear', 'secret', ['-keypbe', 'NONE', '-certpbe', 'NONE']],
      ['a certificate of somebody else beside', 'secret', ['-certfile', 'ec.crt']],
    ])('opens: %s', async (_, password, words) => {
      const bytes = file(password, [...rsa, ...words]);

      const opened = await openPkcs12(bytes, password);

      const certificateDer = new X509Certificate(readFileSync(join(folder, 'rsa.crt'))).raw;
      expect(opened).toMatchObject({
        ok: true,
        identity: { commonName: 'Ñandú', certificateDer, modulusBits: 2048 },
      });
      expect(outcome(await openPkcs12(bytes, `${password}x`))).toBe('wrong_password');
    });

    test('a password beyond ASCII may cost as many rounds as another', async () => {
      const bytes = file('contraseña', [...rsa, '-iter', '200000']);

      expect(outcome(await openPkcs12(bytes, 'contraseña'))).toBe('opened');
    });

    test('of two certificates for its key the one that lasts longest counts', async () => {
      const opened = await openPkcs12(file('secret', [...rsa, '-certfile', 'longer.crt']), 'secret');

      const { validToDate } = new X509Certificate(readFileSync(join(folder, 'longer.crt')));
      expect(opened).toMatchObject({ ok: true, identity: { notAfter: validToDate } });
    });

    test.each<[string, string[], string]>([
      ['a key that is not RSA', ['-inkey', 'ec.pem', '-in', 'ec.crt'], 'not_rsa'],
      ['no key', ['-nokeys', '-in', 'rsa.crt'], 'no_key'],
      ['no certificate', ['-inkey', 'rsa.pem', '-nocerts'], 'no_certificate'],
      ['a derivation of two million rounds', [...rsa, '-iter', '2000000'], 'too_costly'],
      [
        'two million rounds of PKCS#12’s own derivation',
        [...rsa, '-nomac', '-iter', '2000000', '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES'],
        'too_costly',
      ],
      ['three derivations of 250,000 rounds', [...rsa, '-iter', '250000'], 'too_costly'],
      ['310,000 rounds of SHA-512', [...rsa, '-iter', '310000', '-macalg', 'sha512'], 'too_costly'],
      ['three derivations of 50,000 rounds', [...rsa, '-iter', '50000'], 'opened'],
    ])('with %s', async (_, words, reason) => {
      expect(outcome(await openPkcs12(file('secret', words), 'secret'))).toBe(reason);
    });
  },
);
