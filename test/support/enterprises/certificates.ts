/** Certificate authorities, and certificates of servers and clients by them, for tests of TLS. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';

/** PEM files of one holder. */
export interface PemFiles {
  readonly cert: string;
  readonly key: string;
}

export interface TestAuthority {
  /** Its certificate, a file in PEM. */
  readonly ca: string;
  /** A certificate by it: for a server that is known by the DNS name `host`, or without one for a client called `name`. */
  issue(name: string, host?: string): PemFiles;
}

/** A certificate authority in a folder of its own. */
export function testAuthority(folder: string, name: string): TestAuthority {
  mkdirSync(folder, { recursive: true });
  const own = newKey();
  const ca = unsigned(name, name, own);
  ca.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  const write = (holder: string, certificate: forge.pki.Certificate, key: string): PemFiles => {
    certificate.sign(forge.pki.privateKeyFromPem(own), forge.md.sha256.create());
    const files = { cert: join(folder, `${holder}.pem`), key: join(folder, `${holder}-key.pem`) };
    writeFileSync(files.cert, forge.pki.certificateToPem(certificate));
    writeFileSync(files.key, key, { mode: 0o600 });
    return files;
  };
  return {
    ca: write('ca', ca, own).cert,
    issue(holder, host) {
      const key = newKey();
      const certificate = unsigned(holder, name, key);
      certificate.setExtensions([
        { name: 'basicConstraints', cA: false },
        { name: 'extKeyUsage', serverAuth: host !== undefined, clientAuth: host === undefined },
        ...(host === undefined ? [] : [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }]),
      ]);
      return write(holder, certificate, key);
    },
  };
}

const newKey = (): string =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

function unsigned(subject: string, issuer: string, keyPem: string): forge.pki.Certificate {
  const { n, e } = forge.pki.privateKeyFromPem(keyPem);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(n, e);
  // A serial number is positive: its first bit is 0.
  certificate.serialNumber = `0${randomBytes(16).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(Date.now() - 3_600_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  certificate.setSubject([{ name: 'commonName', value: subject }]);
  certificate.setIssuer([{ name: 'commonName', value: issuer }]);
  return certificate;
}
