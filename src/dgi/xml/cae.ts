import type { Element } from '@xmldom/xmldom';
import { fingerprintOf, isValidAt } from '../../crypto/x509.ts';
import type { CaeFacts } from '../../domain/numbers/cae.ts';
import { parseInstant } from '../moments.ts';
import { CFE_NAMESPACE } from './cfe.ts';
import { childrenOf, decodeXml, elementAt, isNamed, parseXml, textAt, UnreadableXml } from './parse.ts';
import { BadSignature, verifyEnveloped } from './verify.ts';

/** CAE files have some 4 KB and 30 elements. */
const LIMITS = { mostCharacters: 64 * 1024, mostElements: 100 };

/** The signer of a CAE, to compare with the configured certificates of the authority. */
interface CaeSigner {
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string;
  /** Whether the certificate was valid when the CAE was signed (TmstFrma), which may be long ago. */
  readonly wasValid: boolean;
}

/** An uploaded file as read. The facts come from the signed content only. */
export type CaeReading =
  | { readonly kind: 'malformed' }
  | { readonly kind: 'badSignature' }
  | {
      readonly kind: 'signed';
      readonly facts: CaeFacts;
      /** The file, decoded. */
      readonly xml: string;
      readonly signer: CaeSigner;
    };

/**
 * Reads the XML of a CAE (Formato CAE v05, CAEType.xsd; docs/authority/caes.md#file) and verifies its signature with the
 * certificate inside. The caller must check that the certificate is the authority's and that the facts fit. Returns a
 * kind for every bad file.
 */
export function readCae(file: Uint8Array): CaeReading {
  try {
    if (file.byteLength > LIMITS.mostCharacters) return { kind: 'malformed' };
    const xml = decodeXml(file);
    // Checks the content first, to report a file that is not a CAE as malformed, not as badly signed.
    const root = parseXml(xml, LIMITS);
    if (!readContent(root)) return { kind: 'malformed' };
    const certificate = verifyEnveloped(root);
    const content = readContent(root);
    if (!content) return { kind: 'malformed' };
    return {
      kind: 'signed',
      facts: content.facts,
      xml,
      signer: {
        fingerprint: fingerprintOf(certificate),
        wasValid: isValidAt(certificate, content.signedAt),
      },
    };
  } catch (error) {
    if (error instanceof BadSignature) return { kind: 'badSignature' };
    if (error instanceof UnreadableXml) return { kind: 'malformed' };
    throw error;
  }
}

/** Returns the fields of the file; undefined when one is missing or malformed. */
function readContent(root: Element): { facts: CaeFacts; signedAt: Date } | undefined {
  if (!isNamed(root, 'CAE') || root.namespaceURI !== CFE_NAMESPACE) return undefined;
  const [moment, content, ...more] = childrenOf(root).filter((child) => !isNamed(child, 'Signature'));
  if (!moment || !isNamed(moment, 'TmstFrma') || !content || !isNamed(content, 'DA') || more.length > 0)
    return undefined;
  const signedAt = parseInstant(textAt(root, 'TmstFrma'));
  const data = elementAt(root, 'DA');
  const text = (name: string) => textAt(data, name);
  const [issuerRut, serie, authorizationNumber] = [text('RucE'), text('Serie'), text('NA')];
  const [issueDate, expirationDate] = [text('FA'), text('FVD')];
  const [typeCode, numberStart, numberEnd] = [
    digits(text('TCFE')),
    digits(text('DNro')),
    digits(text('HNro')),
  ];
  const kind = text('CAEEspecial');
  const special = kind === undefined ? undefined : { kind: digits(kind), cause: text('CausalCAEEsp') };
  if (!signedAt || !issuerRut || !serie || !authorizationNumber || !issueDate || !expirationDate)
    return undefined;
  if (typeCode === undefined || numberStart === undefined || numberEnd === undefined) return undefined;
  if (special && special.kind === undefined) return undefined;
  return {
    signedAt,
    facts: {
      issuerRut,
      typeCode,
      serie,
      numberStart,
      numberEnd,
      authorizationNumber,
      issueDate,
      expirationDate,
      use: text('TA'),
      special: special?.kind === undefined ? undefined : { kind: special.kind, cause: special.cause },
    },
  };
}

const digits = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
