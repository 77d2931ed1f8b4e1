/**
 * Where the report of a day stands and which way it may go: the one table of moves (docs/daily-report.md#status). Imports
 * nothing, so that workflows may use it.
 */

export const REPORT_STATUSES = [
  /** Not sent yet. */
  'OPEN',
  /** On its way; what the authority says of it is not known. */
  'SENT',
  /** AR: the authority has it, and has not compared it yet. */
  'RECEIVED',
  /** DR: it agrees with the CFEs that the authority holds. */
  'CONSISTENT',
  /** ER: it does not. */
  'DIFFERS',
  /** FR: a report of the day with a higher sequence counts. */
  'SUPERSEDED',
  /** BR: not taken as a report; its sequence is still free. */
  'REFUSED',
] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** What the authority makes of a report that it took. */
export type TakenStatus = 'RECEIVED' | 'CONSISTENT' | 'DIFFERS' | 'SUPERSEDED';

/** Where one submission of a report stands: the report stands where its last one does that was sent. */
export type SubmissionStatus = 'PREPARED' | Exclude<ReportStatus, 'OPEN'>;

export const TAKEN_STATUSES: readonly TakenStatus[] = ['RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED'];

/** The moves of a submission. What the authority compared it may compare again. */
const MOVES: Readonly<Record<SubmissionStatus, readonly SubmissionStatus[]>> = {
  PREPARED: ['SENT'],
  /** Straight to a later state where an answer was lost and the authority is asked. */
  SENT: [...TAKEN_STATUSES, 'REFUSED'],
  RECEIVED: ['CONSISTENT', 'DIFFERS', 'SUPERSEDED'],
  CONSISTENT: ['DIFFERS', 'SUPERSEDED'],
  DIFFERS: ['CONSISTENT', 'SUPERSEDED'],
  SUPERSEDED: [],
  /** Its bytes are never sent again: what is mended goes in a submission of its own, with the same sequence. */
  REFUSED: [],
};

/** Whether a submission may go from one status to the other; staying is no move. */
export function submissionCanBecome(from: SubmissionStatus, to: SubmissionStatus): boolean {
  return MOVES[from].includes(to);
}

/** Whether the authority took it as a report, so that its sequence is used up. */
export const isTaken = (status: string): status is TakenStatus =>
  TAKEN_STATUSES.some((taken) => taken === status);

/** The highest sequence that the format has (docs/authority/reports.md#sequence). */
export const LAST_SEQUENCE = 99;

/** From this sequence on a correction waits until nothing else of the day can change, so that the numbers last. */
export const SPARING_FROM = 50;

/** What a person may do about the report of a day, by where it stands: the one table of the console's buttons. */

export type ReportAct = 'send' | 'retry' | 'settle';

/** Statuses of a report that goes on by itself in which looking at the day again can do something. */
const CAN_BE_SENT: Readonly<Record<ReportStatus, boolean>> = {
  OPEN: true,
  /** On its way: what is known of it comes first. */
  SENT: false,
  RECEIVED: true,
  CONSISTENT: true,
  DIFFERS: true,
  /** A report of another system counts; another of ours would be refused. */
  SUPERSEDED: false,
  /** It waits for a person in any case. */
  REFUSED: false,
};

/** What makes sense now: a report that waits for a person is retried or settled, another is sent; `today` in Montevideo. */
export function availableReportActs(
  { status, isStuck, date }: { status: ReportStatus; isStuck: boolean; date: string },
  today: string,
): readonly ReportAct[] {
  if (isStuck) return ['retry', 'settle'];
  return CAN_BE_SENT[status] && date <= today ? ['send'] : [];
}
