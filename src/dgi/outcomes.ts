/**
 * The table of outcomes: our reaction to every answer of the authority, and to every failure (docs/authority/sobres.md,
 * docs/authority/services.md#exceptions, docs/authority/reports.md#sending-it). The client and the activities look up
 * here what an answer means. docs/outcomes.md shows it with notes.
 */

import type { StuckReason } from '../domain/authority/stuckReason.ts';
import type { FinalStatus } from '../domain/receipts/cfeStatus.ts';
import type { TakenStatus } from '../domain/reports/reportStatus.ts';
import { stuckMeans } from '../words/cfeStates.ts';

/** The exceptions of the services that have a row (Respuestas/Respuesta/codigo). */
const EXCEPTION_CODES = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99, 100, 101, 102, 103, 104, 105, 108, 109, 111, 201, 202,
  211, 212, 221, 222, 223, 224, 225, 226, 227,
] as const;
type CodeKey = `code ${(typeof EXCEPTION_CODES)[number]}`;

/** Answers that may follow any question. */
export type CommonAnswer =
  | CodeKey
  /** An exception without a row. */
  | 'code *'
  /** No connection was made, so nothing was sent. */
  | 'unreached'
  /** The endpoint's breaker is open, so nothing was sent. */
  | 'held back'
  /** The connection was lost, or the answer did not come in time. */
  | 'no answer'
  /** An error page of HTTP. */
  | 'http'
  | 'too large'
  | 'unreadable'
  /** A general SOAP fault. */
  | 'fault'
  /** A SOAP fault about our signature. */
  | 'fault security'
  | 'bad signature'
  /** Signed by a certificate that is not configured as the authority's. */
  | 'untrusted signer'
  /** About another company or another shipment. */
  | 'other subject'
  /** The authority answers, but without a decision for longer than CFE_PATIENCE. */
  | 'undecided'
  /** A private key cannot be opened, so nothing can be asked. */
  | 'no key';

/** Answers that may follow only one kind of question. */
export interface SpecialAnswers {
  /** Sending a sobre. */
  send: 'AS' | 'AS without token' | 'S01' | 'S02' | 'S03' | 'S04' | 'S05' | 'S06' | 'S07' | 'S08' | 'BS';
  /** The sobre is a duplicate (S08, 108), by the send that got this answer. */
  duplicate: 'at the first send' | 'at a later send' | 'though listed as refused';
  /** Looking for a sobre. */
  find: 'listed' | 'listed as refused' | 'listed without token' | 'not listed' | 'signed for and not listed';
  /** Looking for a fiscal number in any sobre. */
  findCfe: 'found' | 'found without token' | 'found without a verdict' | 'not found';
  /** Asking for the verdict on a CFE. */
  ask:
    | 'AE'
    | 'BE'
    | 'CE'
    | 'other state'
    | 'other receipt'
    | 'no verdict on it'
    | 'E02 of ours'
    | 'E02 of others'
    | 'E02 without its original';
  /** Looking a RUT up in the registry. */
  lookUp: 'record';
  /** Sending the report of a day, or reading the answer to it again. */
  sendReport: 'AR' | 'R01' | 'R02' | 'R03' | 'R04' | 'R05' | 'R06' | 'BR';
  /** Looking for a report and its state. */
  findReport:
    | 'listed AR'
    | 'listed DR'
    | 'listed ER'
    | 'listed FR'
    | 'listed BR'
    | 'other state'
    | 'not listed';
  /** Listing electronic issuers. */
  listIssuers: 'list';
}
export type Situation = keyof SpecialAnswers;
/** The answers in a situation: a closed set. */
export type AuthorityAnswer<S extends Situation = Situation> = CommonAnswer | SpecialAnswers[S];

/** The answer decides nothing: the service asks again, or support must act. */
type UnclearReaction =
  /** `reached`: the authority answered, so CFE_PATIENCE counts. */
  | { readonly reaction: 'repeat'; readonly reached: boolean }
  /** src/words explains each reason and its remedy. */
  | { readonly reaction: 'stuck'; readonly reason: StuckReason };

/** The reactions to clear answers, by situation. */
interface ClearReactions {
  send:
    | { readonly reaction: 'received' | 'refused' | 'duplicate' }
    /** The authority may have received the sobre, and is asked before the same bytes are sent again. */
    | { readonly reaction: 'fateUnknown' };
  duplicate: /** The CFE is sent in a new sobre with the next number. */
    | { readonly reaction: 'renumber' }
    /** The authority is asked for number and token. */
    | { readonly reaction: 'askAgain' };
  find: { readonly reaction: 'received' | 'refused' | 'absent' };
  findCfe: { readonly reaction: 'found' | 'absent' };
  ask:
    | { readonly reaction: 'verdict'; readonly status: FinalStatus }
    /** Another sobre of ours has the valid verdict. */
    | { readonly reaction: 'original' }
    | { readonly reaction: 'notYet' }
    /** The list of sobres is asked for the right number and token. */
    | { readonly reaction: 'recover' };
  lookUp:
    | { readonly reaction: 'found'; readonly activityStatus: string | null }
    | { readonly reaction: 'unregistered' };
  sendReport: /** `duplicate`: already received. `sequence`: ask for a free one. `early`: send again later. */
    | { readonly reaction: 'received' | 'duplicate' | 'sequence' | 'early' | 'fateUnknown' }
    /** Refused; support must fix the cause. */
    | { readonly reaction: 'refused'; readonly reason: StuckReason };
  findReport:
    | { readonly reaction: 'taken'; readonly status: TakenStatus }
    | { readonly reaction: 'refused' | 'absent' };
  listIssuers: { readonly reaction: 'listed' };
}

export type Outcome<S extends Situation> = UnclearReaction | ClearReactions[S];
export type OutcomeRow<S extends Situation> = {
  readonly answers: readonly AuthorityAnswer<S>[];
} & Outcome<S>;
/** A row for situations without a row of their own for the answer. */
type GeneralRow = { readonly answers: readonly CommonAnswer[] } & UnclearReaction;

/** Internal errors of the authority, which say nothing about the sobre. */
const INNER_EXCEPTIONS = ['code 100', 'code 102', 'code 104', 'code 13', 'code 99', 'code 105'] as const;

export const OUTCOMES: { readonly [S in Situation]: readonly OutcomeRow<S>[] } = {
  send: [
    { answers: ['AS'], reaction: 'received' },
    { answers: ['AS without token'], reaction: 'fateUnknown' },
    { answers: ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07', 'code 11'], reaction: 'refused' },
    { answers: ['S08', 'code 108'], reaction: 'duplicate' },
    {
      answers: ['BS'],
      reaction: 'stuck',
      reason: 'sobre.unknown_refusal',
    },
    { answers: [...INNER_EXCEPTIONS], reaction: 'fateUnknown' },
    {
      answers: ['no answer', 'http', 'too large', 'unreadable', 'fault', 'bad signature', 'other subject'],
      reaction: 'fateUnknown',
    },
  ],
  duplicate: [
    { answers: ['at the first send'], reaction: 'renumber' },
    { answers: ['at a later send'], reaction: 'askAgain' },
    {
      answers: ['though listed as refused'],
      reaction: 'stuck',
      reason: 'sobre.refused_without_reasons',
    },
  ],
  find: [
    { answers: ['listed'], reaction: 'received' },
    { answers: ['listed as refused'], reaction: 'refused' },
    { answers: ['not listed'], reaction: 'absent' },
    { answers: ['listed without token', 'signed for and not listed'], reaction: 'repeat', reached: true },
    { answers: [...INNER_EXCEPTIONS], reaction: 'repeat', reached: true },
  ],
  findCfe: [
    { answers: ['found'], reaction: 'found' },
    { answers: ['not found'], reaction: 'absent' },
    { answers: ['found without token', 'found without a verdict'], reaction: 'repeat', reached: true },
    { answers: [...INNER_EXCEPTIONS], reaction: 'repeat', reached: true },
  ],
  ask: [
    { answers: ['AE'], reaction: 'verdict', status: 'ACCEPTED' },
    { answers: ['BE'], reaction: 'verdict', status: 'REJECTED' },
    { answers: ['CE'], reaction: 'verdict', status: 'OBSERVED' },
    {
      answers: ['other state'],
      reaction: 'stuck',
      reason: 'verdict.unknown_state',
    },
    {
      answers: ['other receipt'],
      reaction: 'stuck',
      reason: 'verdict.other_cfe',
    },
    { answers: ['no verdict on it', 'code 13', 'code 99', 'code 105'], reaction: 'notYet' },
    { answers: ['E02 of ours'], reaction: 'original' },
    {
      answers: ['E02 of others'],
      reaction: 'stuck',
      reason: 'duplicate.not_ours',
    },
    { answers: ['E02 without its original', 'code 100', 'code 102'], reaction: 'repeat', reached: true },
    { answers: ['code 104'], reaction: 'recover' },
  ],
  lookUp: [
    { answers: ['record', 'code 8', 'code 9'], reaction: 'found', activityStatus: null },
    { answers: ['code 10'], reaction: 'found', activityStatus: 'NT' },
    { answers: ['code 11'], reaction: 'found', activityStatus: 'CC' },
    { answers: ['code 12'], reaction: 'found', activityStatus: 'AF' },
    { answers: ['code 5', 'code 6', 'code 7', 'code 14'], reaction: 'unregistered' },
    { answers: ['code 1'], reaction: 'repeat', reached: true },
  ],
  sendReport: [
    { answers: ['AR'], reaction: 'received' },
    {
      answers: ['R01'],
      reaction: 'refused',
      reason: 'report.format',
    },
    {
      answers: ['R02'],
      reaction: 'refused',
      reason: 'report.company',
    },
    {
      answers: ['R03'],
      reaction: 'refused',
      reason: 'report.signature',
    },
    {
      answers: ['R04'],
      reaction: 'refused',
      reason: 'report.content',
    },
    {
      answers: ['BR'],
      reaction: 'refused',
      reason: 'report.unknown_refusal',
    },
    { answers: ['R05'], reaction: 'sequence' },
    { answers: ['R06'], reaction: 'early' },
    { answers: ['code 109'], reaction: 'duplicate' },
    { answers: [...INNER_EXCEPTIONS], reaction: 'fateUnknown' },
    {
      answers: ['no answer', 'http', 'too large', 'unreadable', 'fault', 'bad signature', 'other subject'],
      reaction: 'fateUnknown',
    },
  ],
  findReport: [
    { answers: ['listed AR'], reaction: 'taken', status: 'RECEIVED' },
    { answers: ['listed DR'], reaction: 'taken', status: 'CONSISTENT' },
    { answers: ['listed ER'], reaction: 'taken', status: 'DIFFERS' },
    { answers: ['listed FR'], reaction: 'taken', status: 'SUPERSEDED' },
    { answers: ['listed BR'], reaction: 'refused' },
    { answers: ['not listed'], reaction: 'absent' },
    {
      answers: ['other state'],
      reaction: 'stuck',
      reason: 'report.unknown_state',
    },
    { answers: [...INNER_EXCEPTIONS], reaction: 'repeat', reached: true },
  ],
  listIssuers: [
    { answers: ['list'], reaction: 'listed' },
    { answers: [...INNER_EXCEPTIONS], reaction: 'repeat', reached: true },
  ],
};

/** Rows for situations without a row of their own for the answer. */
export const GENERAL_OUTCOMES: readonly GeneralRow[] = [
  {
    answers: ['code 1', 'code 2', 'code 3', 'code 4', 'code 111'],
    reaction: 'stuck',
    reason: 'authority.our_mistake',
  },
  {
    answers: ['code 5', 'code 12'],
    reaction: 'stuck',
    reason: 'authority.certificate',
  },
  {
    answers: ['code 6', 'code 7'],
    reaction: 'stuck',
    reason: 'authority.caller',
  },
  {
    answers: ['code 8', 'code 9', 'code 10'],
    reaction: 'stuck',
    reason: 'authority.user',
  },
  {
    answers: ['code 101'],
    reaction: 'stuck',
    reason: 'authority.no_permission',
  },
  {
    answers: ['code 103'],
    reaction: 'stuck',
    reason: 'authority.not_an_issuer',
  },
  {
    answers: [
      'code 201',
      'code 202',
      'code 211',
      'code 212',
      'code 221',
      'code 222',
      'code 223',
      'code 224',
      'code 225',
      'code 226',
      'code 227',
    ],
    reaction: 'stuck',
    reason: 'authority.certification_stage',
  },
  {
    answers: ['code *'],
    reaction: 'stuck',
    reason: 'authority.unknown_code',
  },
  {
    answers: ['fault security'],
    reaction: 'stuck',
    reason: 'authority.signature_refused',
  },
  {
    answers: ['untrusted signer'],
    reaction: 'stuck',
    reason: 'authority.untrusted_signer',
  },
  {
    answers: ['no key'],
    reaction: 'stuck',
    reason: 'signing',
  },
  {
    answers: ['undecided'],
    reaction: 'stuck',
    reason: 'undecided',
  },
  { answers: ['unreached', 'held back', 'no answer'], reaction: 'repeat', reached: false },
  {
    answers: ['http', 'too large', 'unreadable', 'fault', 'bad signature', 'other subject'],
    reaction: 'repeat',
    reached: true,
  },
];

/** Returns the key of an exception by its code. */
export function answerForCode(code: string): CommonAnswer {
  const known = EXCEPTION_CODES.find((each) => String(each) === code);
  return known === undefined ? 'code *' : `code ${known}`;
}

/** Returns the outcome by the situation's row, else the general row, else the row of unknown codes. */
export function outcomeOf<S extends Situation>(situation: S, answer: AuthorityAnswer<S>): Outcome<S> {
  const rows: readonly ({ readonly answers: readonly string[] } & Outcome<S>)[] = [
    ...OUTCOMES[situation],
    ...GENERAL_OUTCOMES,
  ];
  const row =
    rows.find(({ answers }) => answers.includes(answer)) ??
    rows.find(({ answers }) => answer.startsWith('code ') && answers.includes('code *'));
  if (!row) throw new RangeError(`no row for ${situation}, ${answer}`);
  return row;
}

/** An answer that decides nothing: the service asks again, or support must act. */
export type Unclear =
  | {
      readonly kind: 'repeat';
      /** A short description for logs and failures. */
      readonly description: string;
      /** Whether the authority answered: an unreachable authority never makes a CFE stuck. */
      readonly reached: boolean;
    }
  | { readonly kind: 'stuck'; readonly reason: StuckReason; readonly explanation: string };

/**
 * Returns `repeat` or `stuck` for an unclear answer. `description`: a status or code for people, never the authority's text.
 * Throws RangeError for a clear answer.
 */
export function classifyUnclear<S extends Situation>(
  situation: S,
  answer: AuthorityAnswer<S>,
  description?: string,
): Unclear {
  const outcome: { readonly reaction: string } = outcomeOf(situation, answer);
  if (!isUnclear(outcome)) throw new RangeError(`${situation}, ${answer}: ${outcome.reaction} is clear`);
  if (outcome.reaction === 'repeat')
    return { kind: 'repeat', description: description ?? answer, reached: outcome.reached };
  return { kind: 'stuck', ...explainStuck(outcome.reason, description) };
}

/** Returns a stuck reason with its explanation for support, in English because workflow histories store it. */
export const explainStuck = (
  reason: StuckReason,
  description?: string,
): { reason: StuckReason; explanation: string } => ({
  reason,
  explanation: stuckMeans(reason) + (description === undefined ? '' : ` (${description})`),
});

const isUnclear = (outcome: { readonly reaction: string }): outcome is UnclearReaction =>
  outcome.reaction === 'repeat' || outcome.reaction === 'stuck';
