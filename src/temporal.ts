/**
 * Which workflows the service starts, under which ids, on which queues, with which policies: one row each.
 * Started by name, so that nothing here pulls workflow code into other processes.
 */

/** `cfe` workflows and activities on our own database; `dgi` calls to the authority; `webhooks` deliveries. */
export const TASK_QUEUES = { cfe: 'cfe', dgi: 'dgi', webhooks: 'webhooks' } as const;

interface WorkflowRow {
  readonly taskQueue: string;
  /**
   * What a closed run with the same id means: ALLOW_DUPLICATE is "once more", ALLOW_DUPLICATE_FAILED_ONLY is "done
   * already", unless somebody terminated it: then what it was to do is still to be done.
   */
  readonly idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY' | 'ALLOW_DUPLICATE';
  /** One line for the list of runs in the Temporal UI. */
  readonly summary: string;
}

export const WORKFLOWS = {
  issueCfe: {
    taskQueue: TASK_QUEUES.cfe,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Takes one CFE to its verdict at the authority',
  },
  onboardEnterprise: {
    taskQueue: TASK_QUEUES.cfe,
    idReuse: 'ALLOW_DUPLICATE_FAILED_ONLY',
    summary: 'Makes an enterprise READY once everything it needs is there',
  },
  validateCredentials: {
    taskQueue: TASK_QUEUES.cfe,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Checks an enterprise's e-invoicing login at the authority",
  },
  deliverWebhook: {
    taskQueue: TASK_QUEUES.webhooks,
    idReuse: 'ALLOW_DUPLICATE',
    summary: "Brings one event to one customer's server",
  },
} as const satisfies Record<string, WorkflowRow>;

export type WorkflowName = keyof typeof WORKFLOWS;

/** The workflow id of one CFE. */
export const cfeWorkflowId = (cfeId: string): string => `cfe:${cfeId}`;
/** The workflow id of the onboarding of one enterprise. */
const enterpriseWorkflowId = (rut: string): string => `enterprise:${rut}`;
/** The workflow id of the credentials check of one enterprise. */
const credentialsWorkflowId = (rut: string): string => `credentials:${rut}`;
/** The workflow id of one delivery of an event to a webhook. */
export const deliveryWorkflowId = (deliveryId: string): string => `wh:${deliveryId}`;

/** What the outbox carries: a workflow to start, or to signal and start where it does not run yet. */
export interface WorkflowMessage {
  workflow: WorkflowName;
  workflowId: string;
  /** Ids and enums only: the input stands in the history for operators to read. */
  input: WorkflowInput;
  signal?: 'factsChanged' | 'originalSettled' | 'turnCame' | 'validateAgain' | 'deliverAgain';
  /** Shown in lists and used in queries of operators. */
  searchAttributes?: Partial<
    Record<'EnterpriseRut' | 'Environment' | 'CfeType' | 'CfeId' | 'CfeStatus', string>
  >;
}

/** Starts the workflow of one CFE; `cfe.cfeId` is the public id, `101-1`. */
export const issueCfeMessage = (cfe: {
  id: string;
  rut: string;
  environment: string;
  type: string;
  status: string;
  cfeId: string;
}): WorkflowMessage => ({
  workflow: 'issueCfe',
  workflowId: cfeWorkflowId(cfe.id),
  input: { cfeId: cfe.id },
  searchAttributes: {
    EnterpriseRut: cfe.rut,
    Environment: cfe.environment,
    CfeType: cfe.type,
    CfeId: cfe.cfeId,
    CfeStatus: cfe.status,
  },
});

/** Tells an enterprise's onboarding that a fact it may wait for has changed; starts it where it does not run yet. */
export const factsChangedMessage = (rut: string): WorkflowMessage => ({
  workflow: 'onboardEnterprise',
  workflowId: enterpriseWorkflowId(rut),
  input: { rut },
  signal: 'factsChanged',
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
