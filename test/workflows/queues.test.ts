import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { heartbeat } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import type { Activities } from '../../src/activities/activities.ts';
import type { Authority } from '../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../src/activities/authority/takeToVerdict.ts';
import { issueCfesMessage, lockSobre } from '../../src/db/authority/sobres.ts';
import type { Cfe } from '../../src/db/entities/receipts.ts';
import { DEADLINES } from '../../src/domain/authority/deadlines.ts';
import { formatCfeId } from '../../src/domain/receipts/cfeId.ts';
import { startWorkers } from '../../src/wiring/temporal/workers.ts';
import { anAccount } from '../support/commandDeps.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { SILENT, saying, sobreRow, takeDeps } from '../support/database/taking.ts';
import { aReadyEnterprise } from '../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../support/receipts/pendingCfes.ts';
import {
  openTemporal,
  startIssueCfes,
  type TestTemporal,
  workflowBundle,
} from '../support/temporal/temporal.ts';
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
    const workers = await serviceWorkers({
      dgi: { takeToVerdict },
      calls: { validateLogin },
      reports: { prepareReport },
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
    }
  });

  describe('whose long activities say that they are alive', () => {
    // At this pace no test waits for it: how often words are passed on follows from how often they are said.
    const pace = DEADLINES.heartbeatEvery;
    beforeAll(() => void Object.assign(DEADLINES, { heartbeatEvery: 50 }));
    afterAll(() => void Object.assign(DEADLINES, { heartbeatEvery: pace }));

    const pending = async (handle: WorkflowHandle) => {
      const [one] = (await handle.describe()).raw.pendingActivities ?? [];
      const data = one?.heartbeatDetails?.payloads?.[0]?.data;
      return {
        attempt: one?.attempt,
        said: data?.length ? (JSON.parse(Buffer.from(data).toString()) as unknown) : null,
      };
    };

    test('pass each word on as often as it is said: a stall of seconds makes no second attempt', async () => {
      const hangs = Promise.withResolvers<void>();
      const makeReadyWhenComplete: Activities['makeReadyWhenComplete'] = async () => {
        heartbeat('first');
        heartbeat('second');
        await hangs.promise;
        return { kind: 'ready' };
      };
      const workers = await serviceWorkers({ cfe: { makeReadyWhenComplete } });
      try {
        // Its activity has no heartbeat time-out: the SDK would hold the second word back for longer than an attempt takes.
        const handle = await temporal.client.workflow.start('onboardEnterprise', {
          workflowId: 'enterprise:words',
          taskQueue: 'cfe',
          args: [{ rut: '219999830019' }],
        });
        const second = await until('the second word', 10, async () => {
          const now = await pending(handle);
          return now.said === 'second' || (now.attempt ?? 0) > 1 ? now : undefined;
        });

        expect(second).toEqual({ attempt: 1, said: 'second' });
        hangs.resolve();
        await handle.result();
      } finally {
        hangs.resolve();
        await workers.close();
      }
    });

    test('a sobre on its way shows what it is at: signing, sending, asking', async () => {
      await using db = await cloneDatabase({ worker: true });
      const accountId = await anAccount(db.orm);
      const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
      const [cfe] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: new Date() })) as [Cfe];
      const sobreId = await aSobreOf(db.orm, [cfe]);
      const [sent, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const received = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
      const accepted = saying(new Map(), { kind: 'verdict', status: 'ACCEPTED', reasons: [] });
      const authority: Authority = {
        ...SILENT,
        sendSobre: () => sent.promise.then(() => received),
        findSobre: async () => received,
        askVerdicts: (...of) => asked.promise.then(() => accepted(...of)),
      };
      const takeToVerdict = createTakeToVerdict(takeDeps(db.worker, { authority }));
      const workers = await serviceWorkers({ dgi: { takeToVerdict } });
      try {
        const message = issueCfesMessage(await sobreRow(db.orm, sobreId), [
          { type: cfe.type, cfeId: formatCfeId(cfe) },
        ]);
        const shows = (handle: WorkflowHandle, phase: string) =>
          until(
            phase,
            10,
            async () => ((await pending(handle)).said as { phase?: string } | null)?.phase === phase,
          );
        const handle = await db.orm.em.fork().transactional(async (em) => {
          // What was signed cannot be stored meanwhile.
          await lockSobre(em, sobreId);
          const run = await startIssueCfes(temporal, message);
          await shows(run, 'signing');
          return run;
        });
        await shows(handle, 'sending');
        sent.resolve();
        await shows(handle, 'asking');
        asked.resolve();
        expect(await handle.result()).toEqual({ [formatCfeId(cfe)]: 'ACCEPTED' });
      } finally {
        sent.resolve();
        asked.resolve();
        await workers.close();
      }
    });
  });

  /** The workers as the service starts them, with these activities, and what ends them. */
  async function serviceWorkers(
    activities: Partial<Parameters<typeof startWorkers>[0]['activities']>,
  ): Promise<{ close(): Promise<void> }> {
    const connection = await NativeConnection.connect({ address: temporal.address });
    const workers = await startWorkers({
      onBug: () => undefined,
      connection,
      namespace: temporal.namespace,
      workflowBundle,
      activities: {
        cfe: { none },
        dgi: { none },
        calls: { none },
        reports: { none },
        webhooks: { none },
        mail: { none },
        exports: { none },
        ...activities,
      },
      logger: pino({ level: 'silent' }),
    });
    return {
      async close() {
        await workers.close();
        await connection.close();
      },
    };
  }
});

const none = async (): Promise<void> => {};
