import type { ReportKey } from '../db/dailyReports.ts';
import type { ActivityName, ActivityResults } from '../domain/activityResults.ts';
import type { SupportRequest } from '../domain/supportAction.ts';

/** A support update that the workflow of a stuck CFE accepted. */
export interface SupportAct extends SupportRequest {
  cfeUuid: string;
  /** The update's id: what it asks for is done, and audited, once. In the audit, the id of who asked for it. */
  requestId: string;
}

/** The same of a stuck report. */
export interface ReportSupportAct extends SupportRequest {
  report: ReportKey;
  requestId: string;
}

export interface AttemptInput {
  deliveryId: string;
  /** How many more attempts follow if this one fails: with none left, the delivery has failed. */
  retriesLeft: number;
}

export interface MailAttemptInput {
  mailId: string;
  /** How many more attempts follow if this one is not taken: with none left, the e-mail has failed. */
  retriesLeft: number;
}

/** The one argument of each activity type. */
interface Inputs {
  signCfe: [cfeUuid: string];
  submitCfe: [cfeUuid: string];
  awaitVerdict: [cfeUuid: string];
  supportCfe: [act: SupportAct];
  attemptDelivery: [input: AttemptInput];
  attemptMail: [input: MailAttemptInput];
  makeReadyWhenComplete: [rut: string];
  recordExpiries: [];
  deleteExpired: [];
  startReports: [after: string];
  prepareReport: [report: ReportKey];
  submitReport: [report: ReportKey];
  askReport: [report: ReportKey];
  supportReport: [act: ReportSupportAct];
  askRejected: [];
  prepareExchange: [cfeUuid: string];
  loadDirectory: [];
  actOnItems: [runId: string];
  stopItems: [runId: string];
  writeExport: [exportId: string];
  stopExport: [exportId: string];
  validateLogin: [rut: string];
}

/** The activity of that type. */
export type Activity<N extends ActivityName> = (...input: Inputs[N]) => Promise<ActivityResults[N]>;

/** Every activity under the name by which Temporal knows it, and shows it; each has a file of that name. */
export type Activities = { [N in ActivityName]: Activity<N> };
