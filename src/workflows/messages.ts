import { defineSignal, defineUpdate } from '@temporalio/workflow';

/** To `onboardEnterprise`: a certificate, a CAE, the plan, the date or the permissions changed. */
export const factsChanged = defineSignal('factsChanged');

/** To `issueCfe` of a note: the CFE that it corrects has its verdict. */
export const originalSettled = defineSignal('originalSettled');

/** To `validateCredentials`: the check was asked for (once more). */
export const validateAgain = defineSignal('validateAgain');

/** To `deliverWebhook`: the delivery was asked for (once more). */
export const deliverAgain = defineSignal('deliverAgain');

/** What support may ask of a CFE that waits for a person. `by` and `reason` are for the audit. */
export interface SupportAction {
  action: 'retry';
  by: string;
  reason: string;
}

/** To `issueCfe` while it waits for support: go on. Answers what happens now. */
export const support = defineUpdate<{ done: string }, [SupportAction]>('support');
