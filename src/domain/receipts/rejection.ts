/** Reasons of REJECTED CFEs: the authority's, or ours for CFEs that it does not have. */
import type { StuckReason } from '../authority/stuckReason.ts';

/** One reason for a rejection or an observation. */
export interface RejectionReason {
  code: string;
  message: string;
  detail: string | null;
}

/** Our own codes; all others are the authority's. */
export const OWN_REJECTION_CODES = {
  abandoned: 'abandoned',
  originalRejected: 'reference.rejected',
  /** Together with `abandoned`: the number belongs to another system. */
  numberOfOthers: 'duplicate.not_ours' satisfies StuckReason,
} as const;

/** The form of all codes. */
const CODE = /^[\w.-]{1,30}$/;

/** Returns the codes of reasons, each once; drops malformed codes, which could be any text of the authority. */
export const rejectionCodes = (reasons: readonly RejectionReason[] | null): string[] => [
  ...new Set((reasons ?? []).map(({ code }) => code).filter((code) => CODE.test(code))),
];

/** How long the portal may accept a CFE rejected for E06 only (docs/authority/sobres.md#receipt-codes). */
const UNDECIDED_DAYS = 60;
const DAY_MILLISECONDS = 86_400_000;

/** Returns the end of the acceptance period of a CFE rejected for E06 only; null without a verdict. */
export const acceptableUntil = ({ settledAt }: { readonly settledAt: Date | null }): Date | null =>
  settledAt && new Date(settledAt.getTime() + UNDECIDED_DAYS * DAY_MILLISECONDS);

/** True when a CFE rejected for E06 only can no longer be accepted. */
export function isPastAcceptance(cfe: { readonly settledAt: Date | null }, now: Date): boolean {
  const until = acceptableUntil(cfe);
  return until !== null && now > until;
}

/** The reason of a note that was never sent because its original was rejected. */
export const ORIGINAL_REJECTED: readonly RejectionReason[] = [
  {
    code: OWN_REJECTION_CODES.originalRejected,
    message:
      'The CFE that this note corrects was rejected; the note was never sent and its number is to be annulled.',
    detail: null,
  },
];

/** Abandoned by support; the authority does not have the CFE. */
export const ABANDONED: readonly RejectionReason[] = [
  {
    code: OWN_REJECTION_CODES.abandoned,
    message: 'Given up by support: the tax authority does not have this CFE. Its number is to be annulled.',
    detail: null,
  },
];

/** Abandoned by support; the authority has the CFE's number from another system. */
export const ABANDONED_TO_OTHERS: readonly RejectionReason[] = [
  {
    code: OWN_REJECTION_CODES.abandoned,
    message: 'Given up by support: the tax authority has its number from another system of the company.',
    detail: null,
  },
  { code: OWN_REJECTION_CODES.numberOfOthers, message: 'The number must not be annulled.', detail: null },
];
