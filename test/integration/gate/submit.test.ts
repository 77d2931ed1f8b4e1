import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Authority } from '../../../src/activities/steps/authority.ts';
import { createSubmitCfe } from '../../../src/activities/submitCfe.ts';
import { type LockedEndpoint, lockEndpoint } from '../../../src/db/authorityEndpoints.ts';
import { QueueEntry, Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { FindSobreAnswer, SendAnswer } from '../../../src/dgi/client.ts';
import { FAILURES_TO_OPEN } from '../../../src/domain/breaker.ts';
import { createBreakers } from '../../../src/gate/breakers.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { createGatekeeper } from '../../../src/gate/gatekeeper.ts';
import { createLogger } from '../../../src/logger.ts';
import { asActivity } from '../../support/activityContext.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';
import { givePendingCfes } from '../../support/pendingCfes.ts';

const TICKET = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
const NOT_THERE = { kind: 'repeat', what: 'HTTP 503', reached: true } as const;
const AWAY = { kind: 'fateUnknown', what: 'HTTP 503' } as const;
const STUCK = {
  kind: 'stuck',
  reason: 'authority.certificate',
  explanation: 'It does not take it.',
} as const;

describe('submitCfe at the gate', () => {
  let db: TestDatabase;
  let cfe: Cfe;
  let now: Date;
  let said: { send: SendAnswer; find: FindSobreAnswer };
  let calls: string[];
  let duringSend: () => Promise<void>;
  beforeEach(async () => {
    db = await cloneDatabase({ worker: true });
    now = new Date('2026-11-20T12:00:00Z');
    said = { send: TICKET, find: { kind: 'absent' } };
    calls = [];
    duringSend = async () => {};
    const accountId = await anAccount(db.orm);
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    [cfe] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: now })) as [Cfe];
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { signedXml: '<CFE/>', digest: 'eA==' });
  });
  afterEach(() => db[Symbol.asyncDispose]());

  const clock = () => now;
  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const authority: Authority = {
    async sendSobre(_cfe, _sobre, { ready }) {
      expect(await ready()).toBe(true);
      calls.push('send');
      await duringSend();
      return said.send;
    },
    async findSobre() {
      calls.push('find');
      return said.find;
    },
    askVerdict: () => Promise.reject(new Error('not asked here')),
    findReceipt: () => Promise.reject(new Error('not asked here')),
    findState: () => Promise.reject(new Error('not asked here')),
  };
  const submit = (id = cfe.id) =>
    asActivity(() =>
      createSubmitCfe({
        orm: db.worker,
        clock,
        outbox: idleOutbox,
        authority,
        gate: createGate({ orm: db.worker, clock, sendsPerSecond: 10, pause: async (ms) => passes(ms) }),
        authorityRut: { production: '214844360018', sandbox: '219999830019' },
        pollLongestSeconds: 60,
        patienceSeconds: 60,
      })(id),
    );
  const reception = (change: (endpoint: LockedEndpoint) => void) =>
    db.orm.em
      .fork()
      .transactional(async (em) => change(await lockEndpoint(em, 'production/reception', clock)));
  const goesAway = () =>
    reception((endpoint) => {
      for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
    });
  const isBack = () => reception((endpoint) => endpoint.close());
  const look = () =>
    createGatekeeper({
      orm: db.worker,
      clock,
      outbox: idleOutbox,
      logger: createLogger({ name: 'test', level: 'silent' }),
      sendsPerSecond: 10,
    }).look();
  const entry = () => db.orm.em.fork().findOne(QueueEntry, { cfeUuid: cfe.id });
  const sobre = () => db.orm.em.fork().findOneOrFail(Sobre, { cfeUuid: cfe.id });

  test('in quiet times the CFE goes at once and leaves nothing behind', async () => {
    expect(await submit()).toEqual({ kind: 'received' });
    expect(calls).toEqual(['send']);
    expect(await entry()).toBeNull();
  });

  test('while the authority is away the sobre is stored, nothing is sent, and the CFE waits', async () => {
    await goesAway();

    expect(await submit()).toEqual({ kind: 'waits' });

    expect(calls).toEqual([]);
    expect(await sobre()).toMatchObject({ state: 'PREPARED', sendingAt: null });
    expect(await entry()).toMatchObject({ slot: null, since: cfe.createdAt });
  });

  test('called when it is back, it is sent at its slot, and its entry is gone', async () => {
    await goesAway();
    await submit();
    await isBack();
    expect(await submit()).toEqual({ kind: 'waits' });
    await look();
    const slot = (await entry())?.slot;

    expect(await submit()).toEqual({ kind: 'received' });

    expect(now).toEqual(slot);
    expect(calls).toEqual(['send']);
    expect(await entry()).toBeNull();
  });

  test.each<[string, FindSobreAnswer, string[]]>([
    ['has it: it is not sent again', TICKET, ['send', 'find']],
    ['does not have it: the same bytes go', { kind: 'absent' }, ['send', 'find', 'send']],
  ])(
    'a send that failed as it went away is asked for before all else when it is called; the authority %s',
    async (_, find, all) => {
      said = { send: AWAY, find };
      duringSend = goesAway;
      expect(await submit()).toEqual({ kind: 'waits' });
      expect(await sobre()).toMatchObject({ state: 'SENDING', undecidedSince: null });
      await isBack();
      await look();
      duringSend = async () => {};
      said = { send: TICKET, find };

      expect(await submit()).toEqual({ kind: 'received' });

      expect(calls).toEqual(all);
      expect(await entry()).toBeNull();
    },
  );

  test('an outage of days with error pages makes nobody stuck', async () => {
    await goesAway();
    await submit();
    const em = db.orm.em.fork();
    await em.nativeUpdate(
      Sobre,
      { cfeUuid: cfe.id },
      { state: 'SENDING', undecidedSince: new Date('2026-11-01T00:00:00Z') },
    );
    passes(2_000);
    await look();
    said = { send: AWAY, find: NOT_THERE };

    await expect(submit()).rejects.toMatchObject({ type: 'AuthorityUnreachable' });

    expect((await sobre()).undecidedSince).toBeNull();
    expect(calls).toEqual(['find']);
  });

  test('a sobre that is called a duplicate and is in no list goes to support once patience is over', async () => {
    await goesAway();
    await submit();
    await isBack();
    await look();
    // The number of its sobre is another's, and its first try ended before anything was sent.
    const undecidedSince = new Date(now.getTime() - 61_000);
    await db.orm.em.fork().nativeUpdate(Sobre, { cfeUuid: cfe.id }, { state: 'SENDING', undecidedSince });
    said = { send: { kind: 'duplicate' }, find: { kind: 'absent' } };

    expect(await submit()).toMatchObject({ kind: 'stuck', reason: 'undecided' });

    expect(await entry()).toBeNull();
  });

  test('a probe that need not be sent, for the authority has it, leaves the next to the questions', async () => {
    await goesAway();
    await submit();
    await db.orm.em.fork().nativeUpdate(Sobre, { cfeUuid: cfe.id }, { state: 'SENDING' });
    passes(2_000);
    await look();
    const question = () =>
      createBreakers({ orm: db.worker, clock }).permit({ endpoint: 'production/reception', isProbe: false });
    expect(await question()).toBeNull();
    said = { send: AWAY, find: TICKET };

    expect(await submit()).toEqual({ kind: 'received' });

    expect(calls).toEqual(['find']);
    expect(await question()).not.toBeNull();
  });

  test('so does one whose entry was swept away after a crash', async () => {
    await goesAway();
    await submit();
    passes(2_000);
    await look();
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { stuckReason: 'signing' });
    passes(200_001);

    await look();

    expect(await entry()).toBeNull();
    const breakers = createBreakers({ orm: db.worker, clock });
    expect(await breakers.permit({ endpoint: 'production/reception', isProbe: false })).not.toBeNull();
  });

  describe('a send that fails by a mistake of ours', () => {
    const bug = async () => {
      throw new TypeError('that field is undefined');
    };
    const proberUuid = async () => {
      let id: string | null = null;
      await reception(({ breaker }) => {
        id = breaker.proberUuid;
      });
      return id;
    };

    test('is no prober any more: the next in order finds the authority back', async () => {
      const [next] = (await givePendingCfes(db.orm, {
        accountId: cfe.accountId,
        rut: await aReadyEnterprise(db.orm, cfe.accountId, { caes: [{ type: 'ETICKET' }] }),
        count: 1,
        from: now,
      })) as [Cfe];
      await db.orm.em.fork().nativeUpdate(Cfe, { id: next.id }, { signedXml: '<CFE/>', digest: 'eA==' });
      await goesAway();
      await submit();
      await submit(next.id);
      passes(2_000);
      await look();
      const [first, second] = (await proberUuid()) === cfe.id ? [cfe.id, next.id] : [next.id, cfe.id];
      duringSend = bug;

      await expect(submit(first)).rejects.toBeInstanceOf(TypeError);

      expect(await proberUuid()).toBeNull();
      await look();
      expect(await proberUuid()).toBe(second);
      duringSend = async () => {};
      expect(await submit(second)).toEqual({ kind: 'received' });
      // The one that failed is not lost: at its next attempt it gets in line, and goes as everybody does.
      expect(await submit(first)).toEqual({ kind: 'waits' });
      await isBack();
      await look();
      said.find = { kind: 'absent' };
      expect(await submit(first)).toEqual({ kind: 'received' });
    });

    test('leaves its slot to others while the authority answers', async () => {
      await goesAway();
      await submit();
      await isBack();
      await look();
      duringSend = bug;

      await expect(submit()).rejects.toBeInstanceOf(TypeError);

      expect(await entry()).toBeNull();
      duringSend = async () => {};
      expect(await submit()).toEqual({ kind: 'received' });
    });

    test('and comes late, when another attempt has begun to wait, leaves that one in the queue', async () => {
      await goesAway();
      await submit();
      await isBack();
      await look();
      duringSend = async () => {
        await db.orm.em.fork().nativeUpdate(QueueEntry, { cfeUuid: cfe.id }, { slot: null });
        throw new TypeError('that field is undefined');
      };

      await expect(submit()).rejects.toBeInstanceOf(TypeError);

      expect(await entry()).toMatchObject({ slot: null });
    });

    test('is told from an outage of the database, which leaves it its slot', async () => {
      const outage = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
      await goesAway();
      await submit();
      await isBack();
      await look();
      duringSend = () => Promise.reject(outage);

      await expect(submit()).rejects.toBe(outage);

      expect(await entry()).not.toBeNull();
    });
  });

  test('one that becomes stuck when it was called keeps no entry', async () => {
    await goesAway();
    await submit();
    await isBack();
    await look();
    said = { send: STUCK, find: { kind: 'absent' } };

    expect(await submit()).toMatchObject({ kind: 'stuck', reason: 'authority.certificate' });

    expect(await entry()).toBeNull();
  });
});
