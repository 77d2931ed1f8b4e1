/**
 * Turns the authority's documents about sobres and CFEs into keys of the table of outcomes, and the keys into results for
 * the activities (docs/authority/sobres.md, docs/authority/services.md).
 */
import type { Element } from '@xmldom/xmldom';
import type { FinalStatus } from '../domain/receipts/cfeStatus.ts';
import { CFE_TYPES, type CfeType } from '../domain/receipts/cfeTypes.ts';
import type { RejectionReason } from '../domain/receipts/rejection.ts';
import { type FailureReading, isSameNumber, NoAnswer } from './answers.ts';
import { parseInstant } from './moments.ts';
import {
  type AuthorityAnswer,
  classifyUnclear,
  outcomeOf,
  type Situation,
  type Unclear,
} from './outcomes.ts';
import {
  type AckCfe,
  type AckSobre,
  type AuthorityReason,
  type OriginalAnswer,
  type QueryTicket,
  type ReceiptVerdict,
  readTicket,
} from './xml/ack.ts';
import { childrenNamed, elementAt, textAt } from './xml/parse.ts';

/** The authority's ticket for queries about a sobre. */
export interface SobreTicket {
  readonly idReceptor: string;
  readonly token: string;
  readonly askFrom: Date | null;
}

/** The first answer to a sobre. */
export type SendAnswer =
  | ({ readonly kind: 'received' } & SobreTicket)
  | { readonly kind: 'refused'; readonly reasons: AuthorityReason[] }
  | { readonly kind: 'duplicate' }
  | FateUnknown
  | Unclear;
/** The authority may have received the sobre: the authority must be asked before the same bytes are sent again. */
export interface FateUnknown {
  readonly kind: 'fateUnknown';
  /** A short description for logs and failures. */
  readonly description: string;
}
/** Whether the authority has a sobre. */
export type FindSobreAnswer =
  | ({ readonly kind: 'received' } & SobreTicket)
  | { readonly kind: 'refused' }
  | { readonly kind: 'absent' }
  | Unclear;
/** The first sobre with a receipt; `state` is null while there is no verdict. */
export type FindCfeAnswer =
  | ({ readonly kind: 'found' } & ReceiptLocation)
  | { readonly kind: 'absent' }
  | Unclear;
/** The verdicts on the receipts of a sobre. */
export type AskVerdictAnswer =
  | { readonly kind: 'answered'; readonly ack: AckCfe }
  | { readonly kind: 'notYet'; readonly code: string }
  /** The authority does not know the number and token, which must be looked up again. */
  | { readonly kind: 'recover' }
  | Unclear;

/** The sobre in which the authority has a receipt. */
interface ReceiptLocation extends SobreTicket {
  readonly state: string | null;
  readonly idemisor: string;
}

/** An answer as a key of the table of outcomes, with its data. */
interface Reading<S extends Situation> {
  readonly answer: AuthorityAnswer<S>;
  /** A status or code for people to read instead of the key; never the authority's text. */
  readonly detail?: string | undefined;
  readonly ticket?: SobreTicket;
  readonly location?: ReceiptLocation;
  readonly reasons?: readonly AuthorityReason[];
}

// Sending.

/** The reasons for refusing a sobre (MotivosRechazo) that have a row in the table. */
const REFUSALS = ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07', 'S08'] as const;

/** Reads the answer to a sobre. */
export function readReception(ack: AckSobre): Reading<'send'> {
  if (ack.state === 'AS') {
    const ticket = toTicket(ack.idReceptor, ack);
    return ticket ? { answer: 'AS', ticket } : { answer: 'AS without token' };
  }
  const { reasons } = ack;
  const codes = reasons.map(({ code }) => code);
  const known = REFUSALS.filter((refusal) => ack.state === 'BS' && codes.includes(refusal));
  // "Duplicate" outweighs any other reason: it means that the authority has the sobre.
  const answer = known.find((refusal) => outcomeOf('send', refusal).reaction === 'duplicate') ?? known[0];
  return answer === undefined
    ? { answer: 'BS', detail: [ack.state, ...codes].join(' ') }
    : { answer, reasons };
}

export function toSendAnswer(reading: Reading<'send'>): SendAnswer {
  const { reaction } = outcomeOf('send', reading.answer);
  if (reaction === 'received') return { kind: 'received', ...requireValue(reading.ticket) };
  if (reaction === 'refused')
    return { kind: 'refused', reasons: [...(reading.reasons ?? [toReason(reading.answer)])] };
  if (reaction === 'duplicate') return { kind: 'duplicate' };
  if (reaction === 'fateUnknown')
    return { kind: 'fateUnknown', description: reading.detail ?? reading.answer };
  return classifyUnclearReading('send', reading);
}

// Looking for a sobre, and for a CFE.

/** Finds a sobre in the answer to EFACCONSULTARENVIOSSOBRE. A refused repeat may be listed with the received one. */
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
  const ticket = toTicket(textAt(shipment, 'IdReceptor'), query);
  return ticket ? { answer: 'listed', ticket } : { answer: 'listed without token' };
}

export function toFindSobreAnswer(reading: Reading<'find'>): FindSobreAnswer {
  const { reaction } = outcomeOf('find', reading.answer);
  if (reaction === 'received') return { kind: 'received', ...requireValue(reading.ticket) };
  if (reaction === 'refused' || reaction === 'absent') return { kind: reaction };
  return classifyUnclearReading('find', reading);
}

/** Reads the answer to EFACCONSULTARESTADOCFE; IdReceptor is 0 or missing for an unknown receipt. */
export function readCfeState(answer: Element): Reading<'findCfe'> {
  const state = elementAt(answer, 'Ackconsultaestadocfe');
  if (!state) throw new NoAnswer('unreadable');
  const [idemisor, idReceptor] = [textAt(state, 'IdEmisor'), textAt(state, 'IdReceptor')];
  if (idReceptor === undefined || idemisor === undefined || Number(idReceptor) === 0)
    return { answer: 'not found' };
  const query = readTicket(elementAt(state, 'ParamConsulta'));
  const ticket = toTicket(idReceptor, query);
  if (!ticket) return { answer: 'found without token' };
  return { answer: 'found', location: { state: textAt(state, 'EstadoCFE') ?? null, idemisor, ...ticket } };
}

export function toFindCfeAnswer(reading: Reading<'findCfe'>): FindCfeAnswer {
  const { reaction } = outcomeOf('findCfe', reading.answer);
  if (reaction === 'found') return { kind: 'found', ...requireValue(reading.location) };
  if (reaction === 'absent') return { kind: 'absent' };
  return classifyUnclearReading('findCfe', reading);
}

// Verdicts.

/** Classifies a query for verdicts that got no document. Throws for an answer that only a document can hold. */
export function toAskVerdictAnswer(reading: FailureReading): AskVerdictAnswer {
  const { reaction } = outcomeOf('ask', reading.answer);
  if (reaction === 'notYet') return { kind: 'notYet', code: codeIn(reading.answer) };
  if (reaction === 'recover') return { kind: 'recover' };
  return classifyUnclearReading('ask', reading);
}

/** The authority's verdict on one CFE of a sobre. */
export type VerdictOutcome =
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  /** An earlier sobre of ours with the same CFE has the valid verdict. */
  | { kind: 'original'; idReceptor: string; token: string }
  | { kind: 'notYet'; code: string }
  | Unclear;

/** A CFE of ours to find in an answer. `place`: its ordinal in the sobre, from 1; null if unknown. */
interface OurCfe {
  readonly type: CfeType;
  readonly serie: string;
  readonly numero: number;
  readonly signedAt: string;
  readonly place: number | null;
}

/** Returns the verdict on our CFE; `duplicate` (E02): an earlier sobre, of ours or another system, had the CFE's number. */
export function judgeCfe(
  cfe: OurCfe,
  receipts: readonly ReceiptVerdict[],
): VerdictOutcome | { kind: 'duplicate'; original: OriginalAnswer | undefined } {
  const atOrdinal = cfe.place === null ? undefined : receipts.find(({ ordinal }) => ordinal === cfe.place);
  // In an earlier sobre of ours the CFE may have another ordinal.
  const receipt =
    atOrdinal && isAbout(atOrdinal, cfe)
      ? atOrdinal
      : receipts.find((verdict) => isExactlyThisCfe(verdict, cfe));
  if (!receipt) return verdictOutcome(atOrdinal ? 'other receipt' : 'no verdict on it', {});
  const { state, reasons } = receipt;
  if (state === 'BE' && reasons.some(({ code }) => code === 'E02')) {
    return { kind: 'duplicate', original: receipt.original };
  }
  const known = (['AE', 'BE', 'CE'] as const).find((each) => each === state);
  return verdictOutcome(known ?? 'other state', { description: `state ${state}`, reasons });
}

/** Classifies E02, given whether the sobre that first had the number is ours. */
export const classifyDuplicate = (original: OriginalSobre, { isOurs }: { isOurs: boolean }): VerdictOutcome =>
  verdictOutcome(isOurs ? 'E02 of ours' : 'E02 of others', { description: 'E02', original });

function verdictOutcome(
  answer: AuthorityAnswer<'ask'>,
  {
    description,
    reasons = [],
    original,
  }: { description?: string; reasons?: readonly AuthorityReason[]; original?: OriginalSobre },
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
      throw new TypeError(`${answer} applies to a whole sobre`);
    case 'repeat':
    case 'stuck':
      return classifyUnclear('ask', answer, description);
  }
}

/** The sobre that first brought the number. */
export interface OriginalSobre {
  readonly idemisor: string;
  readonly idReceptor: string;
  readonly token: string;
}

/**
 * Compares the fields that the answer has: an unreadable receipt has only its ordinal. The moment of signing
 * distinguishes two uses of one number, before and after a database was restored.
 */
function isAbout(
  receipt: ReceiptVerdict,
  { type, serie, numero, signedAt: ours }: Omit<OurCfe, 'place'>,
): boolean {
  const { typeCode, serie: foundSerie, numero: foundNumero, signedAt } = receipt;
  return (
    (typeCode === undefined || typeCode === CFE_TYPES[type].code) &&
    (foundSerie === undefined || foundSerie === serie) &&
    (foundNumero === undefined || foundNumero === numero) &&
    (signedAt === undefined || isSameMoment(signedAt, ours))
  );
}

/** True when the receipt has every identifying field and all match this CFE: same number, signed in the same second. */
export function isExactlyThisCfe(receipt: ReceiptVerdict, cfe: Omit<OurCfe, 'place'>): boolean {
  const { typeCode, serie, numero, signedAt } = receipt;
  return ![typeCode, serie, numero, signedAt].includes(undefined) && isAbout(receipt, cfe);
}

/** Also compares the local time: the authority writes moments without an offset, or with a wrong one. */
function isSameMoment(theirs: string, ours: string): boolean {
  return (
    theirs.slice(0, 19) === ours.slice(0, 19) ||
    parseInstant(theirs)?.getTime() === parseInstant(ours)?.getTime()
  );
}

function toTicket(idReceptor: string | undefined, { token, askFrom }: QueryTicket): SobreTicket | undefined {
  if (idReceptor === undefined || token === undefined) return undefined;
  return { idReceptor, token, askFrom: askFrom ?? null };
}

/** Returns `repeat` or `stuck` for an answer that decides nothing. Throws RangeError for a clear answer. */
export const classifyUnclearReading = <S extends Situation>(
  situation: S,
  { answer, detail }: { answer: AuthorityAnswer<S>; detail?: string | undefined },
): Unclear => classifyUnclear(situation, answer, detail ?? answer);

const codeIn = (answer: string): string => answer.replace(/^code /, '');

/** A refusal by an exception comes without reasons. */
const toReason = (answer: string): AuthorityReason => ({
  code: codeIn(answer),
  message: 'El sobre fue rechazado',
  detail: null,
});

/** Returns the value that a row of the table requires. Throws TypeError without it. */
export function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the reading has no value that its row of the table requires');
  return value;
}
