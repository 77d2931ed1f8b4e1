/**
 * The workflows of the service: their ids, queues and policies, one row each. Started by name, so that other
 * processes need no workflow code.
 */
import type { ConnectionOptions } from '@temporalio/client';
import type { StartAttributes } from './searchAttributes.ts';

/**
 * A Temporal server, host:port, and the security of its connections; for both kinds of connection of the SDK.
 */
export type TemporalServer = { readonly address: string; readonly apiKey?: string } & Pick<
  ConnectionOptions,
  'tls'
>;

/**
 * `cfe`: workflows, and activities on our own database; `dgi`: the way of CFEs to the authority and nothing
 * else, so that nothing takes its slots; `calls`: all other calls to the authority; `reports`: days of daily
 * reports; `webhooks`: deliveries; `mail`: e-mails; `exports`: files of receipts.
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

/** Signals. */
export const SIGNALS = {
  /**
   * To `onboardEnterprise`: a certificate, a CAE, the plan, the date or the permissions changed. To `checkCaeStart`: there is
   * another certificate.
   */
  factsChanged: 'factsChanged',
  /** To `issueCfes` of a waiting sobre: it has a slot. */
  slotGiven: 'slotGiven',
  /** To `issueCfes`: its step fails by a bug and is retried. */
  stepFails: 'stepFails',
  /** To `issueCfes`: its step continues and no longer fails by a bug. */
  stepGoesOn: 'stepGoesOn',
  /** To `validateCredentials`: the check was requested, perhaps again. */
  validateAgain: 'validateAgain',
  /** To `deliverWebhook` and `deliverReceipt`: the delivery was requested, perhaps again. */
  deliverAgain: 'deliverAgain',
  /**
   * To `reportDay`: the day has changed, or the report is to be sent at once. To `homologation`: another run
   * was started.
   */
  lookAgain: 'lookAgain',
} as const;
export type SignalName = (typeof SIGNALS)[keyof typeof SIGNALS];

/** The update by which support acts on a waiting `issueCfes` or `reportDay`. */
export const SUPPORT_UPDATE = 'support';

/** Lanes of the outbox. The first two go in this order; a few messages of the last go with every batch. */
export const LANES = { receipts: 0, work: 1, bulk: 2 } as const;

interface WorkflowRow {
  readonly taskQueue: string;
  /** The lane of its starts and signals in the outbox, and of its tasks within a task queue. */
  readonly lane: (typeof LANES)[keyof typeof LANES];
  /**
   * What a closed run with the same id means: ALLOW_DUPLICATE is "again", ALLOW_DUPLICATE_FAILED_ONLY is
   * "done already", unless it was terminated: then its work is still to be done.
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
    summary: 'Makes an enterprise READY once nothing is missing',
  },
  validateCredentials: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.work,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Checks an enterprise's e-invoicing login at the authority",
  },
  checkCaeStart: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.work,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Asks the authority whether a CAE continues where another system stopped',
  },
  deliverWebhook: {
    taskQueue: TASK_QUEUES.webhooks,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Delivers one event to one customer's server",
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
    summary: 'Sends one CFE to its receiver, if that is an electronic issuer',
  },
  deliverReceipt: {
    taskQueue: TASK_QUEUES.mail,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE',
    summary: 'Sends one CFE to one address by e-mail',
  },
  bulkRun: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Acts on many CFEs or deliveries as a person decided, one after the other',
  },
  homologation: {
    taskQueue: TASK_QUEUES.cfe,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Issues the receipts of an enterprise's test run, and sends the report of their day",
  },
  exportReceipts: {
    taskQueue: TASK_QUEUES.exports,
    lane: LANES.bulk,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: "Puts a month's receipts of one enterprise into one file",
  },
} as const satisfies Record<string, WorkflowRow>;

export type WorkflowName = keyof typeof WORKFLOWS;

/** Temporal's priority keys start at 1, and lower ones go first; runs of schedules have 3, its default. */
export const priorityKeyOf = (workflow: WorkflowName): number => WORKFLOWS[workflow].lane + 2;

/**
 * Returns the id of a new sobre's run: `cfe:<rut>:<cfe_id>:<8 of its uuid>`, with `+<n>` after the cfe_id if
 * n others follow the first, to be readable in the list of runs. It is stored on the row; starts, signals and
 * links read it there.
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
/** Returns the id of the run that sends a CFE to its receiver: `exchange:<rut>:<cfe_id>:<8 of its uuid>`. */
export const newExchangeWorkflowId = (cfe: { uuid: string; rut: string; cfeId: string }): string =>
  `exchange:${cfe.rut}:${cfe.cfeId}:${cfe.uuid.slice(0, 8)}`;
/** Returns the id of an enterprise's onboarding. */
const enterpriseWorkflowId = (rut: string): string => `enterprise:${rut}`;
/** Returns the id of an enterprise's credentials check. */
const credentialsWorkflowId = (rut: string): string => `credentials:${rut}`;
/**
 * Returns the id of a new delivery's run: `wh:<event>:<rut, or - for tests>:<uuid>`. As with sobres the id on
 * the row counts.
 */
export const newDeliveryWorkflowId = (delivery: {
  uuid: string;
  event: string;
  rut: string | null;
}): string => `wh:${delivery.event}:${delivery.rut ?? '-'}:${delivery.uuid}`;

/** Returns the id of a day's report. */
export const reportWorkflowId = (report: { rut: string; environment: string; date: string }): string =>
  `${report.environment === 'sandbox' ? 'report-sandbox' : 'report'}:${report.rut}:${report.date}`;

/** Returns the id of a new e-mail's run; the id on the row counts. */
export const newMailWorkflowId = (uuid: string): string => `mail:${uuid}`;

/** Returns the id of a bulk run; the run's own id has its action and its start. */
export const runWorkflowId = (runId: string): string => `run:${runId}`;

/** Returns the id of an export; the export's own id has the enterprise and the month. */
export const exportWorkflowId = (exportId: string): string => `export:${exportId}`;

/** Returns the id of an enterprise's test runs of one day. */
export const homologationWorkflowId = ({ rut, date }: { rut: string; date: string }): string =>
  `homologation:${rut}:${date}`;

/** A message of the outbox: a workflow to start, or to signal and start if it does not run yet. */
export interface WorkflowMessage {
  workflow: WorkflowName;
  workflowId: string;
  /** Ids and enums only: operators read the input in the history. */
  input: WorkflowInput;
  signal?: SignalName;
  /** Shown in lists and queried by operators. */
  searchAttributes?: StartAttributes;
}

/** Notifies an enterprise's onboarding of a changed fact; starts it if it does not run yet. */
export const factsChangedMessage = (rut: string): WorkflowMessage => ({
  workflow: 'onboardEnterprise',
  workflowId: enterpriseWorkflowId(rut),
  input: { rut },
  signal: SIGNALS.factsChanged,
  searchAttributes: { EnterpriseRut: rut, Environment: 'production' },
});

/**
 * Starts the question about the first number of a CAE, `cae-start:<rut>:<authorization number>`, or notifies it of a new
 * certificate.
 */
export const checkCaeStartMessage = (cae: {
  id: string;
  rut: string;
  type: string;
  authorizationNumber: string;
}): WorkflowMessage => ({
  workflow: 'checkCaeStart',
  workflowId: `cae-start:${cae.rut}:${cae.authorizationNumber}`,
  input: { caeId: cae.id },
  signal: SIGNALS.factsChanged,
  searchAttributes: { EnterpriseRut: cae.rut, Environment: 'production', CfeType: cae.type },
});

/** Starts a check of an enterprise's e-invoicing login. */
export const validateCredentialsMessage = (rut: string): WorkflowMessage => ({
  workflow: 'validateCredentials',
  workflowId: credentialsWorkflowId(rut),
  input: { rut },
  searchAttributes: { EnterpriseRut: rut, Environment: 'production' },
});

export type WorkflowInput = Record<string, string | number | number[]>;
