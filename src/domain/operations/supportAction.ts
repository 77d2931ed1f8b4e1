/** The actions of support on a stuck CFE or report (docs/contract.md#stuck). Imports only types: workflows use it. */
import type { RefusalReason } from './supportRefusal.ts';

export const SUPPORT_ACTIONS = ['retry', 'settle', 'abandon'] as const;
export type SupportAction = (typeof SUPPORT_ACTIONS)[number];

/**
 * Input of the update `support`. Console and command line send only the action; the update's id is the request id in the
 * audit. The other fields come from the Temporal UI and are not verified.
 */
export interface SupportRequest {
  /** `retry` repeats the stuck step, `settle` asks the authority and never sends, `abandon` gives the CFE up. */
  action: SupportAction;
  /** The CFE, if several CFEs of the run are stuck. */
  cfe_id?: string;
  by?: string;
  reason?: string;
}

/** The request of console and command line to a workflow; the audit stores person and reason under `requestId`. */
export interface SupportAsk {
  action: SupportAction;
  /** Omitted for a report. */
  cfeId?: string;
  requestId: string;
}

/** The result of an action of support; `refused`: nothing was done. */
export const SUPPORT_OUTCOMES = ['retried', 'settled', 'abandoned', 'refused'] as const;
export type SupportOutcome = (typeof SUPPORT_OUTCOMES)[number];

/** The answer to the update `support`. */
export interface SupportAnswer {
  outcome: SupportOutcome;
  /** For people: the result and the next step. */
  message: string;
  /** The reason of a refusal. */
  why?: RefusalReason;
}

/** Longest `by` and `reason`, in characters. */
export const BY_LENGTH = 100;
export const REASON_LENGTH = 500;
/** As in domain/values/text.ts, which workflows cannot import. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** As in domain/receipts/cfeId.ts, which workflows cannot import. */
const CFE_ID = /^\d{3}-[1-9]\d{0,29}$/;

/** Returns the fault of an input of the update `support`, in words; undefined if valid. */
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
