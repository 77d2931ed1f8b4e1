import {
  ApplicationFailure,
  condition,
  currentUpdateInfo,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Stuck } from '../domain/activityResults.ts';
import { type SupportAnswer, type SupportRequest, supportRequestFault } from '../domain/supportAction.ts';
import { activity } from './activities.ts';
import { support } from './messages.ts';
import { NeedsSupportAttribute, StuckReasonAttribute, SUPPORT } from './options.ts';

const supportCfe = activity('supportCfe', { ...SUPPORT, summary: 'Do what support asks for' });

/** A step as support reads of it. */
export interface Step {
  /** What it tries, in words. */
  tries: string;
  /** What support may do when it is stuck: each action, with when it fits. */
  actions: Readonly<Partial<Record<SupportRequest['action'], string>>>;
}

/**
 * The place where a workflow waits for a person. Register it before the first await: `untilDone` repeats a step until
 * it is no longer stuck. The update `support` does what it is asked for and answers what came of it; unless that is a
 * refusal, the step is taken again and finds what was changed. The workflow goes on only once an update has its answer,
 * so that none is cut off by the end.
 */
export function supportDesk(cfeUuid: string) {
  let waiting: { step: Step; stuck: Stuck } | null = null;
  let isServing = false;
  let goesOn = false;

  async function serve(request: SupportRequest): Promise<SupportAnswer> {
    if (!patched('support-acts')) {
      goesOn = true;
      return { outcome: 'retried', message: 'The step that was stuck is tried again now.' };
    }
    isServing = true;
    try {
      const requestId = `${cfeUuid}:${currentUpdateInfo()?.id}`;
      const { kind: outcome, message } = await supportCfe({ ...request, cfeId: cfeUuid, requestId });
      const answer = { outcome, message };
      if (answer.outcome !== 'refused') goesOn = true;
      else if (waiting) setCurrentDetails(`${detailsOf(waiting)}\n\n${lastRefusal(request, answer)}`);
      return answer;
    } finally {
      isServing = false;
    }
  }

  setHandler(support, serve, {
    description:
      'While NeedsSupport is true: {"action":"retry","by":"…","reason":"…"}; action is retry, settle or abandon, as the details of the run say.',
    validator: (request) => {
      const fault = supportRequestFault(request);
      if (fault !== undefined) throw refusal('InvalidInput', fault);
      if (!waiting) throw refusal('NothingToDo', 'This CFE does not wait for support; it goes on by itself.');
      if (isServing || goesOn)
        throw refusal('UnderWay', 'Another action of support is under way on this CFE.');
    },
  });

  return {
    async untilDone<T extends { kind: string }>(step: Step, take: () => Promise<T | Stuck>): Promise<T> {
      for (;;) {
        const result = await take();
        if (!isStuck(result)) return result;
        goesOn = false;
        waiting = { step, stuck: result };
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: true },
          { key: StuckReasonAttribute, value: result.reason },
        ]);
        setCurrentDetails(detailsOf(waiting));
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

const isStuck = (result: { kind: string }): result is Stuck => result.kind === 'stuck';

const refusal = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

/** The details of the run, in Markdown: why it waits, and what may be done, ready to be copied. */
function detailsOf({ step, stuck }: { step: Step; stuck: Stuck }): string {
  const actions = Object.entries(step.actions).map(
    ([action, when]) =>
      `- ${when}:\n\n  \`\`\`json\n  {"action":"${action}","by":"your name","reason":"why"}\n  \`\`\``,
  );
  return [
    '### Waiting for support',
    `**Reason:** \`${stuck.reason}\``,
    `**Tried:** ${step.tries}`,
    `**What came of it:** ${stuck.explanation}`,
    '**What may be done:** send the update `support` with one of these inputs, or use `cfe retry` on the command line.',
    ...actions,
  ].join('\n\n');
}

const lastRefusal = ({ action, by }: SupportRequest, { message }: SupportAnswer): string =>
  `**Last asked for:** \`${action}\` by \`${by.replaceAll('`', "'")}\`, refused: ${message}`;
