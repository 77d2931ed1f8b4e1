import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Activities, AttemptInput } from '../../src/activities/activities.ts';
import type { AttemptResult } from '../../src/domain/authority/activityResults.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

describe('deliverWebhook', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('webhooks');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const DELAYS = [20, 30, 40];
  const start = (deliveryId: string, delays = DELAYS) =>
    temporal.client.workflow.start('deliverWebhook', {
      workflowId: `wh:${deliveryId}`,
      taskQueue: 'webhooks',
      args: [{ deliveryId, delays }],
    });
  const again = (deliveryId: string) =>
    temporal.client.workflow.signalWithStart('deliverWebhook', {
      workflowId: `wh:${deliveryId}`,
      taskQueue: 'webhooks',
      args: [{ deliveryId, delays: DELAYS }],
      signal: 'deliverAgain',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });

  /** How many pauses a workflow has begun. */
  const pausesOf = async (handle: Parameters<typeof historyOf>[0]): Promise<number> =>
    (await historyOf(handle)).text.split('EVENT_TYPE_TIMER_STARTED').length - 1;

  /** What a workflow did, in order: its attempts that ended, and its pauses, by their milliseconds. */
  const stepsOf = async (handle: Parameters<typeof historyOf>[0]): Promise<(string | number)[]> =>
    ((await handle.fetchHistory()).events ?? []).flatMap((event): (string | number)[] => {
      if (event.activityTaskCompletedEventAttributes) return ['attempt'];
      const pause = event.timerStartedEventAttributes?.startToFireTimeout;
      return pause ? [Number(pause.seconds ?? 0) * 1_000 + (pause.nanos ?? 0) / 1e6] : [];
    });

  /** A receiver that takes the attempt of this number; a diary of what was asked. */
  function receiver(takesAt: number) {
    const diary: AttemptInput[] = [];
    const attemptDelivery: Activities['attemptDelivery'] = async (input) => {
      diary.push(input);
      if (diary.length === takesAt) return { kind: 'delivered' };
      return { kind: input.retriesLeft === 0 ? 'failed' : 'pending' };
    };
    return { diary, attemptDelivery };
  }

  test.each([
    [1, 'deliveredAtOnce', [3]],
    [2, 'deliveredAtTheFirstRetry', [3, 2]],
    [4, 'deliveredAtTheLastRetry', [3, 2, 1, 0]],
  ])('a receiver that takes attempt %i has it delivered', async (takesAt, name, retriesLeft) => {
    const { diary, attemptDelivery } = receiver(takesAt);

    await temporal.withWorkers({ attemptDelivery }, async () => {
      const handle = await start(`delivered-${takesAt}`);
      expect(await handle.result()).toEqual({ status: 'DELIVERED' });
      expect((await handle.describe()).searchAttributes).toMatchObject({ State: ['DELIVERED'] });
      await recordHistory(handle, `deliverWebhook.${name}`);
    });

    expect(diary.map((one) => one.retriesLeft)).toEqual(retriesLeft);
  });

  test('after the third retry it has failed; each pause follows the failure before, and a history stays small', async () => {
    const { diary, attemptDelivery } = receiver(0);

    await temporal.withWorkers({ attemptDelivery }, async () => {
      const handle = await start('failed', [100, 300, 600]);
      expect(await handle.result()).toEqual({ status: 'FAILED' });
      const { events, text } = await historyOf(handle);
      expect(events).toBeLessThanOrEqual(50);
      expect(text).not.toMatch(/whsec|https?:/);
      // By what it asked of Temporal, for no clock of two activities tells how long it waited.
      expect(await stepsOf(handle)).toEqual(['attempt', 100, 'attempt', 300, 'attempt', 600, 'attempt']);
      expect((await handle.describe()).searchAttributes).toMatchObject({ State: ['FAILED'] });
      await recordHistory(handle, 'deliverWebhook.failed');
    });

    expect(diary.map((one) => one.retriesLeft)).toEqual([3, 2, 1, 0]);
  });

  test('a delivery that ended is repeated by a new run with the same id', async () => {
    const { diary, attemptDelivery } = receiver(5);

    await temporal.withWorkers({ attemptDelivery }, async () => {
      const failed = await start('repeated');
      expect(await failed.result()).toEqual({ status: 'FAILED' });
      const repeated = await again('repeated');
      expect(await repeated.result()).toEqual({ status: 'DELIVERED' });
      await recordHistory(repeated, 'deliverWebhook.redelivered');
    });

    expect(diary.map((one) => one.retriesLeft)).toEqual([3, 2, 1, 0, 3]);
  });

  test('a request that comes while the next attempt is waited for has it made at once, by a schedule that begins anew', async () => {
    const { diary, attemptDelivery } = receiver(4);

    await temporal.withWorkers({ attemptDelivery }, async () => {
      const handle = await start('woken', [20, 3_600_000, 40]);
      await until(
        'the pause after the first retry',
        10,
        async () => (await pausesOf(handle)) === 2 || undefined,
      );
      await again('woken');
      await until('an attempt at once', 10, async () => diary.length === 3 || undefined);
      expect(await handle.result()).toEqual({ status: 'DELIVERED' });
      const { text } = await historyOf(handle);
      expect(text).toContain('TIMER_CANCELED');
      await recordHistory(handle, 'deliverWebhook.askedForWhileWaiting');
    });

    expect(diary.map((one) => one.retriesLeft)).toEqual([3, 2, 3, 2]);
  });

  test('a request that comes while the last attempt ends is not lost: the same run begins anew', async () => {
    const answers: AttemptResult[] = [{ kind: 'failed' }, { kind: 'delivered' }];
    let asked = 0;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const attemptDelivery = async () => {
      const answer = answers[asked++];
      if (asked === 1) await gate;
      return answer;
    };

    await temporal.withWorkers({ attemptDelivery }, async () => {
      const handle = await start('joined');
      await until('the attempt', 10, async () => asked === 1 || undefined);
      await again('joined');
      release();
      expect(await handle.result()).toEqual({ status: 'DELIVERED' });
      await recordHistory(handle, 'deliverWebhook.askedForWhileEnding');
    });

    expect(asked).toBe(2);
  });
});
