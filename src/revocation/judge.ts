/** Reads certificates, revocation lists (RFC 5280) and answers of OCSP responders (RFC 6960), and judges them. */
import { verify, X509Certificate } from 'node:crypto';
import {
  BasicOCSPResponse,
  Certificate,
  CertificateRevocationList,
  type CRLDistributionPoints,
  type GeneralName,
  type InfoAccess,
  type IssuingDistributionPoint,
  OCSPRequest,
  OCSPResponse,
  type RevokedCertificate,
} from 'pkijs';
import type { Issued } from '../crypto/revocation.ts';
import { hasRsaKey } from '../crypto/rsa.ts';
import { isValidAt } from '../crypto/x509.ts';

const OCSP_ACCESS = '1.3.6.1.5.5.7.48.1';
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
const BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1';
const EXTENSIONS = {
  reason: '2.5.29.21',
  deltaIndicator: '2.5.29.27',
  issuingPoint: '2.5.29.28',
  distributionPoints: '2.5.29.31',
  infoAccess: '1.3.6.1.5.5.7.1.1',
} as const;
/** Reason in a delta list: the certificate is revoked no longer. */
const REMOVED = 8;
const URI_NAME = 6;
const MOST_ADDRESSES = 2;
/** Clocks of authorities may be ahead. */
const SKEW_MILLISECONDS = 300_000;

/** Accepted signatures; SHA-1 is none. */
const HASHES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
};

/** A judgement, with the end of its validity. */
export interface Judgement {
  readonly revoked: boolean;
  readonly nextUpdate: Date | undefined;
}

interface Addresses {
  readonly responders: readonly string[];
  readonly lists: readonly string[];
}

const read = (der: Uint8Array): Certificate => Certificate.fromBER(der);

/** Returns the addresses in a certificate that tell whether it is revoked, http and https only. */
export function revocationAddresses(der: Uint8Array): Addresses {
  const { extensions = [] } = read(der);
  const parsed = (id: string): unknown => extensions.find(({ extnID }) => extnID === id)?.parsedValue;
  const points = parsed(EXTENSIONS.distributionPoints) as CRLDistributionPoints | undefined;
  const access = parsed(EXTENSIONS.infoAccess) as InfoAccess | undefined;
  const names = (points?.distributionPoints ?? []).flatMap(({ distributionPoint }) =>
    Array.isArray(distributionPoint) ? distributionPoint : [],
  );
  const responders = (access?.accessDescriptions ?? [])
    .filter(({ accessMethod }) => accessMethod === OCSP_ACCESS)
    .map(({ accessLocation }) => accessLocation);
  return { responders: addressesOf(responders), lists: addressesOf(names) };
}

const addressesOf = (names: readonly GeneralName[]): string[] =>
  names
    .filter(({ type }) => type === URI_NAME)
    .map(({ value }) => String(value))
    .filter((address) => /^https?:\/\//i.test(address) && URL.canParse(address))
    .slice(0, MOST_ADDRESSES);

/** Returns the question to a responder, DER. */
export async function ocspQuestion({ certificate, issuer }: Issued): Promise<Uint8Array> {
  const request = new OCSPRequest();
  await request.createForCertificate(read(certificate), {
    hashAlgorithm: 'SHA-1',
    issuerCertificate: read(issuer),
  });
  return new Uint8Array(request.toSchema(true).toBER());
}

/** Judges by a responder's answer (DER); undefined without a valid one. Throws for malformed DER. */
export async function judgeOcsp(
  { certificate, issuer }: Issued,
  answer: Uint8Array,
  now: Date,
): Promise<Judgement | undefined> {
  const { responseBytes } = OCSPResponse.fromBER(answer);
  if (responseBytes?.responseType !== BASIC_RESPONSE) return undefined;
  const basic = BasicOCSPResponse.fromBER(responseBytes.response.valueBlock.valueHexView);
  const own = new X509Certificate(issuer);
  const others = (basic.certs ?? [])
    .slice(0, MOST_ADDRESSES)
    .map((one) => new Uint8Array(one.toSchema(true).toBER()));
  const signers = [own, ...others.flatMap((der) => delegateOf(der, own, now))];
  const { tbsView } = basic.tbsResponseData;
  if (!signers.some((signer) => isSigned(basic, tbsView, signer))) return undefined;
  for (const response of basic.tbsResponseData.responses) {
    const only = new BasicOCSPResponse();
    only.tbsResponseData.responses = [response];
    const { isForCertificate, status } = await only.getCertificateStatus(read(certificate), read(issuer));
    if (!isForCertificate || status === 2) continue;
    const { thisUpdate, nextUpdate } = response;
    if (isCurrent(thisUpdate, nextUpdate, now)) return { revoked: status === 1, nextUpdate };
  }
  return undefined;
}

/** Returns the certificate if the issuer let it sign answers in its place; otherwise nothing. */
function delegateOf(der: Uint8Array, issuer: X509Certificate, now: Date): X509Certificate[] {
  if (!hasRsaKey(der)) return [];
  const one = new X509Certificate(der);
  const may =
    one.keyUsage?.includes(OCSP_SIGNING) &&
    isValidAt(one, now) &&
    one.checkIssued(issuer) &&
    one.verify(issuer.publicKey);
  return may ? [one] : [];
}

/** Judges by a revocation list (DER); undefined if it is not a valid one of the issuer. Throws for malformed DER. */
export function judgeList(
  { certificate, issuer }: Issued,
  list: Uint8Array,
  now: Date,
): Judgement | undefined {
  const crl = CertificateRevocationList.fromBER(list);
  const extensions = crl.crlExtensions?.extensions ?? [];
  const point = extensions.find(({ extnID }) => extnID === EXTENSIONS.issuingPoint)?.parsedValue as
    | IssuingDistributionPoint
    | undefined;
  // An indirect list has certificates of other issuers.
  if (point?.indirectCRL) return undefined;
  const nextUpdate = crl.nextUpdate?.value;
  if (!isCurrent(crl.thisUpdate.value, nextUpdate, now)) return undefined;
  if (
    !isSigned(
      { signatureAlgorithm: crl.signatureAlgorithm, signature: crl.signatureValue },
      crl.tbsView,
      new X509Certificate(issuer),
    )
  )
    return undefined;
  const serial = Buffer.from(read(certificate).serialNumber.valueBlock.valueHexView);
  const entry = crl.revokedCertificates?.find(({ userCertificate }) =>
    serial.equals(userCertificate.valueBlock.valueHexView),
  );
  if (entry) return { revoked: reasonOf(entry) !== REMOVED, nextUpdate };
  const isDelta = extensions.some(({ extnID }) => extnID === EXTENSIONS.deltaIndicator);
  return isDelta ? undefined : { revoked: false, nextUpdate };
}

function reasonOf({ crlEntryExtensions }: RevokedCertificate): number | undefined {
  const found = crlEntryExtensions?.extensions.find(({ extnID }) => extnID === EXTENSIONS.reason);
  return (found?.parsedValue as { valueBlock: { valueDec: number } } | undefined)?.valueBlock.valueDec;
}

function isSigned(
  { signatureAlgorithm, signature }: Pick<BasicOCSPResponse, 'signatureAlgorithm' | 'signature'>,
  content: Uint8Array,
  { publicKey }: X509Certificate,
): boolean {
  const hash = HASHES[signatureAlgorithm.algorithmId];
  return hash !== undefined && verify(hash, content, publicKey, signature.valueBlock.valueHexView);
}

const isCurrent = (thisUpdate: Date, nextUpdate: Date | undefined, now: Date): boolean =>
  thisUpdate.getTime() <= now.getTime() + SKEW_MILLISECONDS && nextUpdate !== undefined && now <= nextUpdate;
