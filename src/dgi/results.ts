/** What our calls to the authority come to, as the table of outcomes has it. */

import type { RegistryRecord } from '../domain/registryRecord.ts';
import type { TakenStatus } from '../domain/reportStatus.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { NoAnswer } from './answers.ts';
import { HeldBack } from './callPermit.ts';
import {
  type Answer,
  type CommonAnswer,
  outcomeOf,
  type Situation,
  stuckBy,
  type Unclear,
  unclear,
} from './outcomes.ts';
import { AnswerTooLarge, Unanswered } from './post.ts';
import type { AckCfe, Reason } from './xml/ack.ts';
import type { ListedIssuer } from './xml/issuers.ts';
import { bareRecord } from './xml/registry.ts';

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
/** What the registry knows of a RUT. */
export type LookUpAnswer =
  | { readonly kind: 'found'; readonly record: RegistryRecord }
  | { readonly kind: 'unregistered' }
  | Unclear;

/** The first answer to the report of a day. */
export type SendReportAnswer =
  | { readonly kind: 'received'; readonly authorityId: string }
  | {
      readonly kind: 'refused';
      readonly reasons: Reason[];
      readonly authorityId: string | null;
      /** For support: why a person must mend it, and what to do. */
      readonly stuck: { readonly reason: StuckReason; readonly explanation: string };
    }
  /** R05, R06: refused, and it goes on by itself. */
  | { readonly kind: 'sequence' | 'early'; readonly reasons: Reason[]; readonly authorityId: string | null }
  | { readonly kind: 'duplicate' }
  | FateUnknown
  | Unclear;
/** What the authority has of a report of ours. */
export type FindReportAnswer =
  | { readonly kind: 'taken'; readonly status: TakenStatus; readonly authorityId: string }
  | { readonly kind: 'refused'; readonly authorityId: string }
  | { readonly kind: 'absent' }
  | Unclear;
/** One report of a day, as the authority lists it. */
export interface ListedReport {
  readonly idEmisor: string;
  readonly authorityId: string | undefined;
  /** AR, BR, DR, ER, FR. */
  readonly state: string;
}

/** All reports of a day, of whichever system of the company. */
export type ListReportsAnswer =
  | { readonly kind: 'listed'; readonly reports: readonly ListedReport[] }
  | Unclear;

/** The list of electronic issuers. */
export type ListIssuersAnswer =
  | { readonly kind: 'listed'; readonly issuers: Iterable<ListedIssuer> }
  | Unclear;

/** What a call may come to. */
export type ResultKind = (
  | SendReportAnswer
  | FindReportAnswer
  | ListReportsAnswer
  | SendAnswer
  | FindSobreAnswer
  | FindCfeAnswer
  | AskVerdictAnswer
  | LookUpAnswer
  | ListIssuersAnswer
)['kind'];

/** Where the authority has a receipt. */
interface ReceiptLocation extends SobreTicket {
  readonly state: string | null;
  readonly idemisor: string;
}

/** What came back from one call: its key in the table of outcomes, and what came with it. */
export interface Reading<S extends Situation> {
  readonly answer: Answer<S>;
  /** A status or code in place of the key, for people; never the authority's text. */
  readonly detail?: string | undefined;
  readonly ticket?: SobreTicket;
  readonly location?: ReceiptLocation;
  readonly reasons?: readonly Reason[];
  readonly record?: RegistryRecord;
  /** The authority's number of a report. */
  readonly authorityId?: string | undefined;
}

/** What came back in place of an answer to the question. */
export type NoReading = Pick<Reading<Situation>, 'detail'> & { readonly answer: CommonAnswer };

/** What an error of a call is in the table of outcomes. Throws the error again where it is a mistake of ours. */
export function readingOf(error: unknown): NoReading {
  if (error instanceof NoAnswer) return { answer: error.answer, detail: error.detail };
  if (error instanceof HeldBack) return { answer: 'held back' };
  if (error instanceof AnswerTooLarge) return { answer: 'too large' };
  if (error instanceof Unanswered) {
    return { answer: error.sent ? 'no answer' : 'unreached', detail: error.message };
  }
  throw error;
}

/** Where the answer settles nothing: the call is repeated, or a person must look. Throws for an answer that is clear. */
const unsettled = <S extends Situation>(
  situation: S,
  { answer, detail }: { answer: Answer<S>; detail?: string | undefined },
): Unclear => unclear(situation, answer, detail ?? answer);

export function sendAnswer(reading: Reading<'send'>): SendAnswer {
  const { reaction } = outcomeOf('send', reading.answer);
  if (reaction === 'received') return { kind: 'received', ...given(reading.ticket) };
  if (reaction === 'refused')
    return { kind: 'refused', reasons: [...(reading.reasons ?? [reasonOf(reading.answer)])] };
  if (reaction === 'duplicate') return { kind: 'duplicate' };
  if (reaction === 'fateUnknown') return { kind: 'fateUnknown', what: reading.detail ?? reading.answer };
  return unsettled('send', reading);
}

export function findSobreAnswer(reading: Reading<'find'>): FindSobreAnswer {
  const { reaction } = outcomeOf('find', reading.answer);
  if (reaction === 'received') return { kind: 'received', ...given(reading.ticket) };
  if (reaction === 'refused' || reaction === 'absent') return { kind: reaction };
  return unsettled('find', reading);
}

export function findCfeAnswer(reading: Reading<'findCfe'>): FindCfeAnswer {
  const { reaction } = outcomeOf('findCfe', reading.answer);
  if (reaction === 'found') return { kind: 'found', ...given(reading.location) };
  if (reaction === 'absent') return { kind: 'absent' };
  return unsettled('findCfe', reading);
}

/** Of a question for verdicts that brought no document; throws for an answer that can only stand in one. */
export function noVerdictsAnswer(reading: NoReading): AskVerdictAnswer {
  const { reaction } = outcomeOf('ask', reading.answer);
  if (reaction === 'notYet') return { kind: 'notYet', code: codeIn(reading.answer) };
  if (reaction === 'recover') return { kind: 'recover' };
  return unsettled('ask', reading);
}

export function sendReportAnswer(reading: Reading<'sendReport'>): SendReportAnswer {
  const outcome = outcomeOf('sendReport', reading.answer);
  const { reaction } = outcome;
  const refusal = { reasons: [...(reading.reasons ?? [])], authorityId: reading.authorityId ?? null };
  if (reaction === 'received') return { kind: 'received', authorityId: given(reading.authorityId) };
  if (reaction === 'refused')
    return { kind: 'refused', ...refusal, stuck: stuckBy(outcome.reason, reading.detail) };
  if (reaction === 'sequence' || reaction === 'early') return { kind: reaction, ...refusal };
  if (reaction === 'duplicate') return { kind: 'duplicate' };
  if (reaction === 'fateUnknown') return { kind: 'fateUnknown', what: reading.detail ?? reading.answer };
  return unsettled('sendReport', reading);
}

export function findReportAnswer(reading: Reading<'findReport'>): FindReportAnswer {
  const outcome = outcomeOf('findReport', reading.answer);
  if (outcome.reaction === 'taken')
    return { kind: 'taken', status: outcome.status, authorityId: given(reading.authorityId) };
  if (outcome.reaction === 'refused') return { kind: 'refused', authorityId: given(reading.authorityId) };
  if (outcome.reaction === 'absent') return { kind: 'absent' };
  return unsettled('findReport', reading);
}

/** Of a question about reports that brought no answer. */
export const noReportAnswer = (reading: NoReading): Unclear => unsettled('findReport', reading);

/** `rut`: the one that was asked about. */
export function lookUpAnswer(rut: string, reading: Reading<'lookUp'>): LookUpAnswer {
  const outcome = outcomeOf('lookUp', reading.answer);
  if (outcome.reaction === 'found')
    return { kind: 'found', record: reading.record ?? bareRecord(rut, outcome.activityStatus) };
  if (outcome.reaction === 'unregistered') return { kind: 'unregistered' };
  return unsettled('lookUp', reading);
}

export function listIssuersAnswer(
  reading: NoReading | { readonly answer: 'list'; readonly issuers: Iterable<ListedIssuer> },
): ListIssuersAnswer {
  if ('issuers' in reading) return { kind: 'listed', issuers: reading.issuers };
  return unsettled('listIssuers', reading);
}

const codeIn = (answer: string): string => answer.replace(/^code /, '');

/** A refusal by an exception comes without reasons. */
const reasonOf = (answer: string): Reason => ({
  code: codeIn(answer),
  message: 'El sobre fue rechazado',
  detail: null,
});

/** What the table counts on with an answer. */
function given<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the reading lacks what its row of the table needs');
  return value;
}
