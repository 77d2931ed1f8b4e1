/** Why CFEs are REJECTED: the authority's own words, or ours for those that it never got, or does not have. */
import type { StuckReason } from './stuckReason.ts';

/** One reason for a rejection or an observation. */
export interface RejectionReason {
  code: string;
  message: string;
  detail: string | null;
}

/** The codes that are ours; all others are the authority's. */
export const OWN_REJECTION_CODES = {
  abandoned: 'abandoned',
  originalRejected: 'reference.rejected',
  /** Beside `abandoned`: the number belongs to another system. */
  numberOfOthers: 'duplicate.not_ours' satisfies StuckReason,
} as const;

/** What a code looks like, the authority's and ours. */
const CODE = /^[\w.-]{1,30}$/;

/** The codes of reasons, each once. What the authority says in the place of a code is left out: it could be any text. */
export const rejectionCodes = (reasons: readonly RejectionReason[] | null): string[] => [
  ...new Set((reasons ?? []).map(({ code }) => code).filter((code) => CODE.test(code))),
];

/** So long may the authority's portal accept a CFE that was rejected for E06 alone (docs/authority/sobres.md#receipt-codes). */
const UNDECIDED_DAYS = 60;
const DAY_MILLISECONDS = 86_400_000;

/** Until when a CFE that was rejected for E06 alone can still be accepted; null where it was not. */
export const acceptableUntil = ({ settledAt }: { readonly settledAt: Date | null }): Date | null =>
  settledAt && new Date(settledAt.getTime() + UNDECIDED_DAYS * DAY_MILLISECONDS);

/** Whether a CFE that was rejected for E06 alone can no longer be accepted. */
export function isPastAcceptance(cfe: { readonly settledAt: Date | null }, now: Date): boolean {
  const until = acceptableUntil(cfe);
  return until !== null && now > until;
}

/** A note whose original was rejected; it was never sent. */
export const ORIGINAL_REJECTED: readonly RejectionReason[] = [
  {
    code: OWN_REJECTION_CODES.originalRejected,
    message:
      'The CFE that this note corrects was rejected; the note was never sent and its number is to be annulled.',
    detail: null,
  },
];

/** Support gave the CFE up, and the authority does not have it. */
export const ABANDONED: readonly RejectionReason[] = [
  {
    code: OWN_REJECTION_CODES.abandoned,
    message: 'Given up by support: the tax authority does not have this CFE. Its number is to be annulled.',
    detail: null,
  },
];

/** Support gave the CFE up, and the authority has its number from somebody else. */
export const ABANDONED_TO_OTHERS: readonly RejectionReason[] = [
  {
    code: OWN_REJECTION_CODES.abandoned,
    message: 'Given up by support: the tax authority has its number from another system of the company.',
    detail: null,
  },
  { code: OWN_REJECTION_CODES.numberOfOthers, message: 'The number must not be annulled.', detail: null },
];
