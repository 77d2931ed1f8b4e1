import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Activities, MailAttemptInput } from '../../src/activities/activities.ts';
import type { MailResult } from '../../src/domain/authority/activityResults.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

describe('deliverReceipt', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('mail');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const DELAYS = [20, 30, 40];
  const start = (mailId: string, delays = DELAYS) =>
    temporal.client.workflow.start('deliverReceipt', {
      workflowId: `mail:${mailId}`,
      taskQueue: 'mail',
      args: [{ mailId, delays }],
    });
  const again = (mailId: string) =>
    temporal.client.workflow.signalWithStart('deliverReceipt', {
      workflowId: `mail:${mailId}`,
      taskQueue: 'mail',
      args: [{ mailId, delays: DELAYS }],
      signal: 'deliverAgain',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });

  /** A mail server that gives these answers, one after the other, and then the last; a diary of what was asked. */
  function mailServer(...answers: MailResult['kind'][]) {
    const diary: MailAttemptInput[] = [];
    const attemptMail: Activities['attemptMail'] = async (input) => {
      diary.push(input);
      const kind = answers[Math.min(diary.length, answers.length) - 1] ?? 'pending';
      return { kind: kind === 'pending' && input.retriesLeft === 0 ? 'failed' : kind };
    };
    return { diary, attemptMail };
  }

  test.each([
    ['sentAtOnce', ['sent'], 'SENT', [3]],
    ['sentAtARetry', ['pending', 'pending', 'sent'], 'SENT', [3, 2, 1]],
    ['refused', ['failed'], 'FAILED', [3]],
    ['failed', ['pending'], 'FAILED', [3, 2, 1, 0]],
    ['disabled', ['disabled'], 'DISABLED', [3]],
  ] as const)('%s', async (name, answers, status, retriesLeft) => {
    const { diary, attemptMail } = mailServer(...answers);

    await temporal.withWorkers({ attemptMail }, async () => {
      const handle = await start(name);
      expect(await handle.result()).toEqual({ status });
      const { events, text } = await historyOf(handle);
      expect(events).toBeLessThanOrEqual(50);
      expect(text).toContain('retriesLeft');
      expect(text).not.toMatch(/@[a-z]+\.(com|uy|example)|<CFE/);
      await recordHistory(handle, `deliverReceipt.${name}`);
    });

    expect(diary.map((one) => one.retriesLeft)).toEqual(retriesLeft);
  });

  test('one that ended is sent again by a new run with the same id', async () => {
    const { diary, attemptMail } = mailServer('failed', 'sent');

    await temporal.withWorkers({ attemptMail }, async () => {
      const failed = await start('repeated');
      expect(await failed.result()).toEqual({ status: 'FAILED' });
      const repeated = await again('repeated');
      expect(await repeated.result()).toEqual({ status: 'SENT' });
      await recordHistory(repeated, 'deliverReceipt.resent');
    });

    expect(diary).toHaveLength(2);
  });

  test('a request that comes while the next attempt is waited for has it made at once, by a schedule that begins anew', async () => {
    const { diary, attemptMail } = mailServer('pending', 'pending', 'pending', 'sent');

    await temporal.withWorkers({ attemptMail }, async () => {
      const handle = await start('woken', [20, 3_600_000, 40]);
      await until(
        'the pause after the first retry',
        10,
        async () =>
          (await historyOf(handle)).text.split('EVENT_TYPE_TIMER_STARTED').length === 3 || undefined,
      );
      await again('woken');
      expect(await handle.result()).toEqual({ status: 'SENT' });
      expect((await historyOf(handle)).text).toContain('TIMER_CANCELED');
      await recordHistory(handle, 'deliverReceipt.askedForWhileWaiting');
    });

    expect(diary.map((one) => one.retriesLeft)).toEqual([3, 2, 3, 2]);
  });

  test('a request that comes while the last attempt ends is not lost: the same run begins anew', async () => {
    const answers: MailResult[] = [{ kind: 'failed' }, { kind: 'sent' }];
    let asked = 0;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const attemptMail = async () => {
      const answer = answers[asked++];
      if (asked === 1) await gate;
      return answer;
    };

    await temporal.withWorkers({ attemptMail }, async () => {
      const handle = await start('joined');
      await until('the attempt', 10, async () => asked === 1 || undefined);
      await again('joined');
      release();
      expect(await handle.result()).toEqual({ status: 'SENT' });
      await recordHistory(handle, 'deliverReceipt.askedForWhileEnding');
    });

    expect(asked).toBe(2);
  });
});
