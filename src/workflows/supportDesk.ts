import {
  ApplicationFailure,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Stuck } from '../activities/failures.ts';
import { type SupportAction, support } from './messages.ts';
import { NeedsSupportAttribute, StuckReasonAttribute } from './options.ts';

/**
 * The place where a workflow waits for a person. Register it before the first await: `untilDone` repeats a step until
 * it is no longer stuck, waiting for a `support` update in between.
 */
export function supportDesk() {
  let waitingFor: Stuck | null = null;
  let asked: SupportAction | null = null;

  setHandler(
    support,
    (action) => {
      asked = action;
      return { done: 'The step that was stuck is tried again now.' };
    },
    {
      description: 'Tries the stuck step again. Only while NeedsSupport is true.',
      validator: (_action: SupportAction) => {
        if (!waitingFor || asked) {
          throw ApplicationFailure.create({
            type: 'NothingToDo',
            message: 'This CFE does not wait for support; it goes on by itself.',
            nonRetryable: true,
          });
        }
      },
    },
  );

  return {
    async untilDone<T extends object>(step: () => Promise<T | Stuck>): Promise<T> {
      for (;;) {
        const outcome = await step();
        if (!('stuck' in outcome)) return outcome;
        waitingFor = outcome;
        asked = null;
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: true },
          { key: StuckReasonAttribute, value: outcome.stuck },
        ]);
        setCurrentDetails(
          `### Waiting for support\n\n${outcome.explanation}\n\nOnce mended: update \`support\` with {"action":"retry","by":"…","reason":"…"}.`,
        );
        await condition(() => asked !== null);
        waitingFor = null;
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: false },
          { key: StuckReasonAttribute, value: null },
        ]);
        setCurrentDetails('Support asked for another try.');
      }
    },
  };
}
