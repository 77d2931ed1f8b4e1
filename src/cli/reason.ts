import { REASON_LENGTH } from '../domain/supportAction.ts';
import { text } from '../domain/text.ts';

/** Why an operator acts, where a verb does not insist on it; the console asks for it. */
export const REASON = { flags: '--reason <text>', about: 'why, for the audit' } as const;
/** Its field in the verb's input. */
export const Why = { reason: text(REASON_LENGTH).optional() } as const;
