/** Validates the bytes of an answer: SOAP framing, exceptions, the authority's signature. */
import type { X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { fingerprintOf, isValidAt } from '../crypto/x509.ts';
import { answerForCode, type CommonAnswer } from './outcomes.ts';
import { AnswerTooLarge, Unanswered } from './post.ts';
import { OPERATIONS, type Operation, type OperationRow, readPayload, readSoap } from './soap.ts';
import { type AuthorityReason, type Caratula, readExceptions, type ServiceException } from './xml/ack.ts';
import { decodeXml, parseXml, UnreadableXml, withoutDeclaration, type XmlLimits } from './xml/parse.ts';
import { BadSignature, verifyEnveloped } from './xml/verify.ts';

/** An answer on 250 receipts with ten reasons each is about 2 MB, far above any answer to our sobres. */
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;
const LIMIT = { mostCharacters: MOST_ANSWER_BYTES };
/** A sobre of another system may hold 250 receipts with ten reasons each; ours hold one. */
const SIGNED_LIMIT = { ...LIMIT, mostElements: 20_000 };

/** The call got no usable answer; `answer` is the key in the table of outcomes. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly answer: CommonAnswer;
  /** A status or code for logs, never the authority's text. */
  readonly detail: string | undefined;
  /** The authority's text, for the record of the call only. */
  readonly reason: AuthorityReason | undefined;

  constructor(answer: CommonAnswer, detail?: string, reason?: AuthorityReason) {
    super(detail ?? answer);
    this.answer = answer;
    this.detail = detail;
    this.reason = reason;
  }
}

/** A call without a usable answer, as the table of outcomes names it. */
export interface FailureReading {
  readonly answer: CommonAnswer;
  /** A status or code for people to read instead of the key; never the authority's text. */
  readonly detail?: string | undefined;
}

/** Returns the entry of the table of outcomes for a failed call. Rethrows an error that is our bug. */
export function readFailure(error: unknown): FailureReading {
  if (error instanceof NoAnswer) return { answer: error.answer, detail: error.detail };
  if (error instanceof AnswerTooLarge) return { answer: 'too large' };
  if (error instanceof Unanswered) {
    return { answer: error.sent ? 'no answer' : 'unreached', detail: error.message };
  }
  throw error;
}

/** True when the endpoint's breaker prevented the call, so that nothing was sent; checks the causes too. */
export const isHeldBack = (error: unknown): boolean =>
  error instanceof NoAnswer
    ? error.answer === 'held back'
    : error instanceof Error && isHeldBack(error.cause);

/** The gateway's stock messages for a refused signature (docs/authority/signatures.md#requests); its codes are vague. */
const SECURITY_FAULTS =
  /no signature in|not covered by signature|unknown (signature|digest|canonicalization|transform)\w* ?algorithm|unknown \w+method algorithm|security token|signature verification|digest value mismatch|certificate is not trusted/i;

/** The stock messages are one line long. */
const LONGEST_FAULT = 1_000;

const noAnswerFrom = (exception: ServiceException): NoAnswer =>
  new NoAnswer(answerForCode(exception.code), `code ${exception.code}`, exception);

/** Returns the largest accepted answer to an operation, in bytes. */
export const maxAnswerBytes = (operation: Operation): number => {
  const row: OperationRow = OPERATIONS[operation];
  return row.mostBytes ?? MOST_ANSWER_BYTES;
};

/** Returns the element that answers the operation. Throws NoAnswer for anything else. */
export function parseAnswer(answer: { status: number; body: Uint8Array }, operation: Operation): Element {
  const ok = answer.status === 200;
  try {
    const soap = readSoap(decodeXml(answer.body), operation, { mostCharacters: maxAnswerBytes(operation) });
    if (soap.kind === 'answer' && ok) return soap.element;
    if (soap.kind === 'answer') throw new NoAnswer('http', `HTTP ${answer.status}`);
    const [exception] = soap.exceptions;
    if (exception) throw noAnswerFrom(exception);
    throw new NoAnswer(
      SECURITY_FAULTS.test(soap.message.slice(0, LONGEST_FAULT)) ? 'fault security' : 'fault',
      `SOAP fault, HTTP ${answer.status}`,
      { code: `HTTP ${answer.status}`, message: soap.message.slice(0, LONGEST_FAULT), detail: null },
    );
  } catch (error) {
    if (!(error instanceof UnreadableXml)) throw error;
    throw ok ? new NoAnswer('unreadable') : new NoAnswer('http', `HTTP ${answer.status}`);
  }
}

/** Returns the unsigned document inside an answer. Throws NoAnswer for a missing document or an exception. */
export function readDocument(answer: Element): Element {
  return parseDocument(readDocumentText(answer), LIMIT);
}

/** Throws NoAnswer when a typed answer, which has no document, holds an exception. */
export function throwOnException(answer: Element): void {
  const [exception] = readExceptions(answer);
  if (exception) throw noAnswerFrom(exception);
}

/** The signers whose answers are accepted. */
export interface Trust {
  /** Fingerprints of the authority's certificates in the environment. */
  readonly signers: ReadonlySet<string>;
  readonly now: Date;
}

/** Returns the document inside an answer, read from its signed content. Throws NoAnswer unless a trusted signer signed it. */
export function readSignedDocument<T extends Caratula>(
  answer: Element,
  read: (root: Element) => T | undefined,
  trust: Trust,
): T {
  const root = parseDocument(readDocumentText(answer), SIGNED_LIMIT);
  const certificate = verifySignature(root);
  const document = read(root);
  if (!document) throw new NoAnswer('unreadable');
  const trusted =
    trust.signers.has(fingerprintOf(certificate)) && isValidAt(certificate, document.signedAt ?? trust.now);
  if (!trusted) throw new NoAnswer('untrusted signer');
  return document;
}

/** Throws NoAnswer for an answer about another company or shipment. A refusal may omit ids that could not be read. */
export function checkSubject(
  ack: Caratula,
  expected: { rut: string | undefined; idemisor?: string; idReceptor?: string; mayOmitIds?: boolean },
): void {
  const omitsIds = expected.mayOmitIds === true && (ack.idemisor === undefined || Number(ack.idemisor) === 0);
  const isOurs =
    (ack.issuerRut === expected.rut || (omitsIds && ack.issuerRut === undefined)) &&
    (expected.idemisor === undefined || omitsIds || isSameNumber(ack.idemisor, expected.idemisor)) &&
    (expected.idReceptor === undefined || isSameNumber(ack.idReceptor, expected.idReceptor));
  if (!isOurs) throw new NoAnswer('other subject');
}

/** Compares numbers without leading zeros, which the authority may add. */
export const isSameNumber = (text: string | undefined, expected: string): boolean =>
  text !== undefined && stripLeadingZeros(text) === stripLeadingZeros(expected);

export const stripLeadingZeros = (number: string): string => number.replace(/^0+(?=\d)/, '');

function readDocumentText(answer: Element): string {
  const payload = readPayload(answer);
  if (payload === undefined) {
    throwOnException(answer);
    throw new NoAnswer('unreadable');
  }
  return withoutDeclaration(payload);
}

/** Throws NoAnswer for an exception instead of the document. */
function parseDocument(text: string, limits: XmlLimits): Element {
  const root = refuseUnreadable(() => parseXml(text, limits));
  const [exception] = readExceptions(root);
  if (exception) throw noAnswerFrom(exception);
  return root;
}

function verifySignature(root: Element): X509Certificate {
  try {
    return verifyEnveloped(root);
  } catch (error) {
    if (error instanceof BadSignature) throw new NoAnswer('bad signature');
    throw error;
  }
}

function refuseUnreadable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableXml) throw new NoAnswer('unreadable');
    throw error;
  }
}
