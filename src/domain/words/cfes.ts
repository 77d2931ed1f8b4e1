/**
 * What the short names in a CFE's life mean, for people: statuses, reasons to be stuck, codes of rejections
 * (docs/authority/sobres.md). The only place of these words; the console has both languages, the command line the English ones.
 */
import { WORDS_EN } from './cfesEn.ts';
import { WORDS_ES } from './cfesEs.ts';
import { ANSWER_NAMES, type CfeWords, EXCEPTION_NAMES, REJECTION_CODES } from './shape.ts';

export type { CfeWords } from './shape.ts';

export const CFE_WORDS: Readonly<Record<'en' | 'es', CfeWords>> = { en: WORDS_EN, es: WORDS_ES };

/** What a reason of a rejection or an observation means; codes that no rule covers are told as such. */
export function rejectionMeans(code: string, words: CfeWords): string {
  const known = REJECTION_CODES.find((each) => each === code);
  if (known) return words.rejection[known];
  return /^C\d\d$/.test(code) ? words.observation : words.otherRejection;
}

/** What an answer of the authority to a call for a CFE means (docs/outcomes.md). */
export function answerMeans(answer: string, words: CfeWords): string {
  const refusal = REJECTION_CODES.find((code) => code === answer || `code ${code}` === answer);
  if (refusal) return words.rejection[refusal];
  const known = EXCEPTION_NAMES[answer] ?? ANSWER_NAMES.find((name) => name === answer);
  return words.answer[known ?? 'other'];
}
