import type { ReportKey } from '../db/dailyReports.ts';
import type { ActivityName, ActivityResults, Recovered } from '../domain/activityResults.ts';
import type { SupportRequest } from '../domain/supportAction.ts';

/** What support asks of a CFE that was rejected for E06 alone. */
export interface SupportAct extends Omit<SupportRequest, 'cfe_id'> {
  cfeUuid: string;
  /** The update's id: what it asks for is done, and audited, once. In the audit, the id of who asked for it. */
  requestId: string;
}

/** A support update that the run of a sobre accepted, for one of its CFEs. */
export interface SobreSupportAct extends Omit<SupportRequest, 'cfe_id'> {
  sobreId: string;
  cfe_id: string;
  requestId: string;
}

/** The same of a stuck report. */
export interface ReportSupportAct extends Omit<SupportRequest, 'cfe_id'> {
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
  /** `told`: the CFEs of which its run knows that they wait for a person; left out, it is not to be told. */
  takeToVerdict: [sobreId: string, told?: readonly string[]];
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
  writeExport: [exportId: string];
  stopExport: [exportId: string];
  validateLogin: [rut: string];
}

/** The activity of that type. */
export type Activity<N extends ActivityName> = (...input: Inputs[N]) => Promise<ActivityResults[N]>;

/** Every activity under the name by which Temporal knows it, and shows it; each has a file of that name. */
export type Activities = { [N in ActivityName]: Activity<N> };
