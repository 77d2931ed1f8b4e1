import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CaeStartResult } from '../../src/domain/authority/activityResults.ts';
import { checkCaeStartMessage } from '../../src/temporal.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

describe('checkCaeStart', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'calls');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const messageOf = (authorizationNumber: string) =>
    checkCaeStartMessage({ id: 'one', rut: '219999830019', type: 'ETICKET', authorizationNumber });
  const start = (authorizationNumber: string) => {
    const { workflowId, input } = messageOf(authorizationNumber);
    return temporal.client.workflow.start('checkCaeStart', { workflowId, taskQueue: 'cfe', args: [input] });
  };
  /** An activity that gives these answers, one after the other; an error is thrown. */
  const answering = (...answers: (CaeStartResult | Error)[]) => {
    const asked: string[] = [];
    const checkCaeStart = async (caeId: string) => {
      const answer = answers[Math.min(asked.push(caeId), answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return { asked, checkCaeStart };
  };

  test('ends when nothing is wrong, though the authority is away at first', async () => {
    const { asked, checkCaeStart } = answering(new Error('away'), { kind: 'ended', findings: [] });
    await temporal.withWorkers({ checkCaeStart }, async () => {
      const handle = await start('90260000001');
      expect(await handle.result()).toEqual({ findings: [] });
      expect(asked).toEqual(['one', 'one']);
      expect((await historyOf(handle)).events).toBeLessThanOrEqual(11);
      await recordHistory(handle, 'checkCaeStart.fine');
    });
  });

  test('waits for a certificate, and asks once there is one', async () => {
    const { asked, checkCaeStart } = answering(
      { kind: 'noCertificate' },
      { kind: 'ended', findings: ['first_known'] },
    );
    await temporal.withWorkers({ checkCaeStart }, async () => {
      const handle = await start('90260000002');
      await until('the first look', 10, async () => asked.length === 1 || undefined);
      await temporal.client.workflow.signalWithStart('checkCaeStart', {
        workflowId: handle.workflowId,
        taskQueue: 'cfe',
        args: [messageOf('90260000002').input],
        signal: 'factsChanged',
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      });
      expect(await handle.result()).toEqual({ findings: ['first_known'] });
      await recordHistory(handle, 'checkCaeStart.waitedForACertificate');
    });
    expect(asked).toHaveLength(2);
  });

  test('a certificate that comes while it looks is not missed', async () => {
    let looked = 0;
    const signalled = Promise.withResolvers<void>();
    const checkCaeStart = async (): Promise<CaeStartResult> => {
      looked += 1;
      if (looked > 1) return { kind: 'ended', findings: [] };
      await signalled.promise;
      return { kind: 'noCertificate' };
    };
    await temporal.withWorkers({ checkCaeStart }, async () => {
      const handle = await start('90260000003');
      await until('the first look', 10, async () => looked === 1 || undefined);
      await handle.signal('factsChanged');
      signalled.resolve();
      expect(await handle.result()).toEqual({ findings: [] });
    });
    expect(looked).toBe(2);
  });

  test('asks again by itself while something is wrong', async () => {
    const { asked, checkCaeStart } = answering(
      { kind: 'goesOn', findings: ['before_unknown'], againInMilliseconds: 200 },
      { kind: 'ended', findings: [] },
    );
    await temporal.withWorkers({ checkCaeStart }, async () => {
      const handle = await start('90260000004');
      expect(await handle.result()).toEqual({ findings: [] });
      await recordHistory(handle, 'checkCaeStart.askedAgain');
    });
    expect(asked).toHaveLength(2);
  });
});
