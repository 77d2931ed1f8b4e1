/**
 * What each activity answers, told apart by `kind`. Histories keep these values: ids, enums, and words for support;
 * never documents, names or amounts. Types only, so that workflows may use them.
 */
import type { FinalStatus } from './cfeStatus.ts';
import type { ReportStatus } from './reportStatus.ts';
import type { Purged } from './retention.ts';
import type { RunCounts } from './run.ts';
import type { StuckReason } from './stuckReason.ts';
import type { SupportOutcome } from './supportAction.ts';
import type { Why } from './supportRefusal.ts';
import type { LoginResult } from './webhookEvents.ts';

/** A step that only a person can bring forward. */
export interface Stuck {
  kind: 'stuck';
  reason: StuckReason;
  /** For support: what was tried and what may be done. No papers, names or amounts. */
  explanation: string;
}

/** CFEs that only a person can bring forward, by their cfe_ids, for one reason. */
export interface StuckCfes extends Omit<Stuck, 'kind'> {
  cfeIds: string[];
}

/** How a CFE of a sobre ended: its verdict; or LEFT, as it goes on in another sobre. */
export type CfeEnding = FinalStatus | 'LEFT';

/** Where the sobre of a run has come to. */
export type VerdictResult =
  /** All of its CFEs have their verdicts, or left it. */
  | {
      kind: 'ended';
      endings: Record<string, CfeEnding>;
      /** The codes of the reasons for rejections. */
      codes: string[];
    }
  /** It waits at the gate: the signal `slotGiven` says that it has been given a slot. */
  | { kind: 'waits' }
  | {
      kind: 'stuck';
      /** What it tried. */
      step: 'sign' | 'send' | 'ask';
      stuck: StuckCfes[];
      /** Whether others of the sobre go on meanwhile. */
      goesOn: boolean;
    };

/** What came of support's act; `message` is for people. */
export interface SupportResult {
  kind: SupportOutcome;
  message: string;
  /** Of what is refused, as a code. */
  why?: Why;
}

export type AttemptResult =
  | { kind: 'delivered' }
  /** It is not tried again. */
  | { kind: 'failed' }
  /** To be tried again after the next delay. */
  | { kind: 'pending' };

export type MailResult =
  | { kind: 'sent' }
  /** It is not tried again. */
  | { kind: 'failed' }
  /** There is no mail server to send it. */
  | { kind: 'disabled' }
  /** To be tried again after the next delay. */
  | { kind: 'pending' };

export type ReadinessResult =
  | { kind: 'ready' }
  | {
      kind: 'lacking';
      /** In words, for people. */
      lacking: string[];
      /** Milliseconds until the scheduled date; null when it has come, or there is none. */
      dueInMilliseconds: number | null;
    };

export interface ExpiriesResult {
  kind: 'told';
  /** How many enterprises were told. */
  enterprises: number;
}

/** How many CFEs that were rejected for E06 alone came to what. */
export interface RejectedResult {
  kind: 'asked';
  accepted: number;
  annulled: number;
  /** The authority has not accepted them, and still may. */
  undecided: number;
  /** It gave no answer to go by; asked again the next day. */
  unanswered: number;
}

export interface PurgeResult {
  kind: 'purged';
  /** How many rows of each table went. */
  rows: Purged;
}

/** What the report of a day needs next. */
export type PrepareReportResult =
  /** A submission is stored and is to be sent, or its fate to be found out. */
  | { kind: 'ready' }
  /** Something of the day is still to come. */
  | {
      kind: 'waits';
      status: ReportStatus;
      /** For people. */
      what: string;
      /** Looked at again after so long at the latest. */
      mostMilliseconds: number;
    }
  /** The authority has it, and is to be asked what it made of it. */
  | {
      kind: 'ask';
      status: ReportStatus;
      isComplete: boolean;
      /** So long until the first question; then the pauses double. */
      askAfterMilliseconds: number;
    }
  | { kind: 'ended'; status: ReportStatus }
  | Stuck;

export type SubmitReportResult =
  | { kind: 'answered'; status: ReportStatus }
  /** Not taken as the day has not begun by the authority's clock, or another sequence is free. */
  | { kind: 'again'; milliseconds: number }
  | Stuck;

export type AskReportResult = { kind: 'asked'; status: ReportStatus } | Stuck;

export interface StartReportsResult {
  kind: 'started';
  /** How many reports. */
  reports: number;
  /** The last enterprise that was looked at; null when there are no more. */
  after: string | null;
  /** So long until the next ones may be started. */
  pauseMilliseconds: number;
}

/** After a page of what is not ended. */
export interface Recovered {
  kind: 'looked';
  /** How many had no run and were started again. */
  recovered: number;
  /** Where the next page begins; null when there is none. */
  after: { workflow: string; key: string } | null;
}

export type LoginValidation =
  | { kind: 'checked'; result: LoginResult }
  /** No check is wanted any more. */
  | { kind: 'nothingToDo' };

/** What came of a CFE that its receiver is to have, should that be an electronic one. */
export interface ExchangeResult {
  kind: 'onItsWay' | 'notElectronic' | 'noAddress';
}

export type DirectoryResult =
  | { kind: 'loaded' /** How many entries came. */; entries: number }
  /** No enterprise is READY, with whose certificate the authority could be asked. */
  | { kind: 'nobodyToAsk' };

/** How far a bulk run is after a batch of its things. */
export type RunResult = RunCounts &
  (
    | { kind: 'goesOn' /** So long until the next batch. */; pauseMilliseconds: number }
    | { kind: 'ended'; state: 'DONE' | 'STOPPED' }
  );

/** How far the file with a month's receipts is: receipts looked at, of how many, and files that are not in it. */
export interface ExportCounts {
  total: number;
  done: number;
  leftOut: number;
}
export type ExportResult = ExportCounts & ({ kind: 'goesOn' } | { kind: 'ended'; state: 'DONE' | 'STOPPED' });

/** The results by activity type. */
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
  prepareExchange: ExchangeResult;
  loadDirectory: DirectoryResult;
  actOnItems: RunResult;
  stopItems: RunResult;
  writeExport: ExportResult;
  stopExport: ExportResult;
}
export type ActivityName = keyof ActivityResults;
