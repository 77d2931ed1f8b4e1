/**
 * What the authority's answers about sobres and CFEs come to (docs/authority/sobres.md, docs/authority/services.md): read from
 * its documents into the answers of the table of outcomes, and by that into what the activities go on with.
 */
import type { Element } from '@xmldom/xmldom';
import type { FinalStatus } from '../domain/cfeStatus.ts';
import { CFE_TYPES, type CfeType } from '../domain/cfeTypes.ts';
import type { RejectionReason } from '../domain/rejection.ts';
import { isSameNumber, NoAnswer, type NoReading } from './answers.ts';
import { instantOf } from './moments.ts';
import { type Answer, outcomeOf, type Situation, type Unclear, unclear } from './outcomes.ts';
import {
  type AckCfe,
  type AckSobre,
  type OriginalAnswer,
  type QueryTicket,
  type Reason,
  type ReceiptVerdict,
  readTicket,
} from './xml/ack.ts';
import { childrenNamed, elementAt, textAt } from './xml/parse.ts';

/** What the authority gives for asking about a sobre. */
export interface SobreTicket {
  readonly idReceptor: string;
  readonly token: string;
  readonly askFrom: Date | null;
}

/** The first answer to a sobre. */
export type SendAnswer =
  | ({ readonly kind: 'received' } & SobreTicket)
  | { readonly kind: 'refused'; readonly reasons: Reason[] }
  | { readonly kind: 'duplicate' }
  | FateUnknown
  | Unclear;
/** A send that the authority may have kept: it must be asked before the same bytes go out again. */
export interface FateUnknown {
  readonly kind: 'fateUnknown';
  /** For logs and failures: what happened, in a few words. */
  readonly what: string;
}
/** Whether the authority has a sobre. */
export type FindSobreAnswer =
  | ({ readonly kind: 'received' } & SobreTicket)
  | { readonly kind: 'refused' }
  | { readonly kind: 'absent' }
  | Unclear;
/** The first sobre that carried a receipt; `state` is null while there is no verdict. */
export type FindCfeAnswer =
  | ({ readonly kind: 'found' } & ReceiptLocation)
  | { readonly kind: 'absent' }
  | Unclear;
/** The verdicts on the receipts of a sobre. */
export type AskVerdictAnswer =
  | { readonly kind: 'answered'; readonly ack: AckCfe }
  | { readonly kind: 'notYet'; readonly code: string }
  /** There is no such sobre by that number and token, or the question failed. */
  | { readonly kind: 'recover' }
  | Unclear;

/** Where the authority has a receipt. */
interface ReceiptLocation extends SobreTicket {
  readonly state: string | null;
  readonly idemisor: string;
}

/** What came back from one call: its key in the table of outcomes, and what came with it. */
interface Reading<S extends Situation> {
  readonly answer: Answer<S>;
  /** A status or code in place of the key, for people; never the authority's text. */
  readonly detail?: string | undefined;
  readonly ticket?: SobreTicket;
  readonly location?: ReceiptLocation;
  readonly reasons?: readonly Reason[];
}

// Sending.

/** The reasons for which a sobre is refused (MotivosRechazo) that a rule covers. */
const REFUSALS = ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07', 'S08'] as const;

/** Reads the answer to a sobre. */
export function readReception(ack: AckSobre): Reading<'send'> {
  if (ack.state === 'AS') {
    const ticket = ticketOf(ack.idReceptor, ack);
    return ticket ? { answer: 'AS', ticket } : { answer: 'AS without token' };
  }
  const { reasons } = ack;
  const codes = reasons.map(({ code }) => code);
  const known = REFUSALS.filter((refusal) => ack.state === 'BS' && codes.includes(refusal));
  // Beside any other reason, "duplicate" says that the authority has the sobre.
  const answer = known.find((refusal) => outcomeOf('send', refusal).reaction === 'duplicate') ?? known[0];
  return answer === undefined
    ? { answer: 'BS', detail: [ack.state, ...codes].join(' ') }
    : { answer, reasons };
}

export function sendAnswer(reading: Reading<'send'>): SendAnswer {
  const { reaction } = outcomeOf('send', reading.answer);
  if (reaction === 'received') return { kind: 'received', ...given(reading.ticket) };
  if (reaction === 'refused')
    return { kind: 'refused', reasons: [...(reading.reasons ?? [reasonOf(reading.answer)])] };
  if (reaction === 'duplicate') return { kind: 'duplicate' };
  if (reaction === 'fateUnknown') return { kind: 'fateUnknown', what: reading.detail ?? reading.answer };
  return unsettled('send', reading);
}

// Looking for a sobre, and for a CFE.

/** Finds a sobre in the answer to EFACCONSULTARENVIOSSOBRE. A refused repeat may stand there beside the received one. */
export function readShipments(answer: Element, idemisor: string): Reading<'find'> {
  const list = elementAt(answer, 'Ackconsultaenviossobre');
  if (!list) throw new NoAnswer('unreadable');
  const collection = elementAt(list, 'ColeccionDatosSobre') ?? elementAt(list, 'ColeccionDatosSobres');
  const ours = (collection ? childrenNamed(collection, 'DatosSobre') : []).filter((shipment) =>
    isSameNumber(textAt(shipment, 'IdEmisor'), idemisor),
  );
  if (ours.length === 0) return { answer: 'not listed' };
  const received = ours.filter((shipment) => textAt(shipment, 'EstadoSobre') === 'AS');
  if (received.length === 0) return { answer: 'listed as refused' };
  const [shipment] = received.filter((each) => textAt(each, 'ParamConsulta', 'Token') !== undefined);
  const query = readTicket(shipment && elementAt(shipment, 'ParamConsulta'));
  const ticket = ticketOf(textAt(shipment, 'IdReceptor'), query);
  return ticket ? { answer: 'listed', ticket } : { answer: 'listed without token' };
}

export function findSobreAnswer(reading: Reading<'find'>): FindSobreAnswer {
  const { reaction } = outcomeOf('find', reading.answer);
  if (reaction === 'received') return { kind: 'received', ...given(reading.ticket) };
  if (reaction === 'refused' || reaction === 'absent') return { kind: reaction };
  return unsettled('find', reading);
}

/** Reads the answer to EFACCONSULTARESTADOCFE; a receipt that is not there has an IdReceptor of 0, or none. */
export function readCfeState(answer: Element): Reading<'findCfe'> {
  const state = elementAt(answer, 'Ackconsultaestadocfe');
  if (!state) throw new NoAnswer('unreadable');
  const [idemisor, idReceptor] = [textAt(state, 'IdEmisor'), textAt(state, 'IdReceptor')];
  if (idReceptor === undefined || idemisor === undefined || Number(idReceptor) === 0)
    return { answer: 'not found' };
  const query = readTicket(elementAt(state, 'ParamConsulta'));
  const ticket = ticketOf(idReceptor, query);
  if (!ticket) return { answer: 'found without token' };
  return { answer: 'found', location: { state: textAt(state, 'EstadoCFE') ?? null, idemisor, ...ticket } };
}

export function findCfeAnswer(reading: Reading<'findCfe'>): FindCfeAnswer {
  const { reaction } = outcomeOf('findCfe', reading.answer);
  if (reaction === 'found') return { kind: 'found', ...given(reading.location) };
  if (reaction === 'absent') return { kind: 'absent' };
  return unsettled('findCfe', reading);
}

// Verdicts.

/** Of a question for verdicts that brought no document; throws for an answer that can only stand in one. */
export function noVerdictsAnswer(reading: NoReading): AskVerdictAnswer {
  const { reaction } = outcomeOf('ask', reading.answer);
  if (reaction === 'notYet') return { kind: 'notYet', code: codeIn(reading.answer) };
  if (reaction === 'recover') return { kind: 'recover' };
  return unsettled('ask', reading);
}

/** What the authority says of one CFE of a sobre. */
export type VerdictOutcome =
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  /** The verdict that counts was given to another sobre of ours that carried the same CFE. */
  | { kind: 'original'; idReceptor: string; token: string }
  | { kind: 'notYet'; code: string }
  | Unclear;

/** A CFE of ours, as an answer may name it; `place`: in the sobre that was asked about, null where that is not known. */
interface OurCfe {
  readonly type: CfeType;
  readonly serie: string;
  readonly numero: number;
  readonly signedAt: string;
  readonly place: number | null;
}

/** What an answer says of our CFE; `duplicate`: its number was received before (E02), so it depends on by whom. */
export function verdictOn(
  cfe: OurCfe,
  receipts: readonly ReceiptVerdict[],
): VerdictOutcome | { kind: 'duplicate'; original: OriginalAnswer | undefined } {
  const atPlace = cfe.place === null ? undefined : receipts.find(({ ordinal }) => ordinal === cfe.place);
  // An earlier sobre of ours may have it at another place.
  const receipt = atPlace && isAbout(atPlace, cfe) ? atPlace : receipts.find((one) => isSurelyThis(one, cfe));
  if (!receipt) return verdictOutcome(atPlace ? 'other receipt' : 'no verdict on it', {});
  const { state, reasons } = receipt;
  if (state === 'BE' && reasons.some(({ code }) => code === 'E02')) {
    return { kind: 'duplicate', original: receipt.original };
  }
  const known = (['AE', 'BE', 'CE'] as const).find((each) => each === state);
  return verdictOutcome(known ?? 'other state', { what: `state ${state}`, reasons });
}

/** What E02 comes to for a CFE whose number was received first by that sobre, which is one of ours or somebody else's. */
export const verdictOnDuplicate = (original: Original, { isOurs }: { isOurs: boolean }): VerdictOutcome =>
  verdictOutcome(isOurs ? 'E02 of ours' : 'E02 of others', { what: 'E02', original });

/** What an answer about our CFE comes to, as the table of outcomes has it. */
function verdictOutcome(
  answer: Answer<'ask'>,
  { what, reasons = [], original }: { what?: string; reasons?: readonly Reason[]; original?: Original },
): VerdictOutcome {
  const outcome = outcomeOf('ask', answer);
  switch (outcome.reaction) {
    case 'verdict':
      return { kind: 'verdict', status: outcome.status, reasons: [...reasons] };
    case 'original':
      if (!original) throw new TypeError(`${answer} without the original`);
      return { kind: 'original', idReceptor: original.idReceptor, token: original.token };
    case 'notYet':
      return { kind: 'notYet', code: answer };
    case 'recover':
      throw new TypeError(`${answer} is said of a whole sobre`);
    case 'repeat':
    case 'stuck':
      return unclear('ask', answer, what);
  }
}

/** The sobre in which the number was received first. */
export interface Original {
  readonly idemisor: string;
  readonly idReceptor: string;
  readonly token: string;
}

/**
 * By type, series, number and moment of signing where the answer has them; a receipt that it could not read has only
 * its place. The moment tells a number that was given twice: before a database was restored, and after.
 */
function isAbout(
  receipt: ReceiptVerdict,
  { type, serie, numero, signedAt: ours }: Omit<OurCfe, 'place'>,
): boolean {
  const { typeCode, serie: saidSerie, numero: saidNumero, signedAt } = receipt;
  return (
    (typeCode === undefined || typeCode === CFE_TYPES[type].code) &&
    (saidSerie === undefined || saidSerie === serie) &&
    (saidNumero === undefined || saidNumero === numero) &&
    (signedAt === undefined || isSameMoment(signedAt, ours))
  );
}

/** Whether the receipt says of itself, in full, that it is this CFE: same number, signed in the same second. */
export function isSurelyThis(receipt: ReceiptVerdict, cfe: Omit<OurCfe, 'place'>): boolean {
  const { typeCode, serie, numero, signedAt } = receipt;
  return ![typeCode, serie, numero, signedAt].includes(undefined) && isAbout(receipt, cfe);
}

/** The authority writes moments without an offset, or with a false one: the clock on the wall counts as well. */
function isSameMoment(said: string, ours: string): boolean {
  return said.slice(0, 19) === ours.slice(0, 19) || instantOf(said)?.getTime() === instantOf(ours)?.getTime();
}

function ticketOf(idReceptor: string | undefined, { token, askFrom }: QueryTicket): SobreTicket | undefined {
  if (idReceptor === undefined || token === undefined) return undefined;
  return { idReceptor, token, askFrom: askFrom ?? null };
}

/** Where the answer settles nothing: the call is repeated, or a person must look. Throws for an answer that is clear. */
export const unsettled = <S extends Situation>(
  situation: S,
  { answer, detail }: { answer: Answer<S>; detail?: string | undefined },
): Unclear => unclear(situation, answer, detail ?? answer);

const codeIn = (answer: string): string => answer.replace(/^code /, '');

/** A refusal by an exception comes without reasons. */
const reasonOf = (answer: string): Reason => ({
  code: codeIn(answer),
  message: 'El sobre fue rechazado',
  detail: null,
});

/** What the table counts on with an answer. */
export function given<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the reading lacks what its row of the table needs');
  return value;
}
