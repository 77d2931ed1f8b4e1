import { generateKeyPair, randomBytes, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';

/** A certificate with its private key, both PEM. */
export interface Credential {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Who a certificate is for. `rut` (12 digits) becomes the subject's serialNumber `RUC…`. */
export interface Subject {
  readonly commonName: string;
  readonly rut?: string;
}

const generate = promisify(generateKeyPair);

/**
 * A new RSA-2048 certificate, signed with sha256 by `issuer`, or by itself as a root. node:crypto makes the keys,
 * node-forge the certificate.
 */
export async function issueCertificate(request: {
  readonly subject: Subject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer?: Credential;
}): Promise<Credential> {
  const pair = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey);
  certificate.serialNumber = `4${randomBytes(16).toString('hex').slice(1)}`; // positive, and long as real ones are
  certificate.validity.notBefore = request.notBefore;
  certificate.validity.notAfter = request.notAfter;
  const name = [
    { name: 'countryName', value: 'UY' },
    { name: 'organizationName', value: request.subject.commonName, valueTagClass: UTF8 },
    { name: 'commonName', value: request.subject.commonName, valueTagClass: UTF8 },
    ...(request.subject.rut === undefined ? [] : [{ type: '2.5.4.5', value: `RUC${request.subject.rut}` }]),
  ];
  certificate.setSubject(name);
  const { issuer } = request;
  certificate.setIssuer(issuer ? forge.pki.certificateFromPem(issuer.certificate).subject.attributes : name);
  certificate.setExtensions(
    issuer
      ? [
          {
            name: 'keyUsage',
            digitalSignature: true,
            nonRepudiation: true,
            keyEncipherment: true,
            dataEncipherment: true,
          },
          { name: 'extKeyUsage', clientAuth: true },
        ]
      : [
          { name: 'basicConstraints', cA: true, critical: true },
          { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
        ],
  );
  certificate.sign(
    forge.pki.privateKeyFromPem(issuer?.privateKey ?? pair.privateKey),
    forge.md.sha256.create(),
  );
  return {
    certificate: forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n'),
    privateKey: pair.privateKey,
  };
}

// node-forge's types declare the field as a class of ASN.1 tags; in fact it takes the number of the string type.
const UTF8 = forge.asn1.Type.UTF8 as unknown as forge.asn1.Class;

/** The credential as a password-protected .p12 file; 3DES, because every reader opens it. */
export function toPkcs12(credential: Credential, password: string, friendlyName: string): Buffer {
  const asn1 = forge.pkcs12.toPkcs12Asn1(
    forge.pki.privateKeyFromPem(credential.privateKey),
    [forge.pki.certificateFromPem(credential.certificate)],
    password,
    { algorithm: '3des', friendlyName, generateLocalKeyId: true },
  );
  return Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary');
}

/** Whether `issuer` signed the certificate, whatever its dates. */
export function wasIssuedBy(certificate: X509Certificate, issuer: Credential): boolean {
  const parent = new X509Certificate(issuer.certificate);
  return certificate.checkIssued(parent) && certificate.verify(parent.publicKey);
}
