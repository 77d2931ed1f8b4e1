/**
 * Explains a CFE's statuses, stuck reasons, rejection codes and the authority's answers. The only source of these words for
 * console, command line, guides and docs/outcomes.md.
 */
import type { StuckReason } from '../domain/authority/stuckReason.ts';
import { type CfeWords, WORDS_EN } from './en/cfeStates.ts';
import { WORDS_ES } from './es/cfeStates.ts';

export type { CfeWords } from './en/cfeStates.ts';

export const CFE_WORDS: Readonly<Record<'en' | 'es', CfeWords>> = { en: WORDS_EN, es: WORDS_ES };

type RejectionKey = keyof CfeWords['rejection'];
/** The codes of rejections that are known, the authority's and ours; `11` is the exception by which a service says S07. */
const REJECTIONS = new Map<string, RejectionKey>([
  ...(Object.keys(WORDS_EN.rejection) as RejectionKey[]).map((key) => [key, key] as const),
  ['11', 'S07'],
]);
export const REJECTION_CODES: readonly string[] = [...REJECTIONS.keys()];
/** After these the number is annulled, and the sale needs a new CFE. */
const ANNULLED = /^E(01|03|04|05|07|08|10|11|12|13)$/;

/** Returns the meaning of a rejection's or an observation's reason, or that no rule covers the code. */
export function rejectionMeans(code: string, words: CfeWords): string {
  const key = REJECTIONS.get(code);
  if (key === undefined) return /^C\d\d$/.test(code) ? words.observation : words.otherRejection;
  return ANNULLED.test(key) ? `${words.rejection[key]} ${words.annulled}` : words.rejection[key];
}

/** Returns what the company does about a reason of a rejection, in Markdown. */
export function rejectionRemedy(code: string, words: CfeWords): string {
  const key = REJECTIONS.get(code);
  return key === undefined ? words.otherRejectionMend : words.rejectionRemedy[key];
}

/** Returns a row for each rejection code: its meaning, and what the company does about it, in Markdown. */
export const rejectionRows = ({ rejection, rejectionRemedy }: CfeWords) =>
  [...REJECTIONS].map(([code, key]) => [code, rejection[key], rejectionRemedy[key]] as const);

/** Returns the meaning of a stuck reason, and what support does about it. */
export const stuckMeans = (reason: StuckReason, { stuck }: CfeWords = WORDS_EN): string =>
  `${stuck[reason].means} ${stuck[reason].fix}`;

/** Answers with the meaning of another answer or of a stuck reason; exceptions as in docs/authority/services.md#exceptions. */
const SAME: Readonly<Record<string, keyof CfeWords['answer'] | StuckReason>> = {
  'fault security': 'authority.signature_refused',
  'untrusted signer': 'authority.untrusted_signer',
  ...exceptions('authority.our_mistake', [1, 2, 3, 4, 111]),
  ...exceptions('authority.certificate', [5, 12]),
  ...exceptions('authority.caller', [6, 7]),
  ...exceptions('authority.user', [8, 9, 10]),
  ...exceptions('not yet', [13, 99, 105]),
  ...exceptions('inner', [100, 102]),
  ...exceptions('authority.no_permission', [101]),
  ...exceptions('authority.not_an_issuer', [103]),
  ...exceptions('unknown sobre', [104]),
  ...exceptions('received before', [108]),
  ...exceptions('authority.certification_stage', [201, 202, 211, 212, 221, 222, 223, 224, 225, 226, 227]),
};

function exceptions<N extends string>(name: N, codes: readonly number[]): Record<string, N> {
  return Object.fromEntries(codes.map((code) => [`code ${code}`, name]));
}

/** Returns the meaning of the authority's answer to a call for a CFE (docs/outcomes.md). */
export function answerMeans(answer: string, words: CfeWords): string {
  const refusal = REJECTIONS.get(answer.replace(/^code (?=\d+$)/, ''));
  if (refusal) return words.rejection[refusal];
  const name = SAME[answer] ?? answer;
  const reason = Object.entries(words.stuck).find(([key]) => key === name);
  return (
    reason?.[1].means ?? Object.entries(words.answer).find(([key]) => key === name)?.[1] ?? words.answer.other
  );
}
