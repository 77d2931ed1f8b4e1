import { createPublicKey, type KeyObject } from 'node:crypto';
import forge from 'node-forge';

/** A certificate for a key by that key itself (DER), with the RUC of a trial company; for signatures in tests. */
export function selfSignedCertificate(
  privateKey: KeyObject,
  options: { rut?: string; notBefore?: Date; notAfter?: Date } = {},
): Buffer {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(
    createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
  );
  certificate.serialNumber = '1806a828d87928d2530cc31669124938';
  certificate.validity.notBefore = options.notBefore ?? new Date('2026-01-01T00:00:00Z');
  certificate.validity.notAfter = options.notAfter ?? new Date('2036-01-01T00:00:00Z');
  const name = [
    { name: 'countryName', value: 'UY' },
    { name: 'serialNumber', value: `RUC${options.rut ?? '219999830019'}` },
    { name: 'commonName', value: 'Empresa de prueba' },
  ];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  certificate.sign(forge.pki.privateKeyFromPem(pem), forge.md.sha256.create());
  return Buffer.from(forge.asn1.toDer(forge.pki.certificateToAsn1(certificate)).getBytes(), 'binary');
}
