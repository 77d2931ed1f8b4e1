import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Connection } from '@temporalio/client';
import { pino } from 'pino';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { enqueue, type LeasedMessage, leaseWaiting } from '../../../src/db/outbox.ts';
import { createDispatcher, type Dispatcher } from '../../../src/outbox/dispatcher.ts';
import { ensureSearchAttributes, SEARCH_ATTRIBUTES } from '../../../src/searchAttributes.ts';
import type { WorkflowMessage } from '../../../src/temporal.ts';
import { createSearchAttributeCheck } from '../../../src/wiring/temporal/searchAttributes.ts';
import { anHourAhead } from '../../support/clocks.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/services.ts';
import { openTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { until } from '../../support/until.ts';

describe('the way from the outbox to Temporal', () => {
  let temporal: TestTemporal;
  let database: TestDatabase;
  const open: Dispatcher[] = [];

  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());
  beforeEach(async () => {
    database = await cloneDatabase({ worker: true });
  });
  afterEach(async () => {
    for (const dispatcher of open.splice(0)) await dispatcher.close();
    await database[Symbol.asyncDispose]();
  });

  const dispatcher = (address = temporal.address): Dispatcher => {
    const made = createDispatcher({
      orm: database.worker,
      temporal: { address },
      namespace: temporal.namespace,
      logger: pino({ level: 'silent' }),
    });
    open.push(made);
    return made;
  };
  const aMessage = (more: Partial<WorkflowMessage> = {}): WorkflowMessage => {
    const sobreId = randomUUID();
    return {
      workflow: 'issueCfes',
      workflowId: `cfe:219999830019:101-1+1:${sobreId.slice(0, 8)}`,
      input: { sobreId },
      searchAttributes: { EnterpriseRut: '219999830019', CfeId: ['101-1', '101-2'], CfeStatus: 'PENDING' },
      ...more,
    };
  };
  const store = (...messages: WorkflowMessage[]) =>
    database.orm.em.fork().transactional(async (em) => {
      for (const message of messages) enqueue(em, message, new Date());
    });
  const rows = () => database.orm.em.fork().find(OutboxMessage, {}, { orderBy: { id: 'asc' } });
  /** Asks again meanwhile: a start may take Temporal longer than it is given, and then the next look sends it. */
  const allDispatched = () =>
    until('the dispatch', 20, async () => {
      for (const each of open) each.scheduleDispatch();
      return (await rows()).every(({ dispatchedAt }) => dispatchedAt !== null);
    });
  const describeRun = (workflowId: string) => temporal.client.workflow.getHandle(workflowId).describe();

  test('starts the workflow with its input and search attributes, right after the commit', async () => {
    const message = aMessage();
    await store(message);

    dispatcher().scheduleDispatch();
    await allDispatched();

    const run = await describeRun(message.workflowId);
    expect(run).toMatchObject({ type: 'issueCfes', taskQueue: 'cfe', status: { name: 'RUNNING' } });
    expect(run.searchAttributes).toMatchObject({
      EnterpriseRut: ['219999830019'],
      CfeId: ['101-1', '101-2'],
      CfeStatus: ['PENDING'],
    });
    for (const cfeId of ['101-1', '101-2'])
      await until(`${cfeId} to be found`, 20, async () => {
        const query = `CfeId = '${cfeId}' AND WorkflowId = '${message.workflowId}'`;
        return (await temporal.client.workflow.count(query)).count === 1;
      });
  });

  test('a transaction that is rolled back starts nothing', async () => {
    await database.orm.em
      .fork()
      .transactional(async (em) => {
        enqueue(em, aMessage(), new Date());
        throw new Error('undone');
      })
      .catch(() => {});

    expect(await rows()).toEqual([]);
  });

  test('what a process whose clock is an hour ahead has stored is not kept back by the others', async () => {
    await anHourAhead(() => store(aMessage()));

    dispatcher().scheduleDispatch();
    await allDispatched();
  });

  test('of several dispatchers at once, one only takes each message', async () => {
    await store(...Array.from({ length: 120 }, () => aMessage()));

    const taken = await Promise.all(
      Array.from({ length: 4 }, () => leaseWaiting(database.orm.em.fork(), { first: 50, bulk: 4 })),
    );

    const ids = taken.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(120);
  });

  test('several dispatchers at once start every workflow', async () => {
    const messages = Array.from({ length: 120 }, () => aMessage());
    await store(...messages);

    for (let i = 0; i < 4; i++) dispatcher().scheduleDispatch();
    await allDispatched();

    for (const { workflowId } of messages)
      expect((await describeRun(workflowId)).status.name).toBe('RUNNING');
  });

  test('a message that was dispatched but not marked, as after a crash, is harmless the second time', async () => {
    const message = aMessage();
    await store(message, message);

    dispatcher().scheduleDispatch();
    await allDispatched();

    expect((await describeRun(message.workflowId)).status.name).toBe('RUNNING');
  });

  test('a signal reaches a run that is in progress, and changes nothing at one that has ended', async () => {
    const message = aMessage({ signal: 'slotGiven' });
    await store(message);
    const one = dispatcher();
    one.scheduleDispatch();
    await allDispatched();
    await temporal.withWorkers(
      {
        takeToVerdict: async () => ({ kind: 'ended', endings: { '101-1': 'ACCEPTED' }, codes: [] }),
      },
      () => temporal.client.workflow.getHandle(message.workflowId).result(),
    );

    const { signal: _, ...withoutSignal } = message;
    await store(message, withoutSignal);
    one.scheduleDispatch();
    await allDispatched();

    expect((await describeRun(message.workflowId)).status.name).toBe('COMPLETED');
  });

  test('a run that somebody terminated begins anew: what it was to do is still to be done', async () => {
    const message = aMessage();
    await store(message);
    const one = dispatcher();
    one.scheduleDispatch();
    await allDispatched();
    await temporal.client.workflow.getHandle(message.workflowId).terminate();

    await store(message);
    one.scheduleDispatch();
    await allDispatched();

    expect((await describeRun(message.workflowId)).status.name).toBe('RUNNING');
  });

  test('while Temporal is away nothing is lost; the relay sends it once it is back', async () => {
    const message = aMessage();
    await store(message);
    const away = dispatcher(`127.0.0.1:${await freePort()}`);
    away.scheduleDispatch();
    await until('a try', 20, async () => ((await rows())[0]?.attempts ?? 0) >= 1);
    expect((await rows())[0]?.dispatchedAt).toBeNull();
    open.splice(open.indexOf(away), 1);
    await away.close();

    dispatcher().startRelay();
    await until('the relay', 20, async () => (await rows())[0]?.dispatchedAt !== null);

    expect((await describeRun(message.workflowId)).status.name).toBe('RUNNING');
  });

  describe('a message whose row is stored with a lease, and which its process starts from memory', () => {
    /** As POST stores it; answers what the process keeps. */
    async function keep(message: WorkflowMessage, leaseSeconds: number): Promise<LeasedMessage> {
      await store(message);
      await database.orm.em
        .fork()
        .execute(`update outbox set attempts = 1, not_before = clock_timestamp() + ? * interval '1 second'`, [
          leaseSeconds,
        ]);
      const [row] = await rows();
      if (!row) throw new Error('no row');
      return { ...message, id: row.id };
    }
    const marked = () =>
      until('the mark', 20, async () => (await rows())[0]?.dispatchedAt !== null || undefined);

    test('is started at once, and its row marked; nobody else starts it', async () => {
      const message = await keep(aMessage(), 60);
      const one = dispatcher();
      one.dispatchStored(message);
      await marked();

      const run = await describeRun(message.workflowId);
      expect(run).toMatchObject({ type: 'issueCfes', status: { name: 'RUNNING' } });
      expect(run.searchAttributes).toMatchObject({ CfeId: ['101-1', '101-2'] });
      expect((await rows())[0]?.attempts).toBe(1);
    });

    test('is started by the relay after its lease, where that process has died', async () => {
      const message = await keep(aMessage(), 2);
      expect(await leaseWaiting(database.orm.em.fork(), { first: 10, bulk: 10 })).toEqual([]);

      dispatcher().startRelay();
      await marked();

      expect((await rows())[0]?.attempts).toBe(2);
      expect((await describeRun(message.workflowId)).status.name).toBe('RUNNING');
    });

    test('so it is where Temporal was away', async () => {
      const message = await keep(aMessage(), 2);
      const away = dispatcher(`127.0.0.1:${await freePort()}`);
      away.dispatchStored(message);
      open.splice(open.indexOf(away), 1);
      // It waits for the start, which fails.
      await away.close();
      expect((await rows())[0]?.dispatchedAt).toBeNull();

      dispatcher().startRelay();
      await marked();

      expect((await describeRun(message.workflowId)).status.name).toBe('RUNNING');
    });

    test('a hundred at once are all started and marked', async () => {
      const messages = Array.from({ length: 100 }, () => aMessage());
      await store(...messages);
      await database.orm.em
        .fork()
        .execute(`update outbox set not_before = clock_timestamp() + interval '60 seconds'`);
      const ids = new Map((await rows()).map(({ workflowId, id }) => [workflowId, id]));
      const one = dispatcher();
      for (const message of messages)
        one.dispatchStored({ ...message, id: ids.get(message.workflowId) ?? 0n });

      await until('the marks', 30, async () => {
        const all = await rows();
        return all.every(({ dispatchedAt }) => dispatchedAt !== null) || undefined;
      });
    });
  });

  test('a message that Temporal itself refuses waits, and does not keep others back', async () => {
    const wrong = aMessage({ searchAttributes: { Nonsense: 'x' } as never });
    const right = aMessage();
    await store(wrong, right);

    // The pause is by PostgreSQL's clock, whatever the process takes the time to be.
    await anHourAhead(async () => {
      const one = dispatcher();
      await until('both answers', 20, async () => {
        one.scheduleDispatch();
        const [first, second] = await rows();
        return second?.dispatchedAt !== null && first !== undefined && first.notBefore > new Date(0);
      });
    });
    await open[0]?.close();

    const [refused] = await rows();
    expect(refused?.dispatchedAt).toBeNull();
    const stored = refused?.createdAt.getTime() ?? 0;
    expect(refused?.notBefore.getTime()).toBeGreaterThan(stored);
    // The process was an hour ahead.
    expect(refused?.notBefore.getTime()).toBeLessThan(stored + 3_000_000);
  });
});

test('processes that start together on a new namespace all find the search attributes there', async () => {
  const temporal = await openTemporal();
  try {
    const { connection } = temporal.client;
    const namespace = `fresh-${randomUUID()}`;
    await (connection as Connection).workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    const ensured = (): Promise<true | undefined> =>
      Promise.all(
        Array.from({ length: 5 }, () => ensureSearchAttributes({ address: temporal.address }, namespace)),
      ).then(
        (missing) => (missing.flat().length === 0 ? true : undefined),
        (error: unknown) => {
          // A namespace takes a moment to be known; whatever else is said is a fault.
          if ((error as { code?: number }).code === 5) return undefined;
          throw error;
        },
      );
    await until('the namespace', 20, ensured);
  } finally {
    await temporal[Symbol.asyncDispose]();
  }
});

test('a namespace that takes no more attributes is waited for, with the names, until there is room', async () => {
  const temporal = await openTemporal();
  try {
    const { connection, namespace } = { ...temporal, connection: temporal.client.connection as Connection };
    const { operatorService } = connection;
    await operatorService.removeSearchAttributes({ namespace, searchAttributes: ['CfeStatus'] });
    const others = ['Other1', 'Other2', 'Other3'];
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(others.map((name) => [name, SEARCH_ATTRIBUTES.CfeType])),
    });
    const server = { address: temporal.address };
    expect(await ensureSearchAttributes(server, namespace)).toEqual(['CfeStatus']);

    const attributes = createSearchAttributeCheck(pino({ level: 'silent' }));
    const there = attributes.areThere(server, namespace);
    expect(await until('the names', 20, async () => attributes.missing() ?? undefined)).toBe(
      'Temporal is missing the search attributes CfeStatus',
    );
    await operatorService.removeSearchAttributes({ namespace, searchAttributes: ['Other3'] });
    await there;

    expect(attributes.missing()).toBeNull();
  } finally {
    await temporal[Symbol.asyncDispose]();
  }
});
