import type { SubmissionStatus } from '../../domain/reports/reportStatus.ts';
import { type CfeWords, WORDS_EN, type Words } from './cfeStates.ts';

export interface ReportWords {
  /** Words of reports and submissions; a report starts as OPEN, a submission as PREPARED. */
  readonly status: Readonly<Record<SubmissionStatus | 'OPEN', Words>>;
  /** The authority's reasons for rejecting a report; a reason that needs support has the words of its stuck reason. */
  readonly reason: Readonly<Record<string, string>>;
  readonly otherReason: string;
}

/** Returns the words of the rejection reasons that are also stuck reasons. */
export const sharedReportReasons = ({ stuck }: CfeWords) => ({
  R01: stuck['report.format'].means,
  R02: stuck['report.company'].means,
  R03: stuck['report.signature'].means,
  R04: stuck['report.content'].means,
});

export const reportStatesEn: ReportWords = {
  status: {
    OPEN: { label: 'open', means: 'Not sent yet: the day is not over, or something is pending.' },
    PREPARED: { label: 'prepared', means: 'Created and signed, and not sent yet.' },
    SENT: { label: 'on its way', means: 'On its way. If the answer was lost, DGI is asked.' },
    RECEIVED: {
      label: 'received',
      means: 'DGI has received it (AR) and has not compared it yet with the receipts that it holds.',
    },
    CONSISTENT: { label: 'agrees', means: 'DGI compared it, and it agrees (DR).' },
    DIFFERS: {
      label: 'differs',
      means: 'DGI compared it: its receipts differ from those reported (ER). It does not say where.',
    },
    SUPERSEDED: {
      label: 'superseded',
      means: 'Another system of the company sent a report with a higher sequence; that one counts (FR).',
    },
    REFUSED: {
      label: 'rejected',
      means: 'DGI did not accept it as a report (BR). Its sequence is still free.',
    },
  },
  reason: {
    ...sharedReportReasons(WORDS_EN),
    R05: 'The sequence is not the next one: DGI already has another report of the day.',
    R06: 'Received before the day of the report.',
  },
  otherReason: 'A reason that no rule covers.',
};
