import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities as AllActivities } from '../../src/activities/activities.ts';
import {
  historyOf,
  openTemporal,
  recordHistory,
  startIssueCfe,
  type TestTemporal,
} from '../support/temporal.ts';
import { until } from '../support/until.ts';

type Activities = Pick<AllActivities, 'signCfe' | 'submitCfe' | 'awaitVerdict'>;

/** Activities that take every CFE to ACCEPTED and keep a diary; a test replaces only those it is about. */
function actors(replacements: Partial<Activities> = {}) {
  const diary: string[] = [];
  const activities: Activities = {
    async signCfe() {
      diary.push('signed');
      return { kind: 'signed' };
    },
    async submitCfe() {
      diary.push('submitted');
      return { kind: 'received' };
    },
    async awaitVerdict() {
      diary.push('asked');
      return { kind: 'decided', status: 'ACCEPTED', codes: [] };
    },
    ...replacements,
  };
  return { activities, diary };
}

describe('issueCfe', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (): Promise<WorkflowHandle> => startIssueCfe(temporal);

  /** Runs one CFE to its end, keeps its history under `name`, and answers how it ended. */
  const runToEnd = (activities: Activities, name: string) =>
    temporal.withWorkers(activities, async () => {
      const handle = await start();
      const result: unknown = await handle.result();
      await recordHistory(handle, name);
      const { events, text } = await historyOf(handle);
      return { result, events, scheduled: text.split('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED').length - 1 };
    });

  /** Waits until the details of the run begin so. */
  const detailsOf = (handle: WorkflowHandle, beginning: string) =>
    until(beginning, 10, async () => {
      const details = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      return details.currentDetails?.startsWith(beginning) || undefined;
    });

  test('signs, submits, awaits, and ends with the verdict', async () => {
    const { activities, diary } = actors();

    const { result } = await runToEnd(activities, 'issueCfe.accepted');

    expect(result).toEqual({ status: 'ACCEPTED' });
    expect(diary).toEqual(['signed', 'submitted', 'asked']);
  });

  test.each(['REJECTED', 'OBSERVED'] as const)('ends %s as a result, not as a failure', async (status) => {
    const { activities } = actors({ awaitVerdict: async () => ({ kind: 'decided', status, codes: [] }) });

    const { result } = await runToEnd(activities, `issueCfe.${status.toLowerCase()}`);

    expect(result).toEqual({ status });
  });

  test.each([
    ['awaitVerdict', { status: 'ACCEPTED', codes: [] }, 'Ended: ACCEPTED.'],
    ['awaitVerdict', { status: 'OBSERVED', codes: [] }, 'Ended: OBSERVED.'],
    ['awaitVerdict', { status: 'REJECTED', codes: ['E05', 'E03'] }, 'Ended: REJECTED (E05, E03).'],
    ['submitCfe', { status: 'REJECTED', codes: ['S04'] }, 'Ended: REJECTED (S04).'],
  ] as const)('after %s with %j its details say: %s', async (step, verdict, words) => {
    const { activities } = actors({ [step]: async () => ({ kind: 'decided', ...verdict }) });
    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      expect(await handle.result()).toEqual({ status: verdict.status });
      await detailsOf(handle, words);
    });
  });

  test('ends at once when the sobre itself is refused', async () => {
    const { activities, diary } = actors({
      submitCfe: async () => ({ kind: 'decided', status: 'REJECTED', codes: [] }),
    });

    const { result } = await runToEnd(activities, 'issueCfe.sobreRefused');

    expect(result).toEqual({ status: 'REJECTED' });
    expect(diary).toEqual(['signed']);
  });

  test('stays within 30 events however often the authority says "not yet"', async () => {
    let asked = 0;
    const { activities } = actors({
      async awaitVerdict() {
        asked += 1;
        if (asked <= 6) {
          throw ApplicationFailure.create({ type: 'NotYet', message: 'not yet', nextRetryDelay: 1 });
        }
        return { kind: 'decided', status: 'OBSERVED', codes: [] };
      },
    });

    const { events } = await runToEnd(activities, 'issueCfe.undecidedThenObserved');

    expect(asked).toBe(7);
    expect(events).toBeLessThanOrEqual(30);
  });

  test.each([
    ['ACCEPTED', { kind: 'received' }, ['submitted', 'asked']],
    ['REJECTED', { kind: 'decided', status: 'REJECTED', codes: [] }, ['submitted']],
  ] as const)(
    'a note waits for its original; once that is %s it goes on',
    async (original, submitted, steps) => {
      const { activities, diary } = actors({
        signCfe: async () => ({ kind: 'waitsForOriginal', original: '101-7' }),
        async submitCfe() {
          diary.push('submitted');
          return submitted;
        },
      });

      await temporal.withWorkers(activities, async () => {
        const handle = await start();
        await detailsOf(handle, 'Waiting for the verdict on the CFE 101-7 that this note corrects');
        expect(diary).toEqual([]);
        await handle.signal('originalDecided');
        await handle.result();
        expect((await historyOf(handle)).events).toBeLessThanOrEqual(30);
        await recordHistory(
          handle,
          `issueCfe.noteAfter${original === 'ACCEPTED' ? 'Accepted' : 'Rejected'}Original`,
        );
      });

      expect(diary).toEqual(steps);
    },
  );

  test('a CFE that must wait for a slot parks without an attempt, and submits again each time it is given one', async () => {
    let submits = 0;
    const { activities, diary } = actors({
      async submitCfe() {
        submits += 1;
        return { kind: submits < 3 ? 'waits' : 'received' };
      },
    });

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      for (const called of [1, 2]) {
        await detailsOf(handle, 'Waits for a slot');
        expect(submits).toBe(called);
        await handle.signal('slotGiven');
        await until('the next try', 10, async () => submits > called || undefined);
      }
      expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfe.waitedForItsTurn');
    });

    expect(diary).toEqual(['signed', 'asked']);
  });

  test('a call that comes while the step still runs is not lost', async () => {
    let submits = 0;
    let handle: WorkflowHandle | undefined;
    const { activities } = actors({
      async submitCfe() {
        submits += 1;
        if (submits > 1) return { kind: 'received' };
        const running = await until('the handle', 10, async () => handle);
        await running.signal('slotGiven');
        return { kind: 'waits' };
      },
    });

    await temporal.withWorkers(activities, async () => {
      handle = await start();
      expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfe.calledBeforeItWaited');
    });
  });

  test('signs within the first workflow task; what fails there once goes on as an activity, which is seen', async () => {
    let tries = 0;
    const { activities, diary } = actors({
      async signCfe() {
        tries += 1;
        if (tries === 1) throw new Error('the database was away');
        return { kind: 'signed' };
      },
    });

    const usual = await runToEnd(actors().activities, 'issueCfe.accepted');
    const failing = await runToEnd(activities, 'issueCfe.signedByActivity');

    expect([usual.scheduled, failing.scheduled]).toEqual([2, 3]);
    // 19 and 25, unless the machine is so full that the signing takes seconds.
    expect(usual.events).toBeLessThanOrEqual(24);
    expect(failing.events).toBeLessThanOrEqual(30);
    expect(diary).toEqual(['submitted', 'asked']);
  });

  test('an error that is no failure of ours leaves its text outside the history', async () => {
    let tries = 0;
    const { activities } = actors({
      async signCfe() {
        tries += 1;
        if (tries > 1) return { kind: 'signed' };
        throw Object.assign(new Error('Failing row contains (1220.00, <CFE xmlns=…, Almacén)'), {
          code: '23514',
          cause: new Error('detail: Almacén'),
        });
      },
    });

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      await handle.result();
      const { text } = await historyOf(handle);
      expect(text).toContain('Error 23514');
      expect(text).not.toMatch(/Failing row|Almacén|1220\.00|<CFE/);
    });
  });
});
