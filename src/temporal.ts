/**
 * Which workflows the service starts, under which ids, on which queues, with which policies: one row each.
 * Started by name, so that nothing here pulls workflow code into other processes.
 */
import type { ConnectionOptions } from '@temporalio/client';
import type { StartAttributes } from './searchAttributes.ts';

/** A Temporal server, host:port, and how connections to it are secured; for both kinds of connection of the SDK. */
export type TemporalServer = { readonly address: string; readonly apiKey?: string } & Pick<
  ConnectionOptions,
  'tls'
>;

/**
 * `cfe` workflows and activities on our own database; `dgi` what takes CFEs to the authority, and nothing else, so that
 * nothing takes their places; `calls` whatever else asks the authority; `reports` the days of daily reports; `webhooks`
 * deliveries; `mail` e-mails; `exports` files of receipts.
 */
export const TASK_QUEUES = {
  cfe: 'cfe',
  dgi: 'dgi',
  calls: 'calls',
  reports: 'reports',
  webhooks: 'webhooks',
  mail: 'mail',
  exports: 'exports',
} as const;

/** Signals, by what they say. */
export const SIGNALS = {
  /** To `onboardEnterprise`: a certificate, a CAE, the plan, the date or the permissions changed. */
  factsChanged: 'factsChanged',
  /** To `issueCfes` of a sobre that waits at the gate: it has been given a slot. */
  slotGiven: 'slotGiven',
  /** To `issueCfes`: its step keeps failing by a mistake of ours, and is tried again. */
  stepFails: 'stepFails',
  /** To `issueCfes`: its step still goes on, and fails no longer by a mistake of ours. */
  stepGoesOn: 'stepGoesOn',
  /** To `validateCredentials`: the check was asked for (once more). */
  validateAgain: 'validateAgain',
  /** To `deliverWebhook` and `deliverReceipt`: the delivery was asked for (once more). */
  deliverAgain: 'deliverAgain',
  /** To `reportDay`: something of the day has changed, or the report is to be sent at once. */
  lookAgain: 'lookAgain',
} as const;
export type SignalName = (typeof SIGNALS)[keyof typeof SIGNALS];

/** The update by which support acts on an `issueCfes`, or a `reportDay`, that waits for it. */
export const SUPPORT_UPDATE = 'support';

/** Lanes of the outbox. Those before the last go in this order; of the last, a few go with each batch, whatever else waits. */
export const LANES = { receipts: 0, work: 1, bulk: 2 } as const;

interface WorkflowRow {
  readonly taskQueue: string;
  /** By which lane its starts and signals leave the outbox, and whose tasks go first within a task queue. */
  readonly lane: (typeof LANES)[keyof typeof LANES];
  /**
   * What a closed run with the same id means: ALLOW_DUPLICATE is "once more", ALLOW_DUPLICATE_FAILED_ONLY is "done
   * already", unless somebody terminated it: then what it was to do is still to be done.
   */
  readonly idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY' | 'ALLOW_DUPLICATE';
  /** One line for the list of runs in the Temporal UI. */
  readonly summary: string;
}

export const WORKFLOWS = {
  issueCfes: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.receipts,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Takes the CFEs of one sobre to their verdicts at the authority',
  },
  onboardEnterprise: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.work,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Makes an enterprise READY once everything it needs is there',
  },
  validateCredentials: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.work,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Checks an enterprise's e-invoicing login at the authority",
  },
  deliverWebhook: {
    taskQueue: TASK_QUEUES.webhooks,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Brings one event to one customer's server",
  },
  reportDay: {
    taskQueue: TASK_QUEUES.reports,
    lane: LANES.work,
    idReuse: 'ALLOW_DUPLICATE',
    summary: 'Reports one day of one enterprise to the authority, and corrects it',
  },
  exchangeCfe: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.work,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Brings one CFE to its receiver, if that is an electronic one',
  },
  deliverReceipt: {
    taskQueue: TASK_QUEUES.mail,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE',
    summary: 'Brings one CFE to one address by e-mail',
  },
  bulkRun: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Does what a person decided for many CFEs or deliveries, one after the other',
  },
  exportReceipts: {
    taskQueue: TASK_QUEUES.exports,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: "Puts a month's receipts of one enterprise into one file",
  },
} as const satisfies Record<string, WorkflowRow>;

export type WorkflowName = keyof typeof WORKFLOWS;

/** Temporal's keys of priority begin at 1, and the lower go first; the schedules' runs have 3, its own middle. */
export const priorityKeyOf = (workflow: WorkflowName): number => WORKFLOWS[workflow].lane + 2;

/**
 * The id under which the run of a new sobre will go: `cfe:<rut>:<cfe_id>:<8 of its uuid>`, with `+<n>` behind the cfe_id
 * where n others follow the first, so that a person can read it in the list of runs. It is stored on the row; whoever
 * starts, signals or links takes it from there.
 */
export const newSobreWorkflowId = (sobre: {
  uuid: string;
  rut: string;
  environment: string;
  firstCfeId: string;
  others: number;
}): string =>
  [
    sobre.environment === 'sandbox' ? 'cfe-sandbox' : 'cfe',
    sobre.rut,
    sobre.others === 0 ? sobre.firstCfeId : `${sobre.firstCfeId}+${sobre.others}`,
    sobre.uuid.slice(0, 8),
  ].join(':');
/** The id under which the workflow runs that brings a CFE to its receiver: `exchange:<rut>:<cfe_id>:<8 of its uuid>`. */
export const newExchangeWorkflowId = (cfe: { uuid: string; rut: string; cfeId: string }): string =>
  `exchange:${cfe.rut}:${cfe.cfeId}:${cfe.uuid.slice(0, 8)}`;
/** The workflow id of the onboarding of one enterprise. */
const enterpriseWorkflowId = (rut: string): string => `enterprise:${rut}`;
/** The workflow id of the credentials check of one enterprise. */
const credentialsWorkflowId = (rut: string): string => `credentials:${rut}`;
/**
 * The id under which the workflow of a new delivery will run: `wh:<event>:<rut, or - for tests>:<uuid>`. As with CFEs the
 * row's own counts.
 */
export const newDeliveryWorkflowId = (delivery: {
  uuid: string;
  event: string;
  rut: string | null;
}): string => `wh:${delivery.event}:${delivery.rut ?? '-'}:${delivery.uuid}`;

/** The workflow id of the report of a day. */
export const reportWorkflowId = (report: { rut: string; environment: string; date: string }): string =>
  `${report.environment === 'sandbox' ? 'report-sandbox' : 'report'}:${report.rut}:${report.date}`;

/** The id under which the workflow of a new e-mail will run; the row's own counts. */
export const newMailWorkflowId = (uuid: string): string => `mail:${uuid}`;

/** The workflow id of a bulk run; the run's own id says what it does and since when. */
export const runWorkflowId = (runId: string): string => `run:${runId}`;

/** The workflow id of a month's receipts as a file; the export's own id says whose and of which month. */
export const exportWorkflowId = (exportId: string): string => `export:${exportId}`;

/** What the outbox carries: a workflow to start, or to signal and start where it does not run yet. */
export interface WorkflowMessage {
  workflow: WorkflowName;
  workflowId: string;
  /** Ids and enums only: the input stands in the history for operators to read. */
  input: WorkflowInput;
  signal?: SignalName;
  /** Shown in lists and used in queries of operators. */
  searchAttributes?: StartAttributes;
}

/** Tells an enterprise's onboarding that a fact it may wait for has changed; starts it where it does not run yet. */
export const factsChangedMessage = (rut: string): WorkflowMessage => ({
  workflow: 'onboardEnterprise',
  workflowId: enterpriseWorkflowId(rut),
  input: { rut },
  signal: SIGNALS.factsChanged,
  searchAttributes: { EnterpriseRut: rut, Environment: 'production' },
});

/** Starts a check of an enterprise's e-invoicing login. */
export const validateCredentialsMessage = (rut: string): WorkflowMessage => ({
  workflow: 'validateCredentials',
  workflowId: credentialsWorkflowId(rut),
  input: { rut },
  searchAttributes: { EnterpriseRut: rut, Environment: 'production' },
});

export type WorkflowInput = Record<string, string | number | number[]>;
