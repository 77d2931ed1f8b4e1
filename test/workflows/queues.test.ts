import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import type { Activities } from '../../src/activities/activities.ts';
import { startWorkers } from '../../src/wiring/workers.ts';
import { openTemporal, startIssueCfes, type TestTemporal, workflowBundle } from '../support/temporal.ts';
import { until } from '../support/until.ts';

/** More than the places of any queue. */
const REPORTS = 250;
const LOGINS = 60;

describe('the workers of the service', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal();
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  test('a night of slow reports and checks of logins that hang hold no receipt back; two reports are summed at a time', async () => {
    const hangs = Promise.withResolvers<void>();
    let [summing, mostSumming, checking] = [0, 0, 0];
    const prepareReport: Activities['prepareReport'] = async () => {
      summing += 1;
      mostSumming = Math.max(mostSumming, summing);
      await hangs.promise;
      summing -= 1;
      return { kind: 'ended', status: 'CONSISTENT' };
    };
    const validateLogin: Activities['validateLogin'] = async () => {
      checking += 1;
      await hangs.promise;
      return { kind: 'nothingToDo' };
    };
    const takeToVerdict: Activities['takeToVerdict'] = async () => ({
      kind: 'ended',
      endings: { '101-1': 'ACCEPTED' },
      codes: [],
    });
    const connection = await NativeConnection.connect({ address: temporal.address });
    const workers = await startWorkers({
      onOwnFault: () => undefined,
      connection,
      namespace: temporal.namespace,
      workflowBundle,
      activities: {
        cfe: { none },
        dgi: { takeToVerdict },
        calls: { validateLogin },
        reports: { prepareReport },
        webhooks: { none },
        mail: { none },
        exports: { none },
      },
      logger: pino({ level: 'silent' }),
    });
    try {
      const { workflow } = temporal.client;
      const begin = (name: string, taskQueue: string, i: number) =>
        workflow.start(name, { workflowId: `${name}:${i}`, taskQueue, args: [{ rut: String(i) }] });
      await Promise.all(Array.from({ length: REPORTS }, (_, i) => begin('reportDay', 'reports', i)));
      await Promise.all(Array.from({ length: LOGINS }, (_, i) => begin('validateCredentials', 'cfe', i)));
      await until('all places to be taken', 30, async () => summing === 2 && checking >= 50);

      const handle = await startIssueCfes(temporal);

      expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
      expect([summing, mostSumming]).toEqual([2, 2]);
      const { events } = await handle.fetchHistory();
      const by = events?.flatMap((event) => event.activityTaskStartedEventAttributes?.identity ?? []);
      // The program, its release and the process; here Jest's.
      expect(by?.[0]).toMatch(/^[\w.]+\/\d+\.\d+\.\d+ \d+@/);
    } finally {
      hangs.resolve();
      await workers.close();
      await connection.close();
    }
  });
});

const none = async (): Promise<void> => {};
