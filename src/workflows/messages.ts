import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SupportAnswer, SupportRequest } from '../domain/supportAction.ts';

/** To `onboardEnterprise`: a certificate, a CAE, the plan, the date or the permissions changed. */
export const factsChanged = defineSignal('factsChanged');

/** To `issueCfe` of a note: the CFE that it corrects has its verdict. */
export const originalSettled = defineSignal('originalSettled');

/** To `issueCfe` of a CFE that waits for its turn at the authority: it may be sent. */
export const turnCame = defineSignal('turnCame');

/** To `validateCredentials`: the check was asked for (once more). */
export const validateAgain = defineSignal('validateAgain');

/** To `deliverWebhook`: the delivery was asked for (once more). */
export const deliverAgain = defineSignal('deliverAgain');

/** To `issueCfe` while it waits for support. Answers what really happened. */
export const support = defineUpdate<SupportAnswer, [SupportRequest]>('support');
