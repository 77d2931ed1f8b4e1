/** The status of a day's report and its allowed changes (docs/daily-report.md#status). Imports nothing: workflows use it. */

export const REPORT_STATUSES = [
  /** Not sent yet. */
  'OPEN',
  /** Sent; the authority's answer is unknown. */
  'SENT',
  /** AR: the authority has the report and has not compared it yet. */
  'RECEIVED',
  /** DR: the report matches the authority's CFEs. */
  'CONSISTENT',
  /** ER: the report does not match the authority's CFEs. */
  'DIFFERS',
  /** FR: replaced by a report with a higher sequence. */
  'SUPERSEDED',
  /** BR: refused; the sequence is still free. */
  'REFUSED',
] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** The authority's states of a received report. */
export type TakenStatus = 'RECEIVED' | 'CONSISTENT' | 'DIFFERS' | 'SUPERSEDED';

/** The status of one submission; a report has the status of its last sent submission. */
export type SubmissionStatus = 'PREPARED' | Exclude<ReportStatus, 'OPEN'>;

export const TAKEN_STATUSES: readonly TakenStatus[] = ['RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED'];

/** The allowed changes of a submission. The authority may compare a report again. */
const MOVES: Readonly<Record<SubmissionStatus, readonly SubmissionStatus[]>> = {
  PREPARED: ['SENT'],
  /** Straight to a later status when the answer was lost and a query returns the status. */
  SENT: [...TAKEN_STATUSES, 'REFUSED'],
  RECEIVED: ['CONSISTENT', 'DIFFERS', 'SUPERSEDED'],
  CONSISTENT: ['DIFFERS', 'SUPERSEDED'],
  DIFFERS: ['CONSISTENT', 'SUPERSEDED'],
  SUPERSEDED: [],
  /** Never sent again: a correction is a new submission with the same sequence. */
  REFUSED: [],
};

/** True when a submission may change from one status to the other; an unchanged status is not a change. */
export function submissionCanBecome(from: SubmissionStatus, to: SubmissionStatus): boolean {
  return MOVES[from].includes(to);
}

/** True when the authority received the report, so that its sequence is used. */
export const isTaken = (status: string): status is TakenStatus =>
  TAKEN_STATUSES.some((taken) => taken === status);

/** The highest sequence of the format (docs/authority/reports.md#sequence). */
export const LAST_SEQUENCE = 99;

/** From this sequence on a correction waits until nothing else of the day can change, to save sequences. */
export const SPARING_FROM = 50;

export type ReportAct = 'send' | 'retry' | 'settle';

/** Whether sending again can have an effect, for a report that is not stuck. */
const CAN_BE_SENT: Readonly<Record<ReportStatus, boolean>> = {
  OPEN: true,
  /** The authority's answer must come first. */
  SENT: false,
  RECEIVED: true,
  CONSISTENT: true,
  DIFFERS: true,
  /** Replaced by another system's report: a new one of ours would be refused. */
  SUPERSEDED: false,
  /** The report needs support anyway. */
  REFUSED: false,
};

/** Returns the actions for a report: `retry` and `settle` if it is stuck, else `send`. `today` in Montevideo. */
export function availableReportActs(
  { status, isStuck, date }: { status: ReportStatus; isStuck: boolean; date: string },
  today: string,
): readonly ReportAct[] {
  if (isStuck) return ['retry', 'settle'];
  return CAN_BE_SENT[status] && date <= today ? ['send'] : [];
}
