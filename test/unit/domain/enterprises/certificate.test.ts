import { describe, expect, test } from '@jest/globals';
import {
  CERTIFICATE_RULES,
  type CertificateFacts,
  type CertificateRule,
  certificateFault,
  certificateFaults,
  certificateStatus,
} from '../../../../src/domain/enterprises/certificate.ts';

const FACTS: CertificateFacts = {
  subjectSerialNumber: 'RUC219999830019',
  notBefore: new Date('2025-01-01T12:00:00Z'),
  notAfter: new Date('2027-01-01T12:00:00Z'),
  rsaBits: 2048,
  keyMatches: true,
  maySign: true,
  isKnown: true,
};
const judged = (facts: Partial<CertificateFacts>) =>
  certificateFaults({ ...FACTS, ...facts }, { rut: '219999830019', now: new Date('2026-02-15T12:00:00Z') });

describe('an uploaded certificate', () => {
  test('that is sound is taken', () => {
    expect(judged({})).toEqual([]);
    expect(
      judged({
        rsaBits: 4096,
        notBefore: new Date('2026-02-15T12:00:00Z'),
        notAfter: new Date('2026-02-15T12:00:00Z'),
      }),
    ).toEqual([]);
  });

  test.each<[CertificateRule, Partial<CertificateFacts>]>([
    ['certificate.key_mismatch', { keyMatches: false }],
    ['certificate.not_rsa', { rsaBits: null }],
    ['certificate.rsa_too_short', { rsaBits: 1024 }],
    ['certificate.other_rut', { subjectSerialNumber: 'RUC219999820013' }],
    ['certificate.key_usage', { maySign: false }],
    ['certificate.unknown_issuer', { isKnown: false }],
    ['certificate.expired', { notAfter: new Date('2026-01-31T12:00:00Z') }],
    ['certificate.not_yet_valid', { notBefore: new Date('2026-03-01T12:00:00Z') }],
  ])('is refused with %s, alone, with the message of its row', (code, facts) => {
    const { path, example: message } = CERTIFICATE_RULES[code];
    expect(judged(facts)).toEqual([{ path, code, message }]);
  });

  test.each([null, '219999830019', 'RUC 219999830019', 'RUC2199998300190', 'ruc219999830019'])(
    'of the subject %j is another company’s',
    (subjectSerialNumber) => {
      expect(judged({ subjectSerialNumber }).map(({ code }) => code)).toEqual(['certificate.other_rut']);
    },
  );

  test('of a person is refused without telling who', () => {
    expect(judged({ subjectSerialNumber: 'CI12345678' })[0]?.message).not.toContain('12345678');
  });

  test('with many faults is told all of them', () => {
    expect(judged({ rsaBits: 512, subjectSerialNumber: null, notAfter: new Date(0) })).toHaveLength(3);
  });

  test('that does not open is told at the file or at the password', () => {
    expect(certificateFault('certificate.wrong_password').path).toBe('/password');
    expect(certificateFault('certificate.not_pkcs12').path).toBe('/cert_b64');
  });
});

test('the status of a certificate is by its last moment', () => {
  const at = (now: string, revoked = false) => certificateStatus({ ...FACTS, revoked }, new Date(now));

  expect([at('2027-01-01T12:00:00Z'), at('2027-01-01T12:00:00.001Z')]).toEqual(['VALID', 'EXPIRED']);
  expect(at('2027-01-01T12:00:00Z', true)).toBe('REVOKED');
  expect([certificateStatus(null, new Date(0)), certificateStatus(undefined, new Date(0))]).toEqual([
    'NONE',
    'NONE',
  ]);
});
