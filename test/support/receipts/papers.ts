import { generateKeyPairSync, randomInt } from 'node:crypto';
import forge from 'node-forge';
import { SignedXml } from 'xml-crypto';

/** The RUTs of the authority of the tests, which are the real one's. */
export const AUTHORITY_RUT_VARIABLES = { production: '214844360018', sandbox: '219999830019' } as const;

const DAY = 86_400_000;
const ISSUER_NAME = [
  { shortName: 'C', value: 'UY' },
  { shortName: 'CN', value: 'Prueba - CA' },
];

/** RSA keys are dear: each size is made once per process and shared by all papers that do not ask for a fresh one. */
const keys = new Map<string, string>();

/** A private RSA key, PEM. The same `name` and `bits` give the same key. */
export function rsaKey(name: string, bits = 2048): string {
  const id = `${name}:${bits}`;
  const key =
    keys.get(id) ??
    generateKeyPairSync('rsa', {
      modulusLength: bits,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    }).privateKey;
  keys.set(id, key);
  return key;
}

/** The RUT whose first eleven digits are `body`, or null when none has them (check digit 10). */
function rutOf(body: string): string | null {
  const weights = [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const sum = weights.reduce((total, weight, i) => total + weight * Number(body[i]), 0);
  const digit = (11 - (sum % 11)) % 11;
  return digit === 10 ? null : `${body}${digit}`;
}

/** Test files that share a stack begin at different places. */
let lastRut = 21_000_000_000 + randomInt(900_000_000);
/** A valid RUT that no other call in this process gave. */
export function aRut(): string {
  for (;;) {
    lastRut += 10_001;
    const rut = rutOf(String(lastRut));
    if (rut) return rut;
  }
}

/** Whoever signs certificates; two names are two authorities of the same subject. */
export interface Issuer {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** An authority that issues certificates to companies. */
export function anIssuer(name: string, wishes: { notAfter?: Date } = {}): Issuer {
  const keyPem = rsaKey(name);
  const key = forge.pki.privateKeyFromPem(keyPem);
  const certificate = forge.pki.createCertificate();
  certificate.serialNumber = '01';
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  certificate.validity.notBefore = new Date('2010-01-01T00:00:00Z');
  certificate.validity.notAfter = wishes.notAfter ?? new Date(Date.now() + 3_650 * DAY);
  certificate.setSubject(ISSUER_NAME);
  certificate.setIssuer(ISSUER_NAME);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  certificate.sign(key, forge.md.sha256.create());
  return { certificatePem: pemOf(certificate), keyPem };
}

/** The authority of the tests' certificates; an API of the tests takes those that it issued. */
export const papersCa = (): Issuer => anIssuer('papers CA');

export interface CertificateWishes {
  rut: string;
  legalName?: string;
  /** Text of subject serialNumber; `RUC` + rut unless told. */
  serialNumber?: string;
  notBefore?: Date;
  notAfter?: Date;
  bits?: number;
  /** Who issued it; the test authority unless told (PAPERS_CA). */
  issuer?: Issuer;
  /** Its key usage; none unless told. */
  keyUsage?: { digitalSignature?: boolean; nonRepudiation?: boolean; keyEncipherment?: boolean };
  /** Puts the key of another pair into the .p12. */
  otherKey?: boolean;
  password?: string;
}

export interface CertificatePapers {
  /** The .p12, base64. */
  certB64: string;
  password: string;
  certificatePem: string;
  privateKeyPem: string;
  /** Holder name (CN). */
  subject: string;
}

/** A .p12 as a company gets it from a certification authority; valid for two years around today unless told. */
export function aCertificate(wishes: CertificateWishes): CertificatePapers {
  const {
    rut,
    legalName = 'Comercial Ñandú S.A.',
    serialNumber = `RUC${rut}`,
    notBefore = new Date(Date.now() - 365 * DAY),
    notAfter = new Date(Date.now() + 365 * DAY),
    bits = 2048,
    password = 'clave de prueba',
  } = wishes;
  const privateKeyPem = rsaKey('company', bits);
  const certificate = issueCertificate({
    keyPem: privateKeyPem,
    subject: { commonName: legalName, serialNumber },
    notBefore,
    notAfter,
    issuer: wishes.issuer ?? papersCa(),
    keyUsage: wishes.keyUsage,
  });
  const key = forge.pki.privateKeyFromPem(wishes.otherKey ? rsaKey('stranger', bits) : privateKeyPem);
  const p12 = forge.pkcs12.toPkcs12Asn1(key, [certificate], password, { algorithm: '3des', count: 64 });
  return {
    certB64: forge.util.encode64(forge.asn1.toDer(p12).getBytes()),
    password,
    certificatePem: pemOf(certificate),
    privateKeyPem,
    subject: legalName,
  };
}

/** A .p12, base64, whose MAC takes `rounds` to look at and then does not hold. */
export function costlyP12(certB64: string, rounds: number): string {
  const pfx = forge.asn1.fromDer(forge.util.decode64(certB64));
  const [, , mac] = pfx.value as forge.asn1.Asn1[];
  const [, , count] = (mac?.value ?? []) as forge.asn1.Asn1[];
  if (!count) throw new Error('a .p12 without a count');
  count.value = forge.asn1.integerToDer(rounds).getBytes();
  return forge.util.encode64(forge.asn1.toDer(pfx).getBytes());
}

/** forge ends lines with CR LF, which xml-crypto does not take. */
const pemOf = (certificate: forge.pki.Certificate): string =>
  forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');

let serial = 0x1000;

function issueCertificate(of: {
  keyPem: string;
  subject: { commonName: string; serialNumber: string };
  notBefore: Date;
  notAfter: Date;
  issuer?: Issuer;
  keyUsage?: CertificateWishes['keyUsage'];
}): forge.pki.Certificate {
  const key = forge.pki.privateKeyFromPem(of.keyPem);
  const certificate = forge.pki.createCertificate();
  serial += 1;
  certificate.serialNumber = `01${serial.toString(16).padStart(14, '0')}`;
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  certificate.validity.notBefore = of.notBefore;
  certificate.validity.notAfter = of.notAfter;
  const utf8 = forge.asn1.Type.UTF8 as unknown as forge.asn1.Class;
  const name = [
    { shortName: 'C', value: 'UY' },
    { name: 'serialNumber', value: of.subject.serialNumber },
    { shortName: 'CN', value: of.subject.commonName, valueTagClass: utf8 },
  ];
  certificate.setSubject(name);
  certificate.setIssuer(ISSUER_NAME);
  if (of.keyUsage) certificate.setExtensions([{ name: 'keyUsage', ...of.keyUsage }]);
  certificate.sign(of.issuer ? forge.pki.privateKeyFromPem(of.issuer.keyPem) : key, forge.md.sha256.create());
  return certificate;
}

export interface CaeWishes {
  rut: string;
  /** TCFE. */
  code?: number;
  serie?: string;
  from?: number;
  to?: number;
  /** Eleven digits; one that no other call gave unless told. */
  authorizationNumber?: string;
  issueDate?: string;
  expirationDate?: string;
  special?: { kind: number; cause?: string };
}

export interface Authority {
  /** The certificate that must be among the trusted ones for its CAEs to count. */
  certificatePem: string;
  /** A signed CAE file, as XML text. */
  caeXml(wishes: CaeWishes): string;
  /** The same, base64, as an upload carries it. */
  cae(wishes: CaeWishes): string;
}

let lastAuthorization = 90_260_000_000;

/** An authority that signs CAE files the way the real one does, production's unless told; two names are two signers. */
export function anAuthority(
  name = 'authority',
  {
    rut = AUTHORITY_RUT_VARIABLES.production,
    notAfter = new Date(Date.now() + 365 * DAY),
  }: { rut?: string; notAfter?: Date } = {},
): Authority {
  const keyPem = rsaKey(name);
  const certificate = issueCertificate({
    keyPem,
    subject: { commonName: `${name} TEST`, serialNumber: `RUC${rut}` },
    notBefore: new Date(Date.now() - 365 * DAY),
    notAfter,
  });
  const certificatePem = pemOf(certificate);
  const caeXml = (wishes: CaeWishes) => sign(caeDocument(wishes), keyPem, certificatePem);
  return {
    certificatePem,
    caeXml,
    cae: (wishes) => Buffer.from(caeXml(wishes), 'utf8').toString('base64'),
  };
}

function caeDocument(wishes: CaeWishes): string {
  lastAuthorization += 1;
  const { rut, code = 101, serie = 'A', from = 1, to = 10_000, special } = wishes;
  const issueDate = wishes.issueDate ?? day(-30);
  const expirationDate = wishes.expirationDate ?? day(700);
  const authorization = wishes.authorizationNumber ?? String(lastAuthorization);
  const specials = special
    ? `<ns0:CAEEspecial>${special.kind}</ns0:CAEEspecial>${special.cause ? `<ns0:CausalCAEEsp>${special.cause}</ns0:CausalCAEEsp>` : ''}`
    : '';
  return (
    '<ns0:CAE xmlns:ns0="http://cfe.dgi.gub.uy" version="1.0">' +
    `<ns0:TmstFrma>${issueDate}T12:00:00-03:00</ns0:TmstFrma><ns0:DA>` +
    `<ns0:RucE>${rut}</ns0:RucE><ns0:TCFE>${code}</ns0:TCFE><ns0:Serie>${serie}</ns0:Serie>` +
    `<ns0:DNro>${from}</ns0:DNro><ns0:HNro>${to}</ns0:HNro><ns0:TA>E</ns0:TA><ns0:NA>${authorization}</ns0:NA>` +
    `<ns0:FA>${issueDate}</ns0:FA><ns0:FVD>${expirationDate}</ns0:FVD>${specials}</ns0:DA></ns0:CAE>`
  );
}

/** A day so many days from today in Montevideo, `YYYY-MM-DD`. */
export function day(offset: number, from: Date = new Date()): string {
  return new Date(from.getTime() - 3 * 3_600_000 + offset * DAY).toISOString().slice(0, 10);
}

function sign(xml: string, privateKey: string, certificatePem: string): string {
  const c14n = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
  const signer = new SignedXml({
    privateKey,
    publicCert: certificatePem,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: c14n,
  });
  signer.addReference({
    xpath: '/*',
    isEmptyUri: true,
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', c14n],
  });
  signer.computeSignature(xml);
  return signer.getSignedXml();
}
