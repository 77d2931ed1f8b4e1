import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SupportAnswer, SupportRequest } from '../domain/supportAction.ts';
import { SIGNALS, SUPPORT_UPDATE } from '../temporal.ts';

export const factsChanged = defineSignal(SIGNALS.factsChanged);
export const slotGiven = defineSignal(SIGNALS.slotGiven);
export const stepFails = defineSignal(SIGNALS.stepFails);
export const stepGoesOn = defineSignal(SIGNALS.stepGoesOn);
export const validateAgain = defineSignal(SIGNALS.validateAgain);
export const deliverAgain = defineSignal(SIGNALS.deliverAgain);

export const lookAgain = defineSignal(SIGNALS.lookAgain);

/** To `issueCfes` and `reportDay` while it waits for support. Answers what really happened. */
export const support = defineUpdate<SupportAnswer, [SupportRequest]>(SUPPORT_UPDATE);
