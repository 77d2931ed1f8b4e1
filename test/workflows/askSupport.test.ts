import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSupport } from '../../src/wiring/askSupport.ts';
import { freePort } from '../support/services.ts';
import { openTemporal, type TestTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';

const request = () => ({ action: 'retry', requestId: randomUUID() }) as const;
const STUCK = { kind: 'stuck', reason: 'signing', explanation: 'The key cannot be opened.' };

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

  async function start({ client } = temporal): Promise<string> {
    const cfeUuid = randomUUID();
    const workflowId = `cfe:219999830019:101-1:${cfeUuid.slice(0, 8)}`;
    await client.workflow.start('issueCfe', { workflowId, taskQueue: 'cfe', args: [{ cfeUuid }] });
    return workflowId;
  }
  const waiting = (workflowId: string) =>
    until('NeedsSupport', 20, async () => {
      const { searchAttributes } = await temporal.client.workflow.getHandle(workflowId).describe();
      return searchAttributes['NeedsSupport']?.[0] === true ? true : undefined;
    });

  test('gives its answer, or says that another is under way, that nobody waits, that it has ended', async () => {
    let [isServing, mended] = [false, false];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const activities = {
      signCfe: async () => (mended ? { kind: 'signed' } : STUCK),
      async supportCfe() {
        isServing = true;
        await gate;
        mended = true;
        return { kind: 'retried', message: 'It is tried again now.' };
      },
      submitCfe: async () => {
        await verdict;
        return { kind: 'decided', status: 'REJECTED', codes: [] };
      },
    };
    let decide = (): void => {};
    const verdict = new Promise<void>((resolve) => {
      decide = resolve;
    });

    await temporal.withWorkers(activities, async () => {
      const workflowId = await start();
      await waiting(workflowId);
      const first = support.ask(workflowId, request());
      await until('the first', 20, async () => isServing || undefined);
      expect(await support.ask(workflowId, request())).toEqual({
        outcome: 'refused',
        message: 'Another action of support is under way on this CFE.',
        why: { code: 'under_way' },
      });
      release();
      expect(await first).toEqual({ outcome: 'retried', message: 'It is tried again now.' });

      expect(await support.ask(workflowId, request())).toEqual({ outcome: 'nothing_to_do', runs: true });
      decide();
      await temporal.client.workflow.getHandle(workflowId).result();
      expect(await support.ask(workflowId, request())).toEqual({ outcome: 'nothing_to_do', runs: false });
      expect(await support.ask('cfe:none', request())).toEqual({ outcome: 'nothing_to_do', runs: false });
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
