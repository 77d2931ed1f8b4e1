/**
 * What support may ask of a CFE that waits for a person (docs/contract.md#stuck). Imports types alone: workflows use it.
 */
import type { RefusalReason } from './supportRefusal.ts';

export const SUPPORT_ACTIONS = ['retry', 'settle', 'abandon'] as const;
export type SupportAction = (typeof SUPPORT_ACTIONS)[number];

/**
 * Input of the update `support`. Console and command line send the action alone, with the id of the request in their
 * audit row as the update's id; only who acts in the Temporal UI says more, and what they say is not verified.
 */
export interface SupportRequest {
  /** `retry` takes the stuck step again, `settle` asks the authority and never sends, `abandon` gives the CFE up. */
  action: SupportAction;
  /** Which CFE of the run, where more than one waits for a person. */
  cfe_id?: string;
  by?: string;
  reason?: string;
}

/** What console and command line ask of a workflow; the audit has who and why, under `requestId`. */
export interface SupportAsk {
  action: SupportAction;
  /** Which CFE; left out for a report. */
  cfeId?: string;
  requestId: string;
}

/** What really happened; refused: nothing did. */
export const SUPPORT_OUTCOMES = ['retried', 'settled', 'abandoned', 'refused'] as const;
export type SupportOutcome = (typeof SUPPORT_OUTCOMES)[number];

/** The answer to the update `support`. */
export interface SupportAnswer {
  outcome: SupportOutcome;
  /** For people: what was found, and what comes next. */
  message: string;
  /** Of what is refused, as a code. */
  why?: RefusalReason;
}

/** Longest `by` and `reason`, in characters. */
export const BY_LENGTH = 100;
export const REASON_LENGTH = 500;
/** Controls, and the two separators of lines and paragraphs, as everywhere (domain/text.ts). */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** As domain/cfeId.ts has it, which workflows cannot import. */
const CFE_ID = /^\d{3}-[1-9]\d{0,29}$/;

/** What is wrong with an input of the update `support`, in words; undefined when it may be done. */
export function supportRequestFault(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return 'Send a JSON object: {"action":"retry"}.';
  }
  const { action, cfe_id, by, reason, ...others } = input as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${JSON.stringify(unknown.slice(0, 40))} is not a field here.`;
  if (!SUPPORT_ACTIONS.some((known) => known === action)) {
    return `action: must be one of ${SUPPORT_ACTIONS.join(', ')}.`;
  }
  if (cfe_id !== undefined && (typeof cfe_id !== 'string' || !CFE_ID.test(cfe_id)))
    return 'cfe_id: must be a type code, a hyphen and a number, such as 101-1.';
  return textFault('by', by, BY_LENGTH) ?? textFault('reason', reason, REASON_LENGTH);
}

function textFault(name: string, value: unknown, longest: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.trim() === '') {
    return `${name}: must be a string that says ${name === 'by' ? 'who asks' : 'why'}.`;
  }
  if (CONTROL.test(value))
    return `${name}: must not have control characters such as line ends; write one line.`;
  return value.length > longest ? `${name}: must have at most ${longest} characters.` : undefined;
}
