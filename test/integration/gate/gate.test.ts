import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { endpointStates, type LockedEndpoint, lockEndpoint } from '../../../src/db/authorityEndpoints.ts';
import { QueueEntry } from '../../../src/db/entities/authority.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { nextEntries } from '../../../src/db/queueEntries.ts';
import { FAILURES_TO_OPEN } from '../../../src/domain/breaker.ts';
import { createGate, type Gate, type Permit } from '../../../src/gate/gate.ts';
import { createGatekeeper, type Gatekeeper } from '../../../src/gate/gatekeeper.ts';
import { createLogger } from '../../../src/logger.ts';
import { anHourAhead } from '../../support/clocks.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';
import { givePendingCfes } from '../../support/pendingCfes.ts';
import { until } from '../../support/until.ts';

const START = new Date('2026-11-20T12:00:00Z');
const PER_SECOND = 20;
const SPACING = 1_000 / PER_SECOND;

describe('the gate that all workers share', () => {
  let db: TestDatabase;
  let other: Orm;
  let now: Date;
  let accountId: string;
  let ruts: string[];
  let gates: [Gate, Gate];
  let gatekeepers: [Gatekeeper, Gatekeeper];
  beforeEach(async () => {
    db = await cloneDatabase({ worker: true });
    other = await openOrm({ databaseUrl: db.urlOf('worker'), pool: 10 });
    now = START;
    const clock = () => now;
    const pause = async (milliseconds: number): Promise<void> => passes(milliseconds);
    const gate = (orm: Orm) => createGate({ orm, clock, sendsPerSecond: PER_SECOND, pause, chance: () => 0 });
    gates = [gate(db.orm), gate(other)];
    gatekeepers = [gatekeeper(db.worker, PER_SECOND), gatekeeper(other, PER_SECOND)];
    accountId = await anAccount(db.orm);
    ruts = [];
    for (let i = 0; i < 3; i += 1)
      ruts.push(await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] }));
    ruts.sort();
  });
  afterEach(async () => {
    await other.close(true);
    await db[Symbol.asyncDispose]();
  });

  const logger = createLogger({ name: 'test', level: 'silent' });
  const gatekeeper = (orm: Orm, sendsPerSecond: number) =>
    createGatekeeper({ orm, clock: () => now, outbox: idleOutbox, logger, sendsPerSecond });
  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const cfesOf = (rut: string | undefined, count: number, from = START): Promise<Cfe[]> =>
    givePendingCfes(db.orm, { accountId, rut: rut ?? '', count, from });
  /** All enter at once, by turns at the gates of two processes. */
  const allEnter = (cfes: readonly Cfe[]) =>
    Promise.all(cfes.map((cfe, index) => gates[index % 2 === 0 ? 0 : 1].enter(cfe)));
  const bothLook = () => Promise.all(gatekeepers.map((gatekeeper) => gatekeeper.look()));
  const reception = (change: (endpoint: LockedEndpoint) => void) =>
    db.orm.em
      .fork()
      .transactional(async (em) => change(await lockEndpoint(em, 'production/reception', () => now)));
  const opens = () =>
    reception((endpoint) => {
      for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
    });
  const closes = () => reception((endpoint) => endpoint.close());
  const entries = () => db.orm.em.fork().find(QueueEntry, {});
  const released = async () =>
    (await entries()).filter(({ slot }) => slot !== null).sort((a, b) => Number(a.slot) - Number(b.slot));
  const waiting = async () => (await entries()).filter(({ slot }) => slot === null).length;
  const called = async () =>
    (await db.orm.em.fork().find(OutboxMessage, { signal: 'slotGiven' }, { orderBy: { id: 'asc' } })).map(
      ({ input }) => input['cfeUuid'],
    );
  /** What the dispatcher does when Temporal is there. */
  const told = () =>
    db.orm.em.fork().nativeUpdate(OutboxMessage, { dispatchedAt: null }, { dispatchedAt: now });
  const isPermit = (admission: unknown): admission is Permit =>
    typeof admission === 'object' && admission !== null && 'slot' in admission;

  test('a CFE goes at once where nobody waits, and leaves no row', async () => {
    const [cfe] = (await cfesOf(ruts[0], 1)) as [Cfe];

    const permit = await gates[0].enter(cfe);

    expect(permit).toEqual({ slot: now, dueAt: now.getTime(), hasEntry: false, isProbe: false });
    expect(await gates[0].untilSlot(cfe, permit as Permit)).toBe(true);
    expect(await entries()).toEqual([]);
  });

  test('of 100 who come at once no two get slots nearer than the rate; who gets none near waits', async () => {
    const admissions = await allEnter(await cfesOf(ruts[0], 100));

    const slots = admissions
      .filter(isPermit)
      .map(({ slot }) => slot.getTime())
      .sort((a, b) => a - b);
    for (const [index, slot] of slots.entries()) expect(slot).toBe(START.getTime() + index * SPACING);
    // 3.5 s of slots.
    expect(slots).toHaveLength(71);
    expect(admissions.filter((admission) => admission === 'waits')).toHaveLength(29);
    expect(await waiting()).toBe(29);
  });

  test('a process whose own clock is an hour ahead keeps nobody back: the time is PostgreSQL’s', async () => {
    const gate = createGate({ orm: db.worker, sendsPerSecond: PER_SECOND });
    const elsewhere = createGate({ orm: other, sendsPerSecond: PER_SECOND });
    const keeper = createGatekeeper({
      orm: db.worker,
      outbox: idleOutbox,
      logger,
      sendsPerSecond: PER_SECOND,
    });
    const [ahead, second, third, fourth] = (await cfesOf(ruts[0], 4)) as [Cfe, Cfe, Cfe, Cfe];
    await anHourAhead(async () => {
      const permit = await gate.enter(ahead);
      expect(isPermit(permit) && (await gate.untilSlot(ahead, permit))).toBe(true);
    });

    const permit = await elsewhere.enter(second);

    expect(isPermit(permit) && (await elsewhere.untilSlot(second, permit))).toBe(true);
    // The same by a gatekeeper: it calls one for a slot in two seconds.
    await elsewhere.wait(third);
    await anHourAhead(() => keeper.look());
    await elsewhere.wait(fourth);
    await keeper.look();
    expect(await called()).toEqual([third.id, fourth.id]);
    const late = await elsewhere.enter(third);
    expect(isPermit(late) && (await elsewhere.untilSlot(third, late))).toBe(true);
  });

  test('where others wait nobody goes past them', async () => {
    const [first, second] = (await cfesOf(ruts[0], 2)) as [Cfe, Cfe];
    await gates[0].wait(first);
    expect(await gates[1].enter(second)).toBe('waits');
    expect(await gates[1].enter(second)).toBe('waits');
    expect(await waiting()).toBe(2);
  });

  test('the order: by enterprise in turn, the longest without one first, and of each the oldest', async () => {
    const [a = '', b = '', c = ''] = ruts;
    const ofA = await cfesOf(a, 4, new Date('2026-11-20T10:00:00Z'));
    const ofB = await cfesOf(b, 1);
    const ofC = await cfesOf(c, 2);
    // They come to wait in any order.
    for (const cfe of [...ofC, ...ofA.toReversed(), ...ofB]) await gates[0].wait(cfe);
    const em = db.orm.em.fork();
    await em.execute('update sobre_sequence set last_slot = ? where rut = ?', [START.toISOString(), a]);
    await em.execute('update sobre_sequence set last_slot = ? where rut = ?', [
      new Date(START.getTime() - 1_000).toISOString(),
      b,
    ]);

    const order = (cfes: readonly (Cfe | undefined)[]) => cfes.map((cfe) => cfe?.id);
    const next = (count: number) => nextEntries(em, { environment: 'production', count });
    const all = order([ofC[0], ofB[0], ofA[0], ofC[1], ofA[1], ofA[2], ofA[3]]);
    expect((await next(50)).map(({ cfeUuid }) => cfeUuid)).toEqual(all);
    for (const count of [1, 2, 4])
      expect((await next(count)).map(({ cfeUuid }) => cfeUuid)).toEqual(all.slice(0, count));
    expect(await nextEntries(em, { environment: 'sandbox', count: 5 })).toEqual([]);
  });

  test('two gatekeepers drain what waits: each once, ahead of time, at the rate, by enterprise in turn, oldest first', async () => {
    const cfes = [
      ...(await cfesOf(ruts[0], 40)),
      ...(await cfesOf(ruts[1], 40)),
      ...(await cfesOf(ruts[2], 40)),
    ];
    await opens();
    expect(new Set(await allEnter(cfes))).toEqual(new Set(['waits']));
    await closes();

    const givenAt = new Map<string, number>();
    for (let look = 0; look < 40; look += 1) {
      await bothLook();
      for (const { cfeUuid } of await released())
        if (!givenAt.has(cfeUuid)) givenAt.set(cfeUuid, now.getTime());
      passes(250);
    }

    const given = await released();
    expect(given).toHaveLength(120);
    expect(await called()).toHaveLength(cfes.length);
    expect(new Set(await called())).toEqual(new Set(cfes.map(({ id }) => id)));
    const slots = given.map(({ slot }) => Number(slot));
    for (const [index, slot] of slots.entries()) {
      if (index > 0) expect(slot - (slots[index - 1] ?? 0)).toBe(SPACING);
      const lead = slot - (givenAt.get(given[index]?.cfeUuid ?? '') ?? 0);
      expect(lead).toBeGreaterThanOrEqual(2_000);
      expect(lead).toBeLessThanOrEqual(3_000);
    }
    expect(given.map(({ rut }) => rut)).toEqual(Array.from({ length: 40 }, () => ruts).flat());
    for (const rut of ruts) {
      const sequences = given.filter((entry) => entry.rut === rut).map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    }
  });

  test('one that was called finds its slot; late, it takes another; received, it is gone', async () => {
    const [one, late] = (await cfesOf(ruts[0], 2)) as [Cfe, Cfe];
    for (const cfe of [one, late]) await gates[0].wait(cfe);
    await bothLook();
    const [firstSlot = now, secondSlot = now] = (await released()).map(({ slot }) => slot ?? now);

    const permit = await gates[1].enter(one);
    expect(permit).toEqual({ slot: firstSlot, dueAt: firstSlot.getTime(), hasEntry: true, isProbe: false });
    expect(await gates[1].untilSlot(one, permit as Permit)).toBe(true);
    expect(now).toEqual(firstSlot);
    await gates[1].leave(db.orm.em.fork(), one, permit as Permit);
    passes(5_000);
    const latePermit = await gates[0].enter(late);
    const [fresh] = (await cfesOf(ruts[1], 1)) as [Cfe];
    const taken = await gates[1].enter(fresh);
    expect(await gates[0].untilSlot(late, latePermit as Permit)).toBe(true);

    expect(secondSlot.getTime()).toBe(firstSlot.getTime() + SPACING);
    expect(isPermit(taken) && now.getTime() - taken.slot.getTime()).toBe(SPACING);
    expect((await entries()).map(({ cfeUuid }) => cfeUuid)).toEqual([late.id]);
  });

  test('one of whom nothing is heard, as when its workflow is gone, is called anew', async () => {
    const [cfe, settled] = (await cfesOf(ruts[0], 2)) as [Cfe, Cfe];
    for (const one of [cfe, settled]) await gates[0].wait(one);
    await bothLook();
    await db.orm.em.fork().nativeUpdate(Cfe, { id: settled.id }, { status: 'RECEIVED' });
    passes(190_000);
    await bothLook();
    expect(await called()).toHaveLength(2);

    await told();
    passes(20_000);
    await bothLook();

    expect(await called()).toEqual([cfe.id, settled.id, cfe.id]);
    expect((await entries()).map(({ cfeUuid }) => cfeUuid)).toEqual([cfe.id]);
  });

  test('while Temporal cannot be told of a call, nobody is called once more, however long', async () => {
    const [cfe] = (await cfesOf(ruts[0], 1)) as [Cfe];
    await gates[0].wait(cfe);
    for (let look = 0; look < 5; look += 1) {
      await bothLook();
      passes(300_000);
    }
    expect(await called()).toEqual([cfe.id]);

    await told();
    await bothLook();
    expect(await called()).toEqual([cfe.id, cfe.id]);
  });

  test('no more are let through than can be under way: a Temporal server that is away is not flooded later', async () => {
    const slow = gatekeeper(db.orm, 1);
    for (const cfe of await cfesOf(ruts[0], 40)) await gates[0].wait(cfe);
    for (let look = 0; look < 50; look += 1) {
      await slow.look();
      passes(1_000);
    }
    expect(await released()).toHaveLength(30);
    const [first] = await released();
    await db.orm.em.fork().nativeDelete(QueueEntry, { cfeUuid: first?.cfeUuid ?? '' });
    await slow.look();
    expect(await called()).toHaveLength(31);
  });

  describe('while the authority is away', () => {
    const probing = async () => (await released()).map(({ cfeUuid }) => cfeUuid);
    /** What a failed probe does, by the breaker that stands before the call. */
    const probeFails = async (): Promise<void> => {
      const em = db.orm.em.fork();
      await em.execute(
        "update authority_endpoint set probes = probes + 1 where name = 'production/reception'",
      );
      await reception((endpoint) => endpoint.countFailure({ wasProbe: true, chance: 0 }));
    };

    test('everybody waits, and the first in order is called as the probe, once who failed last has come', async () => {
      const cfes = [...(await cfesOf(ruts[1], 2)), ...(await cfesOf(ruts[0], 2))];
      await opens();
      await allEnter(cfes);
      passes(1_000);
      await bothLook();
      expect(await probing()).toEqual([]);

      passes(500);
      await bothLook();
      await bothLook();

      expect(await probing()).toEqual([cfes[2]?.id]);
      expect(await called()).toEqual([cfes[2]?.id]);
      const permit = await gates[0].enter(cfes[2] as Cfe);
      expect(permit).toEqual({ slot: now, dueAt: now.getTime(), hasEntry: true, isProbe: true });
      expect(await gates[1].enter(cfes[0] as Cfe)).toBe('waits');
      const states = await endpointStates(db.orm.em.fork(), () => now);
      expect(states.find(({ endpoint }) => endpoint === 'production/reception')).toEqual({
        endpoint: 'production/reception',
        openSince: START,
        nextProbeAt: expect.any(Date),
        waiting: 3,
      });
    });

    test('a process whose own clock is an hour ahead when it went away keeps no probe back', async () => {
      const keeper = createGatekeeper({
        orm: db.worker,
        outbox: idleOutbox,
        logger,
        sendsPerSecond: PER_SECOND,
      });
      const gate = createGate({ orm: other, sendsPerSecond: PER_SECOND });
      const [cfe] = (await cfesOf(ruts[0], 1)) as [Cfe];
      await anHourAhead(() =>
        db.orm.em.fork().transactional(async (em) => {
          const endpoint = await lockEndpoint(em, 'production/reception');
          for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
        }),
      );
      await gate.wait(cfe);

      await until('the call of the prober', 10, async () => {
        await keeper.look();
        return (await called()).length > 0 || undefined;
      });

      expect(await called()).toEqual([cfe.id]);
      expect(await gate.enter(cfe)).toMatchObject({ hasEntry: true, isProbe: true });
    });

    test('an older one of the enterprise that comes late takes the place of the probe', async () => {
      const [failing, entering, probe, other] = (await cfesOf(ruts[0], 4)) as [Cfe, Cfe, Cfe, Cfe];
      await opens();
      await allEnter([other, probe]);
      passes(2_000);
      await bothLook();
      expect(await probing()).toEqual([probe.id]);

      const permit = await gates[0].enter(entering);
      expect(permit).toEqual({ slot: now, dueAt: now.getTime(), hasEntry: true, isProbe: true });
      expect(await gates[1].enter(probe)).toBe('waits');
      // Its send failed as the endpoint went away, and took long to do so.
      expect(await gates[1].afterFailure(failing)).toEqual({ probeIn: 0 });
      expect(await gates[0].enter(entering)).toBe('waits');
      expect(await gates[1].enter(other)).toBe('waits');

      await bothLook();
      expect(await probing()).toEqual([failing.id]);
      await closes();
      await bothLook();
      expect((await probing()).slice(1)).toEqual([entering.id, probe.id, other.id]);
    });

    test('the probe tries again when the next is due, without leaving its activity', async () => {
      const [cfe] = (await cfesOf(ruts[0], 3)) as [Cfe];
      await opens();
      await allEnter([cfe]);
      passes(2_000);
      await bothLook();
      for (const pause of [2, 4, 8, 16]) {
        await probeFails();
        expect(await gates[0].afterFailure(cfe)).toEqual({ probeIn: pause * 1_000 });
        passes(100);
      }
      expect(await gates[1].enter(cfe)).toEqual({ probeIn: 15_900 });
      passes(13_000);
      expect(await gates[1].enter(cfe)).toEqual({
        slot: new Date(now.getTime() + 2_900),
        dueAt: now.getTime() + 2_900,
        hasEntry: true,
        isProbe: true,
      });
    });

    test('after five probes in vain the next in order tries, so that no CFE keeps the others back', async () => {
      const [one, two] = (await cfesOf(ruts[0], 2)) as [Cfe, Cfe];
      await opens();
      await allEnter([one, two]);
      passes(2_000);
      await bothLook();
      for (let i = 0; i < 4; i += 1) {
        await probeFails();
        expect(await gates[0].afterFailure(one)).toHaveProperty('probeIn');
      }
      await probeFails();

      expect(await gates[0].afterFailure(one)).toBe('waits');

      await bothLook();
      expect(await probing()).toEqual([two.id]);
      // Whoever has tried lately is not asked again; with nobody else, the last one stays.
      await probeFails();
      expect(await gates[0].afterFailure(two)).toHaveProperty('probeIn');
      passes(1_800_001);
      await gates[0].enter(two);
      await probeFails();
      expect(await gates[0].afterFailure(two)).toBe('waits');
      await bothLook();
      expect(await probing()).toEqual([one.id]);
    });

    test('a probe of somebody else that is under way does not send the next one to sleep', async () => {
      const [cfe] = (await cfesOf(ruts[0], 1)) as [Cfe];
      await opens();
      await allEnter([cfe]);
      passes(2_000);
      // A call that was on its way when the endpoint opened, and takes long.
      await reception((endpoint) => void endpoint.beginProbe());
      await bothLook();

      expect(await gates[0].enter(cfe)).toEqual({ probeIn: 2_000 });

      passes(2_000);
      await closes();
      const permit = await gates[0].enter(cfe);
      expect(await gates[0].untilSlot(cfe, permit as Permit)).toBe(true);
    });

    test('a question before the send that fails counts as the probe: the next waits as long', async () => {
      const [cfe] = (await cfesOf(ruts[0], 1)) as [Cfe];
      await opens();
      await allEnter([cfe]);
      passes(2_000);
      await bothLook();

      expect(await gates[0].afterFailure(cfe)).toEqual({ probeIn: 2_000 });
    });

    test('those that were let through when it went away wait again, and go in order when it is back', async () => {
      const cfes = await cfesOf(ruts[0], 10);
      for (const cfe of cfes) await gates[0].wait(cfe);
      await bothLook();
      await opens();
      passes(2_000);
      expect(new Set(await allEnter(cfes))).toEqual(new Set(['waits']));
      await bothLook();
      expect(await probing()).toEqual([cfes[0]?.id]);
      await closes();

      await bothLook();

      const given = (await released()).filter(({ cfeUuid }) => cfeUuid !== cfes[0]?.id);
      expect(given.map(({ cfeUuid }) => cfeUuid)).toEqual(cfes.slice(1).map(({ id }) => id));
    });

    test('a failure while it answers is left to the next try; one that finds it away waits', async () => {
      const [one, two] = (await cfesOf(ruts[0], 2)) as [Cfe, Cfe];
      expect(await gates[0].afterFailure(one)).toBe('tryAgain');
      expect(await entries()).toEqual([]);
      await opens();
      expect(await gates[0].afterFailure(two)).toBe('waits');
      expect(await waiting()).toBe(1);
    });
  });
});
