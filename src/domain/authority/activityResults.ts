/**
 * The results of the activities, by `kind`. Workflow histories store them: only ids, enums and explanations for support,
 * never documents, names or amounts. Types only, so that workflows may import it.
 */

import type { TestRunStatus } from '../enterprises/homologation.ts';
import type { CaeStartFinding } from '../numbers/caeStart.ts';
import type { Purged } from '../operations/retention.ts';
import type { RunCounts } from '../operations/run.ts';
import type { SupportOutcome } from '../operations/supportAction.ts';
import type { RefusalReason } from '../operations/supportRefusal.ts';
import type { FinalStatus } from '../receipts/cfeStatus.ts';
import type { ReportStatus } from '../reports/reportStatus.ts';
import type { LoginResult } from '../webhooks/webhookEvents.ts';
import type { StuckReason } from './stuckReason.ts';

/** A step that needs support. */
export interface Stuck {
  kind: 'stuck';
  reason: StuckReason;
  /** For support: the failed attempt and the possible actions. No documents, names or amounts. */
  explanation: string;
}

/** The CFEs that need support for one reason, by cfe_id. */
export interface StuckCfes extends Omit<Stuck, 'kind'> {
  cfeIds: string[];
}

/** How a CFE of a sobre ended: its verdict; or LEFT, because it continues in another sobre. */
export type CfeEnding = FinalStatus | 'LEFT';

/** The progress of the sobre of a workflow run. */
export type VerdictResult =
  /** All CFEs have a verdict or left the sobre. */
  | {
      kind: 'ended';
      endings: Record<string, CfeEnding>;
      /** The codes of the reasons for rejections. */
      codes: string[];
    }
  /** The sobre waits for a slot of the rate limiter, which the signal `slotGiven` announces. */
  | { kind: 'waits' }
  | {
      kind: 'stuck';
      step: 'sign' | 'send' | 'ask';
      stuck: StuckCfes[];
      /** Whether other CFEs of the sobre continue. */
      goesOn: boolean;
    };

/** The result of an action of support; `message` is for people. */
export interface SupportResult {
  kind: SupportOutcome;
  message: string;
  /** The reason of a refusal. */
  why?: RefusalReason;
}

export type AttemptResult =
  | { kind: 'delivered' }
  /** Not tried again. */
  | { kind: 'failed' }
  /** To be tried again after the next delay. */
  | { kind: 'pending' };

export type MailResult =
  | { kind: 'sent' }
  /** Not tried again. */
  | { kind: 'failed' }
  /** No mail server is configured. */
  | { kind: 'disabled' }
  /** To be tried again after the next delay. */
  | { kind: 'pending' };

export type ReadinessResult =
  | { kind: 'ready' }
  | {
      kind: 'lacking';
      /** In words, for people. */
      lacking: string[];
      /** Milliseconds until the scheduled date; null without a date or after it. */
      dueInMilliseconds: number | null;
    };

export interface ExpiriesResult {
  kind: 'told';
  /** The number of notified enterprises. */
  enterprises: number;
}

/** Counts of the CFEs rejected for E06 only, by their new state. */
export interface RejectedResult {
  kind: 'asked';
  accepted: number;
  annulled: number;
  /** Not accepted yet. */
  undecided: number;
  /** No usable answer; asked again the next day. */
  unanswered: number;
}

export interface PurgeResult {
  kind: 'purged';
  /** Deleted rows by table. */
  rows: Purged;
}

/** The next step for the report of a day. */
export type PrepareReportResult =
  /** A submission is stored: send it, or ask what happened to it. */
  | { kind: 'ready' }
  /** The day is not complete. */
  | {
      kind: 'waits';
      status: ReportStatus;
      /** For people. */
      what: string;
      /** The longest wait before the next check. */
      mostMilliseconds: number;
    }
  /** The authority has the report; ask for the result of the comparison. */
  | {
      kind: 'ask';
      status: ReportStatus;
      isComplete: boolean;
      /** The wait before the first query; later waits double. */
      askAfterMilliseconds: number;
    }
  | { kind: 'ended'; status: ReportStatus }
  | Stuck;

export type SubmitReportResult =
  | { kind: 'answered'; status: ReportStatus }
  /** Refused: by the authority's clock the day has not started, or another sequence is free. */
  | { kind: 'again'; milliseconds: number }
  | Stuck;

export type AskReportResult = { kind: 'asked'; status: ReportStatus } | Stuck;

export interface StartReportsResult {
  kind: 'started';
  reports: number;
  /** The last processed enterprise; null at the end. */
  after: string | null;
  /** The wait before the next batch. */
  pauseMilliseconds: number;
}

/** The result of one page of the search for unfinished work without a run. */
export interface Recovered {
  kind: 'looked';
  /** The number of restarted runs. */
  recovered: number;
  /** The cursor of the next page; null at the end. */
  after: { workflow: string; key: string } | null;
}

export type LoginValidation =
  | { kind: 'checked'; result: LoginResult }
  /** The check is no longer needed. */
  | { kind: 'nothingToDo' };

/** Whether the authority knows the first number of a CAE and the number before it. */
export type CaeStartResult =
  /** The authority cannot be asked before a certificate is uploaded. */
  | { kind: 'noCertificate' }
  | { kind: 'goesOn'; findings: CaeStartFinding[]; againInMilliseconds: number }
  | { kind: 'ended'; findings: CaeStartFinding[] };

/** The result of preparing the delivery of a CFE to its receiver. */
export interface ExchangeResult {
  kind: 'onItsWay' | 'notElectronic' | 'noAddress';
}

export type DirectoryResult =
  | { kind: 'loaded'; entries: number }
  /** No READY enterprise has a certificate, which the query needs. */
  | { kind: 'nobodyToAsk' };

/** The progress of a bulk run after a batch of its items. */
export type RunResult = RunCounts &
  (
    | { kind: 'goesOn' /** The wait before the next batch. */; pauseMilliseconds: number }
    | { kind: 'ended'; state: 'DONE' | 'STOPPED' }
  );

/** The progress of an enterprise's test run of a day. */
export type TestReceiptsResult =
  | {
      kind: 'goesOn';
      wanted: number;
      received: number;
      rejected: number;
      /** Whether the next receipts can be issued at once; otherwise verdicts are awaited. */
      canIssue: boolean;
    }
  /** All receipts have their verdicts, and enough were received: the report follows. */
  | { kind: 'reports'; received: number; rejected: number }
  | TestRunEnd;

/** No test run is active on the day; `status`: the status of the last run. */
export interface TestRunEnd {
  kind: 'ended';
  status: TestRunStatus;
}
export type TestReportResult = { kind: 'waits' } | TestRunEnd;

/** The progress of the file with a month's receipts; `leftOut`: files that it does not contain. */
export interface ExportCounts {
  total: number;
  done: number;
  leftOut: number;
}
export type ExportResult = ExportCounts & ({ kind: 'goesOn' } | { kind: 'ended'; state: 'DONE' | 'STOPPED' });

export interface ActivityResults {
  takeToVerdict: VerdictResult;
  supportCfe: SupportResult;
  attemptDelivery: AttemptResult;
  attemptMail: MailResult;
  makeReadyWhenComplete: ReadinessResult;
  recordExpiries: ExpiriesResult;
  validateLogin: LoginValidation;
  deleteExpired: PurgeResult;
  startReports: StartReportsResult;
  recoverRuns: Recovered;
  prepareReport: PrepareReportResult;
  submitReport: SubmitReportResult;
  askReport: AskReportResult;
  supportReport: SupportResult;
  askRejected: RejectedResult;
  checkCaeStart: CaeStartResult;
  prepareExchange: ExchangeResult;
  loadDirectory: DirectoryResult;
  actOnItems: RunResult;
  stopItems: RunResult;
  issueTestReceipts: TestReceiptsResult;
  reportTestRun: TestReportResult;
  stopTestRun: TestRunEnd;
  writeExport: ExportResult;
  stopExport: ExportResult;
}
export type ActivityName = keyof ActivityResults;
