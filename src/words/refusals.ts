/** The words of refusals of support (src/domain/operations/supportRefusal.ts). */
import { STUCK_REASONS } from '../domain/authority/stuckReason.ts';
import type { RefusalReason, SupportRefusal } from '../domain/operations/supportRefusal.ts';
import { dateText } from '../domain/values/figures.ts';
import { montevideoTimestamp } from '../domain/values/montevideo.ts';
import { answerMeans, CFE_WORDS, stuckMeans } from './cfeStates.ts';
import { refusalsEn } from './en/refusals.ts';
import { refusalsEs } from './es/refusals.ts';

const WORDS = { en: refusalsEn, es: refusalsEs } as const;

/** Returns a refusal as it is stored and returned: its code and its message in English, times in UTC. */
export function refusalOf(code: SupportRefusal, value?: string): { message: string; why: RefusalReason } {
  return { message: refusalsEn[code](value ?? ''), why: { code, ...(value === undefined ? {} : { value }) } };
}

/** Returns a refusal in the words of a page: times in Montevideo's zone, answers and reasons with their meaning. */
export function refusalMeans({ code, value = '' }: RefusalReason, language: keyof typeof WORDS): string {
  return WORDS[language][code](shown({ code, value }, language));
}

function shown({ code, value }: Required<RefusalReason>, language: keyof typeof WORDS): string {
  const words = CFE_WORDS[language];
  if (code === 'lately_sent') {
    const local = montevideoTimestamp(new Date(value));
    return `${dateText(local)} ${local.slice(11, 16)}`;
  }
  if (code === 'no_answer') return `${value}: ${answerMeans(value, words)}`;
  const reason = STUCK_REASONS.find((known) => known === value);
  return code === 'stuck' && reason ? stuckMeans(reason, words) : value;
}
