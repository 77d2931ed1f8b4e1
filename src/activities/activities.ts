import type { TestRunKey } from '../db/enterprises/homologations.ts';
import type { ReportKey } from '../db/reports/dailyReports.ts';
import type { ActivityName, ActivityResults, Recovered } from '../domain/authority/activityResults.ts';
import type { SupportRequest } from '../domain/operations/supportAction.ts';

/** An action of support on a CFE rejected for E06 alone. */
export interface SupportAct extends Omit<SupportRequest, 'cfe_id'> {
  cfeUuid: string;
  /** The update's id, under which the request is executed and audited once. */
  requestId: string;
}

/** A support update for one CFE of a sobre, accepted by the run of that sobre. */
export interface SobreSupportAct extends Omit<SupportRequest, 'cfe_id'> {
  sobreId: string;
  cfe_id: string;
  requestId: string;
}

/** A support update for a stuck report. */
export interface ReportSupportAct extends Omit<SupportRequest, 'cfe_id'> {
  report: ReportKey;
  requestId: string;
}

export interface AttemptInput {
  deliveryId: string;
  /** Attempts that follow if this one fails; at 0 the delivery has failed. */
  retriesLeft: number;
}

export interface MailAttemptInput {
  mailId: string;
  /** Attempts that follow if the mail server does not take this one; at 0 the e-mail has failed. */
  retriesLeft: number;
}

/** The one argument of each activity type. */
interface Inputs {
  /** `reported`: the CFEs that the run already shows as waiting for support; if omitted, none is reported again. */
  takeToVerdict: [sobreId: string, reported?: readonly string[]];
  supportCfe: [act: SupportAct | SobreSupportAct];
  attemptDelivery: [input: AttemptInput];
  attemptMail: [input: MailAttemptInput];
  makeReadyWhenComplete: [rut: string];
  recordExpiries: [];
  deleteExpired: [];
  startReports: [after: string];
  recoverRuns: [after: Recovered['after']];
  prepareReport: [report: ReportKey];
  submitReport: [report: ReportKey];
  askReport: [report: ReportKey];
  supportReport: [act: ReportSupportAct];
  askRejected: [];
  prepareExchange: [cfeUuid: string];
  loadDirectory: [];
  actOnItems: [runId: string];
  stopItems: [runId: string];
  issueTestReceipts: [run: TestRunKey];
  reportTestRun: [run: TestRunKey];
  stopTestRun: [run: TestRunKey];
  writeExport: [exportId: string];
  stopExport: [exportId: string];
  checkCaeStart: [caeId: string];
  validateLogin: [rut: string];
}

/** An activity of that type. */
export type Activity<N extends ActivityName> = (...input: Inputs[N]) => Promise<ActivityResults[N]>;

/** All activities by their names in Temporal; each has a file of that name. */
export type Activities = { [N in ActivityName]: Activity<N> };
