import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  dismissProber,
  type LockedEndpoint,
  listEndpointStates,
  lockEndpoint,
} from '../../../src/db/authority/authorityEndpoints.ts';
import { findNextToSend, loadSobre } from '../../../src/db/authority/sobres.ts';
import { Sobre, type SobreState } from '../../../src/db/entities/authority.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { FAILURES_TO_OPEN } from '../../../src/domain/authority/breaker.ts';
import { createGate, type Gate, type Permit } from '../../../src/gate/gate.ts';
import { createGatekeeper, type Gatekeeper } from '../../../src/gate/gatekeeper.ts';
import { createLogger } from '../../../src/logger.ts';
import { anHourAhead } from '../../support/clocks.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';
import { referTo } from '../../support/receipts/references.ts';
import { decideCfe } from '../../support/temporal/verdicts.ts';
import { until } from '../../support/until.ts';

const START = new Date('2026-11-20T12:00:00Z');
const PER_SECOND = 20;
const SPACING = 1_000 / PER_SECOND;
const MOST = 10;
const later = (milliseconds: number): Date => new Date(START.getTime() + milliseconds);
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

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
    const gate = (orm: Orm) =>
      createGate({
        orm,
        clock,
        sendsPerSecond: PER_SECOND,
        questionsPerSecond: PER_SECOND,
        pause: async (milliseconds) => passes(milliseconds),
        chance: () => 0,
      });
    gates = [gate(db.worker), gate(other)];
    gatekeepers = [gatekeeper(db.worker), gatekeeper(other)];
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

  const clock = () => now;
  const logger = createLogger({ name: 'test', level: 'silent' });
  const gatekeeper = (orm: Orm, wishes: Partial<Parameters<typeof createGatekeeper>[0]> = {}): Gatekeeper =>
    createGatekeeper({
      orm,
      clock,
      outbox: idleOutbox,
      logger,
      sendsPerSecond: PER_SECOND,
      sobreMost: MOST,
      ...wishes,
    });
  /** By PostgreSQL's clock. */
  const untimed = () => ({
    gate: createGate({ orm: other, sendsPerSecond: PER_SECOND, questionsPerSecond: PER_SECOND }),
    keeper: createGatekeeper({
      orm: db.worker,
      outbox: idleOutbox,
      logger,
      sendsPerSecond: PER_SECOND,
      sobreMost: MOST,
    }),
  });
  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const cfesOf = (rut: string | undefined, count: number, from = START): Promise<Cfe[]> =>
    givePendingCfes(db.orm, { accountId, rut: rut ?? '', count, from });
  const oneOf = async (rut: string | undefined, from = START): Promise<Cfe> => {
    const [cfe] = await cfesOf(rut, 1, from);
    if (!cfe) throw new Error('no CFE');
    return cfe;
  };
  /** Sobres of one CFE each, a millisecond apart, that wait for a slot. */
  const waitingSobres = async (cfes: readonly Cfe[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const [index, cfe] of cfes.entries())
      ids.push(await aSobreOf(db.orm, [cfe], { slot: null, now: later(index) }));
    return ids;
  };
  const aWaitingSobre = async (rut: string | undefined): Promise<string> =>
    aSobreOf(db.orm, [await oneOf(rut)], { slot: null, now: START });
  const enter = async (sobreId: string, gate: 0 | 1 = 0) =>
    gates[gate].enter(await loadSobre(db.worker.em.fork(), sobreId, clock));
  const sobreOf = (id: string) => db.orm.em.fork().findOneOrFail(Sobre, { id });
  const stands = (id: string, state: SobreState) =>
    db.orm.em.fork().nativeUpdate(Sobre, { id }, { state, xml: '<Sobre/>', idemisor: 900n });
  /** With a permit for that sobre: whether it may go now. */
  const maySend = async (sobreId: string, permit: unknown): Promise<boolean> =>
    gates[1].untilSlot(await sobreOf(sobreId), permit as Permit);
  const afterFailure = async (sobreId: string) => gates[0].afterFailure(await sobreOf(sobreId));
  const bothLook = () => Promise.all(gatekeepers.map((gatekeeper) => gatekeeper.look()));
  const reception = (change: (endpoint: LockedEndpoint) => void) =>
    db.orm.em
      .fork()
      .transactional(async (em) => change(await lockEndpoint(em, 'production/reception', clock)));
  const opens = () =>
    reception((endpoint) => {
      for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
    });
  const closes = () => reception((endpoint) => endpoint.close());
  const proberId = async () => {
    let id: string | null = null;
    await reception(({ breaker }) => {
      id = breaker.proberId;
    });
    return id as string | null;
  };

  interface Made {
    readonly id: string;
    readonly rut: string;
    readonly slot: Date | null;
    readonly sequences: number[];
  }
  /** All sobres by their slots, with the places of their CFEs in the sequence of their enterprise. */
  const sobres = async (): Promise<Made[]> => {
    const rows = await db.orm.em.fork().execute<(Omit<Made, 'slot'> & { slot: string | null })[]>(
      `select sobre.id, sobre.rut, slot, json_agg(sequence order by place) as sequences
       from sobre join sobre_cfe on sobre_id = sobre.id join cfe on cfe.id = cfe_uuid
       group by sobre.id order by slot nulls last, sobre.created_at, sobre.id`,
    );
    return rows.map((row) => ({ ...row, slot: row.slot === null ? null : new Date(row.slot) }));
  };
  const contents = async () => (await sobres()).map(({ sequences }) => sequences);
  const rowsThatWait = () => db.orm.em.fork().count(Cfe, { sobreId: null, status: 'PENDING' });
  const messages = (signal: 'slotGiven' | null) =>
    db.orm.em.fork().find(OutboxMessage, { signal }, { orderBy: { id: 'asc' } });
  const started = async () => (await messages(null)).map(({ input }) => input['sobreId']);
  const called = async () => (await messages('slotGiven')).map(({ input }) => input['sobreId']);

  describe('what waits is put into sobres', () => {
    test('in the order in which it was taken, as many as a sobre holds, with slot and message', async () => {
      const [rut = ''] = ruts;
      await cfesOf(rut, MOST + 3);

      await bothLook();

      const [sobre] = await sobres();
      expect(await sobres()).toEqual([{ id: sobre?.id, rut, slot: now, sequences: upTo(MOST) }]);
      const [message] = await messages(null);
      const ids = upTo(MOST).map((sequence) => `101-${sequence}`);
      expect(message).toMatchObject({
        workflow: 'issueCfes',
        workflowId: expect.stringMatching(new RegExp(`^cfe:${rut}:101-1\\+${MOST - 1}:[0-9a-f]{8}$`)),
        input: { sobreId: sobre?.id },
        searchAttributes: expect.objectContaining({ CfeId: ids, EnterpriseRut: rut }),
      });
      const { workflowId } = await db.orm.em.fork().findOneOrFail(Cfe, { rut, sequence: MOST });
      expect(workflowId).toBe(message?.workflowId);
      expect(await started()).toHaveLength(1);
      expect(await rowsThatWait()).toBe(3);
    });

    test('those who share a certificate with the first of them, up to the first who does not', async () => {
      const [rut = ''] = ruts;
      const [, , third] = await cfesOf(rut, 4);
      const em = db.orm.em.fork();
      const certificate = await em.findOneOrFail(Certificate, { rut }, { populate: ['sealedKey'] });
      const renewed = randomUUID();
      certificate.replacedAt = now;
      await em.flush();
      const { subject, notBefore, notAfter, certificate: der } = certificate;
      const values = {
        subject,
        notBefore,
        notAfter,
        certificate: der,
        sealedKey: 'sealed',
        replacedAt: null,
      };
      await em.insert(Certificate, {
        id: renewed,
        rut,
        environment: 'production',
        createdAt: now,
        ...values,
      });
      await em.nativeUpdate(Cfe, { id: third?.id ?? '' }, { certificateId: renewed });

      for (let look = 0; look < 3; look += 1) {
        await bothLook();
        passes(10_001);
      }

      expect(await contents()).toEqual([[1, 2], [3], [4]]);
    });

    test('as much as the authority takes in bytes', async () => {
      const [rut = ''] = ruts;
      await cfesOf(rut, 4);
      const em = db.orm.em.fork();
      await em.execute(`update cfe set signed_xml = repeat('x', 900000), digest = 'eA=='`);
      await em.execute(`update cfe set signed_xml = repeat('x', 3000000) where sequence = 4`);

      for (let look = 0; look < 3; look += 1) {
        await bothLook();
        passes(10_001);
      }

      // One that is too large by itself is told so by the authority, and holds up nobody.
      expect(await contents()).toEqual([[1, 2], [3], [4]]);
    });

    test('but no note before the verdict on what it corrects', async () => {
      const [rut = ''] = ruts;
      const [original, note] = (await cfesOf(rut, 2)) as [Cfe, Cfe];
      await referTo(db.orm.em.fork(), note.id, [original.id], { held: true });
      await bothLook();
      passes(60_000);
      await bothLook();
      expect(await contents()).toEqual([[1]]);

      await decideCfe({ orm: db.orm, clock }, original.id, { status: 'ACCEPTED' });
      await bothLook();

      expect(await contents()).toEqual([[1], [2]]);
    });

    test('a few wait while a sobre of theirs is in progress, for ten seconds at most; as many as fill one do not', async () => {
      const [rut = '', elsewhere = ''] = ruts;
      await cfesOf(rut, 1);
      await bothLook();
      await cfesOf(rut, MOST - 1);
      await cfesOf(elsewhere, 1);
      passes(1_000);
      await bothLook();
      // Nobody else waits with them.
      expect((await sobres()).map((one) => one.rut)).toEqual([rut, elsewhere]);

      await cfesOf(rut, 1, later(60_000));
      await bothLook();
      expect((await sobres()).at(-1)).toMatchObject({ rut, sequences: upTo(MOST + 1, 2) });

      await cfesOf(rut, 2);
      passes(9_000);
      await bothLook();
      expect(await rowsThatWait()).toBe(2);
      passes(1_200);
      await bothLook();
      expect(await rowsThatWait()).toBe(0);
    });

    test('where a sobre holds one (CFE_SOBRE_MOST), each by itself, and none waits for the one before', async () => {
      const [rut = ''] = ruts;
      await cfesOf(rut, 3);

      await gatekeeper(db.worker, { sobreMost: 1 }).look();

      expect(await contents()).toEqual([[1], [2], [3]]);
      expect(await started()).toHaveLength(3);
      const { workflowId } = await db.orm.em.fork().findOneOrFail(Cfe, { rut, sequence: 3 });
      expect(workflowId).toMatch(new RegExp(`^cfe:${rut}:101-3:[0-9a-f]{8}$`));
    });

    test('and go at once when that sobre was received', async () => {
      await cfesOf(ruts[0], 1);
      await bothLook();
      await cfesOf(ruts[0], 2);
      const [first] = await sobres();
      await stands(first?.id ?? '', 'RECEIVED');

      await bothLook();

      expect(await contents()).toEqual([[1], [2, 3]]);
    });

    test('a sobre whose CFE waits for a person blocks nobody', async () => {
      const stuck = await oneOf(ruts[0]);
      await aSobreOf(db.orm, [stuck], { slot: now, now });
      await db.orm.em.fork().nativeUpdate(Cfe, { id: stuck.id }, { stuckReason: 'signing' });
      await cfesOf(ruts[0], 2);
      passes(10_001);

      await bothLook();

      expect(await contents()).toEqual([[1], [2, 3]]);
    });

    test('of one enterprise and environment each', async () => {
      const [rut = ''] = ruts;
      await cfesOf(rut, 2);
      await givePendingCfes(db.orm, { accountId, rut, count: 2, from: START, environment: 'sandbox' });

      await bothLook();

      const rows = await db.orm.em.fork().find(Sobre, { rut }, { orderBy: { environment: 'asc' } });
      expect(rows.map(({ environment }) => environment)).toEqual(['production', 'sandbox']);
      expect(await contents()).toEqual(expect.arrayContaining([upTo(2), upTo(4, 3)]));
    });
  });

  test('the order: by enterprise, the longest without a slot first; of each its oldest sobre, before its CFEs', async () => {
    const [a = '', b = '', c = ''] = ruts;
    await cfesOf(a, 2);
    const [first, second] = await waitingSobres(await cfesOf(b, 2));
    await cfesOf(b, 1);
    await cfesOf(c, 1);
    const em = db.orm.em.fork();
    const hadSlot = (rut: string, at: Date) =>
      em.execute('update sobre_sequence set last_slot = ? where rut = ?', [at.toISOString(), rut]);
    await hadSlot(a, START);
    await hadSlot(b, later(-1_000));

    const line = { environment: 'production', flightSince: later(-10_000), full: MOST } as const;
    const all = [
      { rut: c, sobreId: null },
      { rut: b, sobreId: first },
      { rut: a, sobreId: null },
    ];
    for (const count of [50, 2, 1])
      expect(await findNextToSend(em, { ...line, count })).toEqual(all.slice(0, count));
    expect(await findNextToSend(em, { ...line, environment: 'sandbox', count: 5 })).toEqual([]);
    await em.nativeUpdate(Sobre, { id: first ?? '' }, { slot: later(-20_000) });
    expect(await findNextToSend(em, { ...line, count: 5 })).toContainEqual({ rut: b, sobreId: second });
  });

  test('two gatekeepers let through what waits: each CFE once, at the rate, by enterprise in turn, oldest first', async () => {
    for (const rut of ruts) await cfesOf(rut, 40);

    const givenAt = new Map<string, number>();
    for (let look = 0; look < 6; look += 1) {
      await bothLook();
      for (const { id } of await sobres()) if (!givenAt.has(id)) givenAt.set(id, now.getTime());
      passes(250);
    }

    const made = await sobres();
    expect(made.map(({ rut }) => rut)).toEqual(Array.from({ length: 4 }, () => ruts).flat());
    for (const rut of ruts)
      expect(made.filter((one) => one.rut === rut).flatMap(({ sequences }) => sequences)).toEqual(upTo(40));
    expect(new Set(await started())).toEqual(new Set(made.map(({ id }) => id)));
    expect(await started()).toHaveLength(12);
    const slots = made.map(({ slot }) => Number(slot));
    for (const [index, slot] of slots.entries()) {
      if (index > 0) expect(slot - (slots[index - 1] ?? 0)).toBeGreaterThanOrEqual(SPACING);
      expect(slot).toBeGreaterThanOrEqual(givenAt.get(made[index]?.id ?? '') ?? Number.POSITIVE_INFINITY);
    }
  });

  test('slots are given three seconds ahead and no further', async () => {
    const slow = gatekeeper(db.worker, { sendsPerSecond: 1 });
    for (const rut of ruts) await aWaitingSobre(rut);
    for (const rut of ruts) await cfesOf(rut, 1);
    const slots = async () =>
      (await sobres()).flatMap(({ slot }) => (slot ? [slot.getTime() - START.getTime()] : []));

    await slow.look();
    await slow.look();
    expect(await slots()).toEqual([0, 1_000, 2_000]);
    passes(1_000);
    await slow.look();
    expect(await called()).toHaveLength(3);
  });

  test('of 100 that are late at once no two get slots nearer than the rate; who gets none near waits', async () => {
    const sobre = await sobreOf(await aWaitingSobre(ruts[0]));
    const pauses: number[] = [];
    const late = [db.worker, other].map((orm) =>
      createGate({
        orm,
        clock,
        sendsPerSecond: PER_SECOND,
        questionsPerSecond: 1,
        pause: async (milliseconds) => pauses.push(milliseconds),
      }),
    );

    const permit = { dueAt: START.getTime() - 5_000, isProbe: false };
    const may = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (late[index % 2] as Gate).untilSlot(sobre, permit)),
    );

    // 3.5 s of slots, the first of them now.
    expect(may.filter(Boolean)).toHaveLength(71);
    expect(pauses.toSorted((a, b) => a - b)).toEqual(upTo(70).map((index) => index * SPACING));
  });

  test('questions have a rate of their own; where none is near a moment is reserved, and used once', async () => {
    const waits: Awaited<ReturnType<ReturnType<typeof createGate>['untilQuestion']>>[] = [];
    const pauses: number[] = [];
    const gate = createGate({
      orm: db.worker,
      clock,
      sendsPerSecond: PER_SECOND,
      questionsPerSecond: 1,
      pause: async (milliseconds) => pauses.push(milliseconds),
      chance: () => 0.5,
    });
    for (let i = 0; i < 6; i += 1) waits.push(await gate.untilQuestion('production'));

    expect(pauses).toEqual([1_000, 2_000, 3_000]);
    const reserved = [4, 5].map((seconds) => new Date(START.getTime() + seconds * 1_000));
    expect(waits).toEqual([
      null,
      null,
      null,
      null,
      { milliseconds: 4_000, reserved: reserved[0] },
      { milliseconds: 5_000, reserved: reserved[1] },
    ]);
    // Neither the other environment nor a send waits for them.
    expect(await gate.untilQuestion('sandbox')).toBeNull();
    await cfesOf(ruts[0], 1);
    await bothLook();
    expect((await sobres())[0]?.slot).toEqual(START);

    now = reserved[0] ?? now;
    pauses.length = 0;
    expect(await gate.untilQuestion('production', reserved[0])).toBeNull();
    expect(pauses).toEqual([]);
    // The reserved one took none anew: the next free one follows those that were given.
    expect(await gate.untilQuestion('production')).toBeNull();
    expect(pauses).toEqual([2_000]);
    // One that was reserved long ago is none any more.
    now = new Date(START.getTime() + 3_600_000);
    expect(await gate.untilQuestion('production', reserved[1])).toBeNull();
    for (let i = 1; i < 61; i += 1) await gate.untilQuestion('production');
    expect(await gate.untilQuestion('production')).toEqual({ milliseconds: 60_000, reserved: null });
  });

  test('a process whose own clock is an hour ahead delays no other: the time is PostgreSQL’s', async () => {
    const { gate, keeper } = untimed();
    await cfesOf(ruts[0], 1, new Date());
    await cfesOf(ruts[1], 1, new Date());
    await anHourAhead(() => keeper.look());
    const made = await sobres();
    expect(made).toHaveLength(2);
    for (const { id, slot } of made) {
      expect(Number(slot) - Date.now()).toBeLessThan(3_000);
      const hand = await loadSobre(other.em.fork(), id);
      const permit = await gate.enter(hand);
      expect(await gate.untilSlot(hand.sobre, permit as Permit)).toBe(true);
    }
  });

  test('a sobre without a slot waits; called, it finds its slot; late, it takes another', async () => {
    const [one, late] = [await aWaitingSobre(ruts[0]), await aWaitingSobre(ruts[1])];
    expect(await enter(one)).toBe('waits');
    await bothLook();
    expect(await called()).toEqual([one, late]);
    const [firstSlot, secondSlot] = (await sobres()).map(({ slot }) => Number(slot));
    expect(secondSlot).toBe((firstSlot ?? 0) + SPACING);

    const permit = await enter(one, 1);
    expect(permit).toEqual({ dueAt: firstSlot, isProbe: false });
    expect(await maySend(one, permit)).toBe(true);
    passes(5_000);
    const before = now.getTime();
    expect(await maySend(one, { dueAt: before, isProbe: false })).toBe(true);
    const latePermit = await enter(late);
    expect(latePermit).toEqual({ dueAt: secondSlot, isProbe: false });
    expect(await maySend(late, latePermit)).toBe(true);
    // A slot was free at once.
    expect(now.getTime()).toBe(before);
    expect(await maySend(late, latePermit)).toBe(true);
    expect(now.getTime()).toBe(before + SPACING);
  });

  test('one that gives its slot back waits, and is called anew', async () => {
    const id = await aWaitingSobre(ruts[0]);
    await bothLook();
    await gates[0].wait(await sobreOf(id));
    expect((await sobreOf(id)).slot).toBeNull();
    passes(1_000);
    await bothLook();
    expect(await called()).toEqual([id, id]);
    expect((await sobreOf(id)).slot).toEqual(now);
  });

  test('one that was called is not called once more, however long Temporal cannot be told', async () => {
    const id = await aWaitingSobre(ruts[0]);
    for (let look = 0; look < 5; look += 1) {
      await bothLook();
      passes(300_000);
    }
    expect(await called()).toEqual([id]);
  });

  test('no more are let through than can be in progress: a Temporal server that is away is not flooded later', async () => {
    const slow = gatekeeper(db.worker, { sendsPerSecond: 1 });
    const ids = await waitingSobres(await cfesOf(ruts[0], 40));
    for (let look = 0; look < 50; look += 1) {
      await slow.look();
      passes(1_000);
    }
    expect(await called()).toEqual(ids.slice(0, 30));
    await stands(ids[0] ?? '', 'RECEIVED');
    await slow.look();
    expect(await called()).toEqual(ids.slice(0, 31));

    // Those of which nothing was heard for so long are in progress no more.
    passes(200_000);
    await slow.look();
    expect(await called()).toHaveLength(34);
  });

  test('what waits is signed meanwhile, every second', async () => {
    let times = 0;
    const signing = gatekeeper(db.worker, {
      signWaitingCfes: async () => {
        times += 1;
      },
    });
    for (let look = 0; look < 8; look += 1) {
      await signing.look();
      passes(250);
    }
    expect(times).toBe(2);
  });

  test('a look that fails is said, and the next one looks again', async () => {
    await cfesOf(ruts[0], 1);
    let fails = true;
    const failing = gatekeeper(db.worker, {
      outbox: {
        scheduleDispatch() {
          if (fails) throw new Error('no outbox');
        },
      },
    });
    failing.scheduleLook();
    await failing.close();
    fails = false;
    const next = gatekeeper(db.worker);
    await cfesOf(ruts[1], 1);
    next.scheduleLook();
    await next.close();
    expect((await sobres()).map(({ rut }) => rut)).toEqual(ruts.slice(0, 2));
  });

  describe('while the authority is away', () => {
    /** What a failed probe does, by the breaker that stands before the call. */
    const probeFails = async (): Promise<void> => {
      const em = db.orm.em.fork();
      await em.execute(
        "update authority_endpoint set probes = probes + 1 where name = 'production/reception'",
      );
      await reception((endpoint) => endpoint.countFailure({ wasProbe: true, chance: 0 }));
    };
    /** Opens it, lets the failures settle and has a prober appointed. */
    const goesAway = async (): Promise<void> => {
      await opens();
      passes(2_000);
      await bothLook();
    };

    test('all waits as rows but for one sobre, the first in order, once who failed last has come', async () => {
      await opens();
      for (const rut of ruts) await cfesOf(rut, MOST + 2);
      passes(1_000);
      await bothLook();
      expect(await sobres()).toEqual([]);

      passes(500);
      for (let look = 0; look < 20; look += 1) {
        await bothLook();
        passes(250);
      }

      const [prober] = await sobres();
      expect(await sobres()).toEqual([
        { id: prober?.id, rut: ruts[0], slot: later(1_500), sequences: upTo(MOST) },
      ]);
      expect(await proberId()).toBe(prober?.id);
      expect(await db.orm.em.fork().count(OutboxMessage, {})).toBe(1);
      expect(await rowsThatWait()).toBe(3 * (MOST + 2) - MOST);
      expect(await enter(prober?.id ?? '')).toEqual({ dueAt: now.getTime(), isProbe: true });
      const states = await listEndpointStates(db.orm.em.fork(), clock);
      expect(states.find(({ endpoint }) => endpoint === 'production/reception')).toEqual({
        endpoint: 'production/reception',
        openSince: START,
        nextProbeAt: expect.any(Date),
        waiting: 3 * (MOST + 2) - MOST,
      });
    });

    test('a probe is a send like others: what waits goes no sooner after it than the rate allows', async () => {
      await cfesOf(ruts[0], MOST);
      await cfesOf(ruts[1], 1);
      await goesAway();
      const [prober] = await sobres();
      await enter(prober?.id ?? '');
      await stands(prober?.id ?? '', 'RECEIVED');
      await closes();
      await bothLook();

      const slots = (await sobres()).map(({ slot }) => slot?.getTime() ?? 0);
      expect(slots).toHaveLength(2);
      expect(Math.max(...slots) - Math.min(...slots)).toBe(SPACING);
    });

    test('a sobre that had its slot waits as well, and goes first when it is back; what waits shares sobres', async () => {
      const inFlight = await aSobreOf(db.orm, [await oneOf(ruts[1])], { slot: START, now: START });
      await cfesOf(ruts[1], 6);
      await cfesOf(ruts[0], 1);
      await goesAway();
      const prober = await proberId();
      expect(prober).not.toBe(inFlight);
      expect(await enter(inFlight)).toBe('waits');
      await closes();
      passes(10_000);

      await bothLook();
      expect(await called()).toEqual([inFlight]);
      await stands(inFlight, 'RECEIVED');
      await bothLook();

      expect((await sobres()).filter(({ rut }) => rut === ruts[1]).map(({ sequences }) => sequences)).toEqual(
        [[1], upTo(7, 2)],
      );
    });

    test('a process whose own clock is an hour ahead when it went away keeps no probe back', async () => {
      const { gate, keeper } = untimed();
      await cfesOf(ruts[0], 1, new Date());
      await anHourAhead(() =>
        db.orm.em.fork().transactional(async (em) => {
          const endpoint = await lockEndpoint(em, 'production/reception');
          for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
        }),
      );

      await until('the prober', 10, async () => {
        await keeper.look();
        return (await started()).length > 0 || undefined;
      });

      const [prober] = await sobres();
      expect(await gate.enter(await loadSobre(other.em.fork(), prober?.id ?? ''))).toMatchObject({
        isProbe: true,
      });
    });

    test('the prober tries again when the next probe is due, without leaving its activity', async () => {
      const id = await aWaitingSobre(ruts[0]);
      await goesAway();
      for (const pause of [2, 4, 8, 16]) {
        await probeFails();
        expect(await afterFailure(id)).toEqual({ probeIn: pause * 1_000 });
        passes(100);
      }
      expect(await enter(id, 1)).toEqual({ probeIn: 15_900 });
      passes(13_000);
      expect(await enter(id, 1)).toEqual({ dueAt: now.getTime() + 2_900, isProbe: true });
    });

    test('after five probes in vain the next in order tries, so that no sobre keeps the others back', async () => {
      const one = await aWaitingSobre(ruts[0]);
      const two = await aWaitingSobre(ruts[1]);
      await goesAway();
      expect(await proberId()).toBe(one);
      for (let i = 0; i < 4; i += 1) {
        await probeFails();
        expect(await afterFailure(one)).toHaveProperty('probeIn');
      }
      await probeFails();

      expect(await afterFailure(one)).toBe('waits');

      await bothLook();
      expect(await proberId()).toBe(two);
      // Whoever has tried lately is not asked again; with nobody else, the last one stays.
      await probeFails();
      expect(await afterFailure(two)).toHaveProperty('probeIn');
      passes(1_800_001);
      await enter(two);
      await probeFails();
      expect(await afterFailure(two)).toBe('waits');
      await bothLook();
      expect(await proberId()).toBe(one);
      expect(await called()).toEqual([one, two, one]);
    });

    test('CFEs that wait are made a sobre to take the prober’s part', async () => {
      const one = await aWaitingSobre(ruts[0]);
      await goesAway();
      await cfesOf(ruts[0], 3);
      await cfesOf(ruts[1], 3);
      for (let i = 0; i < 5; i += 1) await probeFails();
      expect(await afterFailure(one)).toBe('waits');

      await bothLook();

      const made = (await sobres()).find(({ id }) => id !== one);
      expect(made).toMatchObject({ rut: ruts[1], sequences: [1, 2, 3] });
      expect(await proberId()).toBe(made?.id);
    });

    test('a prober of which nothing is heard, as where its run was terminated, is replaced', async () => {
      const lost = await aWaitingSobre(ruts[0]);
      await goesAway();
      await cfesOf(ruts[1], 2);
      passes(199_000);
      await bothLook();
      expect(await proberId()).toBe(lost);

      passes(1_001);
      await bothLook();

      const made = (await sobres()).find(({ id }) => id !== lost);
      expect(made?.sequences).toEqual([1, 2]);
      expect(await proberId()).toBe(made?.id);
      expect(await sobreOf(lost)).toMatchObject({ slot: null, probedAt: now });
    });

    test('one that shows that it works on it is not, however long the outage', async () => {
      const id = await aWaitingSobre(ruts[0]);
      await goesAway();
      await cfesOf(ruts[1], 2);
      for (let i = 0; i < 5; i += 1) {
        passes(150_000);
        await enter(id);
        await bothLook();
      }
      expect(await proberId()).toBe(id);
    });

    test('a prober that was received, refused or left by its CFEs is replaced at once', async () => {
      const id = await aWaitingSobre(ruts[0]);
      const next = await aWaitingSobre(ruts[1]);
      await goesAway();
      await stands(id, 'REFUSED');
      await bothLook();
      expect(await proberId()).toBe(next);
    });

    test('a prober that leaves, or gives up for a mistake of ours, leaves the part to the next', async () => {
      const id = await aWaitingSobre(ruts[0]);
      const next = await aWaitingSobre(ruts[1]);
      await goesAway();
      await stands(id, 'SENDING');
      await gates[0].giveUp(id);
      expect(await proberId()).toBeNull();
      expect(await sobreOf(id)).toMatchObject({ slot: null, probedAt: now });
      await bothLook();
      expect(await proberId()).toBe(next);
      await gates[0].leave(await sobreOf(next), { dueAt: 0, isProbe: true });
      expect(await proberId()).toBeNull();
      // One that is no prober takes nothing from whoever is.
      await bothLook();
      const present = await proberId();
      expect(present).not.toBeNull();
      await dismissProber(db.orm.em.fork(), randomUUID());
      await gates[0].leave(await sobreOf(next), { dueAt: 0, isProbe: false });
      expect(await proberId()).toBe(present);
    });

    test('a probe of somebody else that is in progress does not send the next one to sleep', async () => {
      const id = await aWaitingSobre(ruts[0]);
      await opens();
      passes(2_000);
      // A call that was on its way when the endpoint opened, and takes long.
      await reception((endpoint) => void endpoint.startProbe());
      await bothLook();

      expect(await enter(id)).toEqual({ probeIn: 2_000 });

      passes(2_000);
      await closes();
      const permit = await enter(id);
      expect(await maySend(id, permit)).toBe(true);
    });

    test('a question before the send that fails counts as the probe: the next waits as long', async () => {
      const id = await aWaitingSobre(ruts[0]);
      await goesAway();

      expect(await afterFailure(id)).toEqual({ probeIn: 2_000 });
    });

    test('a failure while it answers is left to the next try; one that finds it away waits', async () => {
      const one = await aSobreOf(db.orm, [await oneOf(ruts[0])], { slot: START, now: START });
      expect(await afterFailure(one)).toBe('tryAgain');
      expect((await sobreOf(one)).slot).toEqual(START);
      await opens();
      expect(await afterFailure(one)).toBe('waits');
      expect((await sobreOf(one)).slot).toBeNull();
    });
  });
});
