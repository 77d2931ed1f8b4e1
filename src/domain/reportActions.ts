/** What a person may do about the report of a day, by where it stands: the one table of the console's buttons. */
import type { ReportStatus } from './reportStatus.ts';

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
export function reportActs(
  { status, isStuck, date }: { status: ReportStatus; isStuck: boolean; date: string },
  today: string,
): readonly ReportAct[] {
  if (isStuck) return ['retry', 'settle'];
  return CAN_BE_SENT[status] && date <= today ? ['send'] : [];
}
