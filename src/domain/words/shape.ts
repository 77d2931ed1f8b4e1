import type { AttemptOperation } from '../attempt.ts';
import type { NextStep } from '../cfeStanding.ts';
import type { CfeStatus } from '../cfeStatus.ts';
import type { StuckReason } from '../stuckReason.ts';
import type { SupportAction, SupportOutcome } from '../supportAction.ts';

/** A name in a few words, and a sentence or two on it. */
export interface Words {
  readonly label: string;
  readonly means: string;
}

/** The words of one language. */
export interface CfeWords {
  readonly status: Readonly<Record<CfeStatus, Words>>;
  /** `mend`: what a person does about it. */
  readonly stuck: Readonly<Record<StuckReason, Words & { readonly mend: string }>>;
  /** The reasons of rejections, the authority's and ours. */
  readonly rejection: Readonly<Record<RejectionCode, string>>;
  /** What it waits for. */
  readonly next: Readonly<Record<NextStep, string>>;
  /** `means`: what will be done. */
  readonly action: Readonly<Record<SupportAction, Words>>;
  /** What an act of support came to. */
  readonly outcome: Readonly<Record<SupportOutcome, string>>;
  /** What is asked of the authority. */
  readonly operation: Readonly<Record<AttemptOperation, string>>;
  /** What an answer means, by its name in the table of outcomes (docs/outcomes.md); of exceptions those that others do not explain. */
  readonly answer: Readonly<Record<AnswerName, string>>;
  readonly timeline: {
    readonly numbered: string;
    /** By which API key it was asked for. */
    readonly by: (key: string) => string;
    readonly sobreMade: (idemisor: string) => string;
    readonly sobreSent: (idemisor: string) => string;
    readonly sobreRefused: (idemisor: string) => string;
    readonly sobreReceived: (idemisor: string) => string;
    readonly stuck: (label: string) => string;
    readonly goesOn: string;
    readonly verdict: (label: string) => string;
    readonly first: (count: number) => string;
    readonly last: (count: number) => string;
  };
  readonly observation: string;
  readonly otherRejection: string;
}

/** The codes of rejections that are known: of receipts, of sobres (`11` is a service's, for S07), and ours. */
export const REJECTION_CODES = [
  'E01',
  'E02',
  'E03',
  'E04',
  'E05',
  'E06',
  'E07',
  'E08',
  'E09',
  'E10',
  'E11',
  'E12',
  'E13',
  'E14',
  'E15',
  'S01',
  'S02',
  'S03',
  'S04',
  'S05',
  'S06',
  'S07',
  'S08',
  '11',
  'abandoned',
  'reference.rejected',
  'duplicate.not_ours',
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

/** Names of answers that have words of their own; the last ones stand for several codes of exceptions. */
export const ANSWER_NAMES = [
  'AS',
  'AS without token',
  'BS',
  'AE',
  'BE',
  'CE',
  'no verdict on it',
  'listed',
  'listed as refused',
  'listed without token',
  'not listed',
  'found',
  'found without token',
  'not found',
  'unreached',
  'no answer',
  'http',
  'too large',
  'unreadable',
  'fault',
  'fault security',
  'bad signature',
  'untrusted signer',
  'other subject',
  'document',
  'not yet',
  'inner',
  'unknown sobre',
  'received before',
  'our question',
  'certificate',
  'caller',
  'user',
  'permission',
  'issuer',
  'certification',
  'other',
] as const;
export type AnswerName = (typeof ANSWER_NAMES)[number];

/** Exceptions of the services (docs/authority/services.md#exceptions) by what they mean to a CFE. */
export const EXCEPTION_NAMES: Readonly<Record<string, AnswerName>> = {
  ...named('our question', [1, 2, 3, 4, 111]),
  ...named('certificate', [5, 12]),
  ...named('caller', [6, 7]),
  ...named('user', [8, 9, 10]),
  ...named('not yet', [13, 99, 105]),
  ...named('inner', [100, 102]),
  ...named('permission', [101]),
  ...named('issuer', [103]),
  ...named('unknown sobre', [104]),
  ...named('received before', [108]),
  ...named('certification', [201, 202, 211, 212, 221, 222, 223, 224, 225, 226, 227]),
};

function named(name: AnswerName, codes: readonly number[]): Record<string, AnswerName> {
  return Object.fromEntries(codes.map((code) => [`code ${code}`, name]));
}
