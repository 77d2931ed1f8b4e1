import {
  ApplicationFailure,
  condition,
  currentUpdateInfo,
  getCurrentDetails,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Stuck, SupportResult } from '../domain/activityResults.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { type SupportAnswer, type SupportRequest, supportRequestFault } from '../domain/supportAction.ts';
import { stepFails, stepGoesOn, support } from './messages.ts';
import { NeedsSupportAttribute, StuckReasonAttribute } from './options.ts';

/** A step as support reads of it. */
export interface Step {
  /** What it tries, in words. */
  tries: string;
  /** What support may do when it is stuck: each action, with when it fits. */
  actions: Readonly<Partial<Record<SupportRequest['action'], string>>>;
}

/** For whom a desk is. */
interface Desk {
  /** What waits, in words: `CFE`. */
  readonly thing: string;
  /** The verb of the command line that does what the update does. */
  readonly command: string;
  /** Does what support asks for; `requestId`, the update's id, is the same at every repeat of one request. */
  readonly act: (request: SupportRequest & { requestId: string }) => Promise<SupportResult>;
}

/**
 * The place where a workflow waits for a person. Register it before the first await: `untilDone` repeats a step until
 * it is no longer stuck. The update `support` does what it is asked for and answers what came of it; unless that is a
 * refusal, the step is taken again and finds what was changed. The workflow goes on only once an update has its answer,
 * so that none is cut off by the end.
 */
export function supportDesk({ thing, command, act }: Desk) {
  let waiting: { step: Step; stuck: Stuck } | null = null;
  let isServing = false;
  let goesOn = false;
  const faults = ownFaults();

  async function serve(request: SupportRequest): Promise<SupportAnswer> {
    const requestId = currentUpdateInfo()?.id;
    if (requestId === undefined) throw new TypeError('the handler of an update has no id of the update');
    isServing = true;
    try {
      const { kind: outcome, ...said } = await act({ ...request, requestId });
      const answer = { outcome, ...said };
      if (answer.outcome !== 'refused') goesOn = true;
      else if (waiting)
        setCurrentDetails(`${detailsOf(waiting, command)}\n\n${lastRefusal(request, answer)}`);
      return answer;
    } finally {
      isServing = false;
    }
  }

  setHandler(support, serve, {
    description:
      'While NeedsSupport is true: {"action":"retry"}; action is retry, settle or abandon, as the details of the run say. The audit has what is asked here as unverified.',
    validator: (request) => {
      const fault = supportRequestFault(request);
      if (fault !== undefined) throw refusal('InvalidInput', fault);
      if (!waiting) throw refusal('NothingToDo', nothingToDo(thing, faults.isFailing()));
      if (isServing || goesOn)
        throw refusal('UnderWay', `Another action of support is under way on this ${thing}.`);
    },
  });

  return {
    async untilDone<T extends { kind: string }>(step: Step, take: () => Promise<T | Stuck>): Promise<T> {
      for (;;) {
        const result = await faults.during(step, take);
        if (!isStuck(result)) return result;
        goesOn = false;
        waiting = { step, stuck: result };
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: true },
          { key: StuckReasonAttribute, value: result.reason },
        ]);
        setCurrentDetails(detailsOf(waiting, command));
        await condition(() => goesOn);
        waiting = null;
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: false },
          { key: StuckReasonAttribute, value: null },
        ]);
        setCurrentDetails(`Goes on after support: ${step.tries}.`);
      }
    },
  };
}

const nothingToDo = (thing: string, isFailing: boolean): string =>
  isFailing
    ? `A step of this ${thing} fails by a mistake of ours, and is tried again by itself; tell the developers.`
    : `This ${thing} does not wait for support; it goes on by itself.`;

/** Shows that the step which is being taken keeps failing by a mistake of ours, as the signals say; it is tried again all the same. */
function ownFaults() {
  let taken: Step | null = null;
  let fails = false;
  function failing(isSo: boolean): void {
    if (taken === null || fails === isSo) return;
    fails = isSo;
    upsertSearchAttributes([
      { key: NeedsSupportAttribute, value: isSo },
      { key: StuckReasonAttribute, value: isSo ? OWN_FAULT : null },
    ]);
    // By the time that it goes on, the details may say more: that it waits for a slot, say.
    if (isSo) setCurrentDetails(failingDetails(taken));
    else if (getCurrentDetails() === failingDetails(taken)) setCurrentDetails(`Goes on: ${taken.tries}.`);
  }
  setHandler(stepFails, () => failing(true));
  setHandler(stepGoesOn, () => failing(false));
  return {
    isFailing: () => fails,
    async during<T>(step: Step, take: () => Promise<T>): Promise<T> {
      taken = step;
      const result = await take();
      failing(false);
      taken = null;
      return result;
    },
  };
}

/** The reason of a step that keeps failing by a mistake of ours. */
const OWN_FAULT: StuckReason = 'internal';

const failingDetails = ({ tries }: Step): string =>
  [
    '### Our own code fails',
    `**Reason:** \`${OWN_FAULT}\``,
    `**Tried:** ${tries}`,
    'For an hour now, by a mistake of ours; the pending activity names the kind of the error, and the log of the worker has the whole. It is tried again by itself: deploy a version that mends it, and the run goes on. Support has nothing to do.',
  ].join('\n\n');

const isStuck = (result: { kind: string }): result is Stuck => result.kind === 'stuck';

const refusal = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

/** The details of the run, in Markdown: why it waits, and what may be done, ready to be copied. */
function detailsOf({ step, stuck }: { step: Step; stuck: Stuck }, command: string): string {
  const actions = Object.entries(step.actions).map(
    ([action, when]) => `- ${when}:\n\n  \`\`\`json\n  {"action":"${action}"}\n  \`\`\``,
  );
  return [
    '### Waiting for support',
    `**Reason:** \`${stuck.reason}\``,
    `**Tried:** ${step.tries}`,
    `**What came of it:** ${stuck.explanation}`,
    `**What may be done:** in the console, by \`${command}\` on the command line, or by the update \`support\` with one of these inputs.`,
    ...actions,
    'Temporal knows no logins: the audit has an update that is sent from here as unverified. `"by"` and `"reason"` may be added, and stay in the history of the run.',
  ].join('\n\n');
}

const lastRefusal = ({ action }: SupportRequest, { message }: SupportAnswer): string =>
  `**Last asked for:** \`${action}\`, refused: ${message}`;
