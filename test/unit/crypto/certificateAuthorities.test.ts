import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isCertified } from '../../../src/crypto/certificateAuthorities.ts';
import { readCertificateAuthorities } from '../../../src/wiring/certificateAuthorities.ts';
import { aCertificate, anIssuer, aRut, papersCa } from '../../support/receipts/papers.ts';

const authority = papersCa();
const authorities = [new X509Certificate(authority.certificatePem)];
const now = new Date();
const derOf = (pem: string) => new X509Certificate(pem).raw;
const isTaken = (certificatePem: string, at = now) => isCertified(derOf(certificatePem), authorities, at);

describe('a certificate of an enterprise', () => {
  test('that a configured authority issued counts', () => {
    expect(isTaken(aCertificate({ rut: aRut() }).certificatePem)).toBe(true);
  });

  test('of an authority of the same name and another key does not', () => {
    expect(isTaken(aCertificate({ rut: aRut(), issuer: anIssuer('stranger') }).certificatePem)).toBe(false);
  });

  test('that another enterprise issued does not, though an authority issued that one’s', () => {
    const { certificatePem, privateKeyPem } = aCertificate({ rut: aRut() });
    const issued = aCertificate({ rut: aRut(), issuer: { certificatePem, keyPem: privateKeyPem } });
    expect(isTaken(issued.certificatePem)).toBe(false);
  });

  test('does not count where the authority’s own had ended', () => {
    const issuer = anIssuer('ended', { notAfter: new Date('2020-01-01T00:00:00Z') });
    const { certificatePem } = aCertificate({ rut: aRut(), issuer });
    const ended = [new X509Certificate(issuer.certificatePem)];
    expect(isCertified(derOf(certificatePem), ended, now)).toBe(false);
    expect(isCertified(derOf(certificatePem), ended, new Date('2019-12-31T00:00:00Z'))).toBe(true);
  });

  test('is none where it cannot be read; none at all counts without an authority, every one with "any"', () => {
    const { certificatePem } = aCertificate({ rut: aRut(), issuer: anIssuer('stranger') });
    expect(isCertified(Buffer.from('certificate'), authorities, now)).toBe(false);
    expect(isCertified(derOf(certificatePem), [], now)).toBe(false);
    expect(isCertified(derOf(certificatePem), 'any', now)).toBe(true);
  });
});

describe('CFE_CERTIFICATE_CA_FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-authorities-'));
  const read = (content: string) => {
    const path = join(folder, 'authorities.pem');
    writeFileSync(path, content);
    return readCertificateAuthorities({ CFE_CERTIFICATE_CA_FILE: path });
  };

  test('names the authorities, whatever stands between their certificates', () => {
    const pem = `Correo\n${authority.certificatePem}\nAbitab\n${anIssuer('other').certificatePem}`;
    expect(read(pem)).toHaveLength(2);
    expect(readCertificateAuthorities({ CFE_CERTIFICATE_CA_FILE: 'any' })).toBe('any');
  });

  test.each([
    ['nothing', '', /holds no certificate in PEM/],
    [
      'what is no certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      /certificate 1 cannot be read/,
    ],
    [
      'an enterprise’s certificate',
      authority.certificatePem + aCertificate({ rut: aRut() }).certificatePem,
      /certificate 2 is not a certification authority/,
    ],
  ])('is refused with %s', (_what, content, message) => {
    expect(() => read(content)).toThrow(message);
  });

  test('is refused where there is no such file', () => {
    const path = join(folder, 'none.pem');
    expect(() => readCertificateAuthorities({ CFE_CERTIFICATE_CA_FILE: path })).toThrow(
      `CFE_CERTIFICATE_CA_FILE names ${path}, which cannot be read`,
    );
  });
});
