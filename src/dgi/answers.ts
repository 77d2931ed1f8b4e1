/** From bytes that came back to an answer that counts: framing, exceptions, the authority's signature. */
import type { X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { fingerprintOf, isValidAt } from '../crypto/x509.ts';
import { answerOfCode, type CommonAnswer } from './outcomes.ts';
import { AnswerTooLarge, Unanswered } from './post.ts';
import { OPERATIONS, type Operation, type OperationRow, payloadIn, readSoap } from './soap.ts';
import { type Caratula, type Reason, readExceptions, type ServiceException } from './xml/ack.ts';
import { decodeXml, parseXml, UnreadableXml, withoutDeclaration, type XmlLimits } from './xml/parse.ts';
import { BadSignature, verifyEnveloped } from './xml/verify.ts';

/** Answers with 250 receipts and ten reasons each have some 2 MB; none of ours comes near. */
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;
const LIMIT = { mostCharacters: MOST_ANSWER_BYTES };
/** Our sobres hold one receipt, but one of another system that is asked about may hold 250, with ten reasons each. */
const SIGNED_LIMIT = { ...LIMIT, mostElements: 20_000 };

/** What came back is not the answer to the question; `answer` is its key in the table of outcomes. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly answer: CommonAnswer;
  /** A status or code for logs, never the authority's text. */
  readonly detail: string | undefined;
  /** The authority's text, for the record of the call alone. */
  readonly said: Reason | undefined;

  constructor(answer: CommonAnswer, detail?: string, said?: Reason) {
    super(detail ?? answer);
    this.answer = answer;
    this.detail = detail;
    this.said = said;
  }
}

/** What came back in place of an answer to the question, as the table of outcomes names it. */
export interface NoReading {
  readonly answer: CommonAnswer;
  /** A status or code in place of the key, for people; never the authority's text. */
  readonly detail?: string | undefined;
}

/** What an error of a call is in the table of outcomes. Throws the error again where it is a mistake of ours. */
export function readingOf(error: unknown): NoReading {
  if (error instanceof NoAnswer) return { answer: error.answer, detail: error.detail };
  if (error instanceof AnswerTooLarge) return { answer: 'too large' };
  if (error instanceof Unanswered) {
    return { answer: error.sent ? 'no answer' : 'unreached', detail: error.message };
  }
  throw error;
}

/** Whether it, or its cause, is that the endpoint's breaker is open and the call was not its probe: nothing was sent. */
export const isHeldBack = (error: unknown): boolean =>
  error instanceof NoAnswer
    ? error.answer === 'held back'
    : error instanceof Error && isHeldBack(error.cause);

/**
 * Stock messages of the gateway about a signature that it does not take (docs/authority/signatures.md#requests); its
 * codes are vague.
 */
const SECURITY_FAULTS =
  /no signature in|not covered by signature|unknown (signature|digest|canonicalization|transform)\w* ?algorithm|unknown \w+method algorithm|security token|signature verification|digest value mismatch|certificate is not trusted/i;

/** The stock messages have a line; further on nothing is looked for. */
const LONGEST_FAULT = 1_000;

/** A service's exception in place of the answer. */
const exceptionOf = (exception: ServiceException): NoAnswer =>
  new NoAnswer(answerOfCode(exception.code), `code ${exception.code}`, exception);

/** The most bytes that an answer to the operation may have. */
export const mostBytesOf = (operation: Operation): number => {
  const row: OperationRow = OPERATIONS[operation];
  return row.mostBytes ?? MOST_ANSWER_BYTES;
};

/** The element that answers the operation. Throws NoAnswer for everything else. */
export function answerIn(answer: { status: number; body: Uint8Array }, operation: Operation): Element {
  const ok = answer.status === 200;
  try {
    const soap = readSoap(decodeXml(answer.body), operation, { mostCharacters: mostBytesOf(operation) });
    if (soap.kind === 'answer' && ok) return soap.element;
    if (soap.kind === 'answer') throw new NoAnswer('http', `HTTP ${answer.status}`);
    const [exception] = soap.exceptions;
    if (exception) throw exceptionOf(exception);
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

/** The document that an answer carries, unsigned. Throws NoAnswer where there is none, or an exception instead. */
export function documentIn(answer: Element): Element {
  return parseDocument(textIn(answer), LIMIT);
}

/** An element of a typed answer, which carries no document. Throws NoAnswer for an exception in its place. */
export function refuseExceptions(answer: Element): void {
  const [exception] = readExceptions(answer);
  if (exception) throw exceptionOf(exception);
}

/** Who must have signed an answer for it to count. */
export interface Trust {
  /** Fingerprints of the certificates of the authority that count in the environment. */
  readonly signers: ReadonlySet<string>;
  readonly now: Date;
}

/** The signed document that an answer carries, read from what was signed. Throws NoAnswer unless it counts. */
export function signedDocumentIn<T extends Caratula>(
  answer: Element,
  read: (root: Element) => T | undefined,
  trust: Trust,
): T {
  const root = parseDocument(textIn(answer), SIGNED_LIMIT);
  const certificate = verified(root);
  const document = read(root);
  if (!document) throw new NoAnswer('unreadable');
  const trusted =
    trust.signers.has(fingerprintOf(certificate)) && isValidAt(certificate, document.signedAt ?? trust.now);
  if (!trusted) throw new NoAnswer('untrusted signer');
  return document;
}

/** An answer about another company or shipment does not count; a refusal may lack what could not be read. */
export function checkSubject(
  ack: Caratula,
  expected: { rut: string | undefined; idemisor?: string; idReceptor?: string; mayLackIds?: boolean },
): void {
  const lacksIds = expected.mayLackIds === true && (ack.idemisor === undefined || Number(ack.idemisor) === 0);
  const isOurs =
    (ack.issuerRut === expected.rut || (lacksIds && ack.issuerRut === undefined)) &&
    (expected.idemisor === undefined || lacksIds || isSameNumber(ack.idemisor, expected.idemisor)) &&
    (expected.idReceptor === undefined || isSameNumber(ack.idReceptor, expected.idReceptor));
  if (!isOurs) throw new NoAnswer('other subject');
}

/** Numbers of the authority may have leading zeros. */
export const isSameNumber = (found: string | undefined, expected: string): boolean =>
  found !== undefined && withoutZeros(found) === withoutZeros(expected);

export const withoutZeros = (number: string): string => number.replace(/^0+(?=\d)/, '');

function textIn(answer: Element): string {
  const payload = payloadIn(answer);
  if (payload === undefined) {
    refuseExceptions(answer);
    throw new NoAnswer('unreadable');
  }
  return withoutDeclaration(payload);
}

/** Throws NoAnswer for an exception in the document's place. */
function parseDocument(text: string, limits: XmlLimits): Element {
  const root = readable(() => parseXml(text, limits));
  const [exception] = readExceptions(root);
  if (exception) throw exceptionOf(exception);
  return root;
}

function verified(root: Element): X509Certificate {
  try {
    return verifyEnveloped(root);
  } catch (error) {
    if (error instanceof BadSignature) throw new NoAnswer('bad signature');
    throw error;
  }
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableXml) throw new NoAnswer('unreadable');
    throw error;
  }
}
