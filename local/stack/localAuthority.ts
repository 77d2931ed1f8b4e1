/**
 * The local stack's own certificate authority: receivers of webhooks on 127.0.0.1 get their certificates from it
 * (docs/contract.md#local-stack).
 */
import { generateKeyPair, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import forge from 'node-forge';
import { writeAtOnce } from './writeAtOnce.ts';

const YEARS_VALID = 10;

/** The paths of the authority's certificate and private key. */
export interface AuthorityFiles {
  readonly certificate: string;
  readonly key: string;
}

/** The authority of a data folder, made when one of its files is missing. */
export async function openAuthority(dataDir: string): Promise<AuthorityFiles> {
  const files = { certificate: join(dataDir, 'ca.pem'), key: join(dataDir, 'ca-key.pem') };
  if (existsSync(files.certificate) && existsSync(files.key)) return files;
  const { certificatePem, keyPem } = await makeAuthority(new Date());
  writeAtOnce(files.key, keyPem, 0o600);
  writeAtOnce(files.certificate, certificatePem, 0o644);
  return files;
}

async function makeAuthority(now: Date): Promise<{ certificatePem: string; keyPem: string }> {
  const { privateKey: keyPem } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const key = forge.pki.privateKeyFromPem(keyPem);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  // A serial number is positive: its first bit is 0.
  certificate.serialNumber = `0${randomBytes(16).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(now.getTime() - 3_600_000);
  certificate.validity.notAfter = new Date(now);
  certificate.validity.notAfter.setFullYear(now.getFullYear() + YEARS_VALID);
  const name = [{ name: 'commonName', value: `CFE local stack authority ${randomBytes(3).toString('hex')}` }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  certificate.sign(key, forge.md.sha256.create());
  return { certificatePem: forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n'), keyPem };
}
