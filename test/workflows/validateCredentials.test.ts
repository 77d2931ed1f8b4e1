import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LoginValidation } from '../../src/domain/authority/activityResults.ts';
import { openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

describe('validateCredentials', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'calls');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const RUT = '219999830019';
  const start = (rut = RUT) =>
    temporal.client.workflow.signalWithStart('validateCredentials', {
      workflowId: `credentials:${rut}`,
      taskQueue: 'cfe',
      args: [{ rut }],
      signal: 'validateAgain',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });

  test.each(['success', 'failed', 'permissions_updated'] as const)('ends with %s', async (result) => {
    const validateLogin = async () => ({ kind: 'checked', result });

    await temporal.withWorkers({ validateLogin }, async () => {
      const handle = await start(`2199998300${{ success: 1, failed: 2, permissions_updated: 3 }[result]}9`);
      expect(await handle.result()).toEqual({ result });
      await recordHistory(handle, `validateCredentials.${result}`);
    });
  });

  test('ends with nothing to do when the check was made already', async () => {
    const validateLogin = async () => ({ kind: 'nothingToDo' });

    await temporal.withWorkers({ validateLogin }, async () => {
      const handle = await start('219999830049');
      expect(await handle.result()).toEqual({ result: 'nothing_to_do' });
      await recordHistory(handle, 'validateCredentials.nothing_to_do');
    });
  });

  test('a request that comes while it asks joins it: one run, one more look, which finds nothing to do', async () => {
    const answers: LoginValidation[] = [{ kind: 'checked', result: 'success' }, { kind: 'nothingToDo' }];
    let looked = 0;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const validateLogin = async () => {
      const answer = answers[looked++];
      await gate;
      return answer;
    };

    await temporal.withWorkers({ validateLogin }, async () => {
      const first = await start();
      await until('the first look', 10, async () => looked === 1 || undefined);
      const second = await start();
      release();
      expect(second.signaledRunId).toBe(first.signaledRunId);
      expect(await first.result()).toEqual({ result: 'success' });
      await recordHistory(first, 'validateCredentials.joined');
    });

    expect(looked).toBe(2);
  });
});
