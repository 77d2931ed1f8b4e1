import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SobreSupportAct } from '../../src/activities/activities.ts';
import { openSupport } from '../../src/wiring/temporal/askSupport.ts';
import { freePort } from '../support/processes/services.ts';
import { openTemporal, startIssueCfes, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const request = () => ({ action: 'retry', cfeId: CFE_ID, requestId: randomUUID() }) as const;
const CFE_ID = '101-1';
const STUCK = {
  kind: 'stuck',
  step: 'sign',
  stuck: [{ reason: 'signing', explanation: 'The key cannot be opened.', cfeIds: [CFE_ID] }],
  goesOn: false,
};

describe('asking a workflow for support', () => {
  let temporal: TestTemporal;
  let support: ReturnType<typeof openSupport>;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
    support = openSupport({ server: { address: temporal.address }, namespace: temporal.namespace });
  });
  afterAll(async () => {
    await support.close();
    await temporal[Symbol.asyncDispose]();
  });

  const start = async (at = temporal): Promise<string> => (await startIssueCfes(at)).workflowId;
  const waiting = (workflowId: string) =>
    until('NeedsSupport', 20, async () => {
      const { searchAttributes } = await temporal.client.workflow.getHandle(workflowId).describe();
      return searchAttributes['NeedsSupport']?.[0] === true ? true : undefined;
    });

  test('gives its answer, or says that another is in progress, that nobody waits, that it has ended', async () => {
    let [isServing, mended] = [false, false];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const verdict = Promise.withResolvers<void>();
    const acts: string[] = [];
    const activities = {
      async takeToVerdict() {
        if (!mended) return STUCK;
        await verdict.promise;
        return { kind: 'ended', endings: { [CFE_ID]: 'REJECTED' }, codes: [] };
      },
      async supportCfe(act: SobreSupportAct) {
        acts.push(act.cfe_id);
        isServing = true;
        await gate;
        mended = true;
        return { kind: 'retried', message: 'It is tried again now.' };
      },
    };

    await temporal.withWorkers(activities, async () => {
      const workflowId = await start();
      await waiting(workflowId);
      const first = support.ask(workflowId, request());
      await until('the first', 20, async () => isServing || undefined);
      expect(await support.ask(workflowId, request())).toEqual({
        outcome: 'refused',
        message: 'Another action of support is in progress on this CFE.',
        why: { code: 'under_way' },
      });
      release();
      expect(await first).toEqual({ outcome: 'retried', message: 'It is tried again now.' });

      expect(await support.ask(workflowId, request())).toEqual({ outcome: 'nothing_to_do', runs: true });
      verdict.resolve();
      await temporal.client.workflow.getHandle(workflowId).result();
      expect(await support.ask(workflowId, request())).toEqual({ outcome: 'nothing_to_do', runs: false });
      expect(await support.ask('cfe:none', request())).toEqual({ outcome: 'nothing_to_do', runs: false });
      expect(acts).toEqual([CFE_ID]);
    });
  });

  test('Temporal away, or no worker there: UNAVAILABLE', async () => {
    await using deserted = await openTemporal();
    const { address, namespace } = deserted;
    const unheard = openSupport({ server: { address }, namespace });
    const nowhere = openSupport({
      server: { address: `127.0.0.1:${await freePort()}` },
      namespace: 'default',
    });
    const [away, noWorker] = await Promise.allSettled([
      nowhere.ask('cfe:any', request()),
      unheard.ask(await start(deserted), request()),
    ]);
    await Promise.all([nowhere.close(), unheard.close()]);

    expect(away).toMatchObject({ reason: { code: 'UNAVAILABLE', message: 'Temporal cannot be reached.' } });
    expect(noWorker).toMatchObject({
      reason: { code: 'UNAVAILABLE', message: expect.stringMatching(/^No worker accepts the request/) },
    });
  });
});
