import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Authority, VerdictOutcomes } from '../../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../../src/activities/authority/takeToVerdict.ts';
import { UnsealError } from '../../../src/crypto/sealed.ts';
import { type LockedEndpoint, lockEndpoint } from '../../../src/db/authority/authorityEndpoints.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { FindSobreAnswer, SendAnswer } from '../../../src/dgi/client.ts';
import { FAILURES_TO_OPEN } from '../../../src/domain/authority/breaker.ts';
import { DEADLINES } from '../../../src/domain/authority/deadlines.ts';
import { createBreakers } from '../../../src/gate/breakers.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { createGatekeeper } from '../../../src/gate/gatekeeper.ts';
import { createLogger } from '../../../src/logger.ts';
import { anAccount, idleGatekeeper, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { signedAsItIs } from '../../support/database/taking.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';

const TICKET = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
const NOT_THERE = { kind: 'repeat', description: 'HTTP 503', reached: true } as const;
const AWAY = { kind: 'fateUnknown', description: 'HTTP 503' } as const;
const STUCK = {
  kind: 'stuck',
  reason: 'authority.certificate',
  explanation: 'It does not take it.',
} as const;
const ACCEPTED: VerdictOutcomes = {
  kind: 'answered',
  outcomes: [{ kind: 'verdict', status: 'ACCEPTED', reasons: [] }],
};
const ENDED = { kind: 'ended', endings: { '101-1': 'ACCEPTED' }, codes: [] };

describe('a sobre is sent through the gate', () => {
  let db: TestDatabase;
  let accountId: string;
  let cfe: Cfe;
  let sobreId: string;
  let now: Date;
  let said: { send: SendAnswer; find: FindSobreAnswer };
  let calls: string[];
  let sent: string[];
  let departures: Parameters<Authority['sendSobre']>[1][];
  let duringSend: () => Promise<void>;
  let opensKey: boolean;
  beforeEach(async () => {
    db = await cloneDatabase({ worker: true });
    now = new Date('2026-11-20T12:00:00Z');
    said = { send: TICKET, find: { kind: 'absent' } };
    calls = [];
    sent = [];
    departures = [];
    duringSend = async () => {};
    opensKey = true;
    accountId = await anAccount(db.orm);
    cfe = await aCfe();
    sobreId = await aSobreOf(db.orm, [cfe], { slot: now, now });
  });
  afterEach(() => db[Symbol.asyncDispose]());

  /** Of an enterprise of its own, signed. */
  async function aCfe(): Promise<Cfe> {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    const [made] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: now })) as [Cfe];
    await db.orm.em.fork().nativeUpdate(Cfe, { id: made.id }, { signedXml: '<CFE/>', digest: 'eA==' });
    return made;
  }
  const clock = () => now;
  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const authority: Authority = {
    signSobre: signedAsItIs,
    async sendSobre({ envelope }, departure) {
      departures.push(departure);
      calls.push('send');
      sent.push(envelope);
      await duringSend();
      return said.send;
    },
    async findSobre() {
      calls.push('find');
      return said.find;
    },
    async askVerdicts() {
      calls.push('ask');
      return ACCEPTED;
    },
    findReceipt: () => Promise.reject(new Error('not asked here')),
    findState: () => Promise.reject(new Error('not asked here')),
  };
  const take = (id = sobreId) =>
    asActivity(() =>
      createTakeToVerdict({
        orm: db.worker,
        clock,
        outbox: idleOutbox,
        gatekeeper: idleGatekeeper,
        authority,
        gate: createGate({
          orm: db.worker,
          clock,
          sendsPerSecond: 10,
          questionsPerSecond: 10,
          pause: async (ms) => passes(ms),
        }),
        authorityRut: { production: '214844360018', sandbox: '219999830019' },
        signDocument: () => {
          if (opensKey) return { xml: '<CFE/>', digest: 'eA==' };
          throw new UnsealError('unknown_key', 'no key opens it');
        },
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
      sobreMost: 100,
    }).look();
  const sobre = (id = sobreId) => db.orm.em.fork().findOneOrFail(Sobre, { id });
  const store = (values: Partial<Sobre>) => db.orm.em.fork().nativeUpdate(Sobre, { id: sobreId }, values);
  const proberId = async () => {
    let id: string | null = null;
    await reception(({ breaker }) => {
      id = breaker.proberId;
    });
    return id as string | null;
  };
  /** It went away, the sobre waits, and is called when it is back. */
  const calledAgain = async (): Promise<void> => {
    await goesAway();
    expect(await take()).toEqual({ kind: 'waits' });
    await isBack();
    await look();
  };

  test('with a slot it goes at once, and its verdict is asked for in the same attempt', async () => {
    expect(await take()).toEqual(ENDED);
    expect(calls).toEqual(['send', 'ask']);
    expect(await sobre()).toMatchObject({ state: 'RECEIVED', idReceptor: '7', token: 'dG9rZW4=' });
  });

  test('while the authority is away the sobre is stored, nothing is sent, and it waits', async () => {
    await goesAway();

    expect(await take()).toEqual({ kind: 'waits' });

    expect(calls).toEqual([]);
    expect(await sobre()).toMatchObject({ state: 'PREPARED', sendingAt: null, slot: null });
  });

  test('called when it is back, it is sent at its slot', async () => {
    await goesAway();
    await take();
    await isBack();
    expect(await take()).toEqual({ kind: 'waits' });
    await look();
    const { slot } = await sobre();

    expect(await take()).toEqual(ENDED);

    expect((await sobre()).sendingAt).toEqual(slot);
    expect(calls).toEqual(['send', 'ask']);
  });

  test('late, where no other slot is near, it goes to wait, and nothing is sent', async () => {
    passes(10_000);
    await reception((endpoint) => endpoint.takeSlotsBefore(new Date(now.getTime() + 60_000)));

    expect(await take()).toEqual({ kind: 'waits' });

    expect(calls).toEqual([]);
    expect(await sobre()).toMatchObject({ slot: null, state: 'SENDING' });
  });

  test('what is sent says until when it may leave, and whether it is the probe', async () => {
    const other = await aSobreOf(db.orm, [await aCfe()], { slot: now, now });
    const leaveBy = new Date(now.getTime() + DEADLINES.sendLeaves);
    await take();
    expect(departures).toEqual([{ leaveBy, isProbe: false }]);
    await goesAway();
    await take(other);
    passes(2_000);
    await look();

    expect(await take(other)).toEqual(ENDED);

    expect(departures[1]).toMatchObject({ isProbe: true });
  });

  test.each<[string, FindSobreAnswer, string[]]>([
    ['has it: it is not sent again', TICKET, ['send', 'find', 'ask']],
    ['does not have it: the same bytes go', { kind: 'absent' }, ['send', 'find', 'send', 'ask']],
  ])(
    'a send that failed as it went away is asked for before all else when it is called; the authority %s',
    async (_, find, all) => {
      said = { send: AWAY, find };
      duringSend = goesAway;
      expect(await take()).toEqual({ kind: 'waits' });
      expect(await sobre()).toMatchObject({ state: 'SENDING', undecidedSince: null });
      await isBack();
      await look();
      duringSend = async () => {};
      said = { send: TICKET, find };

      expect(await take()).toEqual(ENDED);

      expect(calls).toEqual(all);
      expect(new Set(sent).size).toBe(1);
    },
  );

  test('an outage of days with error pages makes no CFE stuck', async () => {
    await goesAway();
    await take();
    await store({ state: 'SENDING', undecidedSince: new Date('2026-11-01T00:00:00Z') });
    passes(2_000);
    await look();
    said = { send: AWAY, find: NOT_THERE };

    await expect(take()).rejects.toMatchObject({ type: 'AuthorityUnreachable' });

    expect((await sobre()).undecidedSince).toBeNull();
    expect(calls).toEqual(['find']);
  });

  test('a sobre that is called a duplicate and is in no list goes to support once patience is over', async () => {
    await calledAgain();
    // The number of its sobre is another's, and its first try ended before anything was sent.
    await store({ state: 'SENDING', undecidedSince: new Date(now.getTime() - 61_000) });
    said = { send: { kind: 'duplicate' }, find: { kind: 'absent' } };

    expect(await take()).toMatchObject({
      kind: 'stuck',
      stuck: [{ reason: 'undecided', cfeIds: ['101-1'] }],
    });
  });

  test('a probe that need not be sent, for the authority has it, leaves the next to the questions', async () => {
    await goesAway();
    await take();
    await store({ state: 'SENDING' });
    passes(2_000);
    await look();
    const question = () =>
      createBreakers({ orm: db.worker, clock }).permit({ endpoint: 'production/reception', isProbe: false });
    expect(await question()).toBeNull();
    said = { send: AWAY, find: TICKET };

    expect(await take()).toEqual(ENDED);

    expect(calls).toEqual(['find', 'ask']);
    expect(await question()).not.toBeNull();
  });

  test('a prober whose CFEs have come to their end otherwise is one no more', async () => {
    await goesAway();
    await take();
    passes(2_000);
    await look();
    expect(await proberId()).toBe(sobreId);
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { status: 'REJECTED', settledAt: now });

    expect(await take()).toMatchObject({ kind: 'ended' });

    expect(await proberId()).toBeNull();
    expect((await sobre()).state).toBe('DISSOLVED');
    await look();
    expect(await proberId()).toBeNull();
  });

  describe('a prober that is left to a person', () => {
    /** Two sobres, of which the first is the prober. */
    async function aProber(prepare: (first: string) => Promise<unknown> = take): Promise<[string, string]> {
      const other = await aSobreOf(db.orm, [await aCfe()], { slot: now, now });
      await goesAway();
      for (const id of [sobreId, other]) await prepare(id);
      passes(2_000);
      await look();
      return (await proberId()) === sobreId ? [sobreId, other] : [other, sobreId];
    }
    const stuckReasons = async (id: string) =>
      (await db.orm.em.fork().find(Cfe, { sobreId: id })).map(({ stuckReason }) => stuckReason);
    /** The part goes to the other, which finds the authority back; the first keeps nobody back, for it is not called. */
    async function expectHandedOver(first: string, second: string): Promise<void> {
      expect(await proberId()).toBeNull();
      await look();
      expect(await proberId()).toBe(second);
      said = { send: TICKET, find: { kind: 'absent' } };
      opensKey = true;
      expect(await take(second)).toEqual(ENDED);
      passes(11_000);
      await look();
      expect(await proberId()).toBeNull();
      expect(await take(first)).toMatchObject({ kind: 'stuck' });
    }

    test('for what the authority answered gives the part up: the next in order probes', async () => {
      const [first, second] = await aProber();
      said.send = STUCK;

      expect(await take(first)).toMatchObject({ kind: 'stuck', step: 'send' });

      expect(await stuckReasons(first)).toEqual(['authority.certificate']);
      await expectHandedOver(first, second);
    });

    test('for a key that is lost does so as well, before anything is sent', async () => {
      const [first, second] = await aProber(async (id) => {
        await db.orm.em.fork().execute(
          `update cfe set signed_xml = null, digest = null,
               document = document || '{"cae": {"expirationDate": "2027-12-31"}}' where sobre_id = ?`,
          [id],
        );
        await db.orm.em.fork().nativeUpdate(Sobre, { id }, { slot: null });
      });
      opensKey = false;

      expect(await take(first)).toMatchObject({ kind: 'stuck', step: 'sign' });

      expect(calls).toEqual([]);
      expect(await stuckReasons(first)).toEqual(['signing']);
      await expectHandedOver(first, second);
    });

    test('one that waits for a person already, and is called for the part, gives it up', async () => {
      const [first, second] = await aProber();
      await db.orm.em.fork().nativeUpdate(Cfe, { sobreId: first }, { stuckReason: 'undecided' });

      expect(await take(first)).toMatchObject({ kind: 'stuck', stuck: [{ reason: 'undecided' }] });

      await expectHandedOver(first, second);
    });
  });

  describe('a send that fails by a mistake of ours', () => {
    const bug = async () => {
      throw new TypeError('that field is undefined');
    };

    test('is no prober any more: the next in order finds the authority back', async () => {
      const other = await aSobreOf(db.orm, [await aCfe()], { slot: now, now });
      await goesAway();
      await take();
      await take(other);
      passes(2_000);
      await look();
      const [first, second] = (await proberId()) === sobreId ? [sobreId, other] : [other, sobreId];
      duringSend = bug;

      await expect(take(first)).rejects.toBeInstanceOf(TypeError);

      expect(await proberId()).toBeNull();
      await look();
      expect(await proberId()).toBe(second);
      duringSend = async () => {};
      expect(await take(second)).toEqual(ENDED);
      // The one that failed is not lost: at its next attempt it waits, and goes as everything does.
      expect(await take(first)).toEqual({ kind: 'waits' });
      await isBack();
      await look();
      said.find = { kind: 'absent' };
      expect(await take(first)).toEqual(ENDED);
    });

    test('leaves its slot to others while the authority answers', async () => {
      duringSend = bug;

      await expect(take()).rejects.toBeInstanceOf(TypeError);

      expect((await sobre()).slot).toBeNull();
      duringSend = async () => {};
      expect(await take()).toEqual({ kind: 'waits' });
      await look();
      expect(await take()).toEqual(ENDED);
    });

    test('is told from an outage of the database, which leaves it its slot', async () => {
      const outage = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
      const { slot } = await sobre();
      duringSend = () => Promise.reject(outage);

      await expect(take()).rejects.toBe(outage);

      expect((await sobre()).slot).toEqual(slot);
    });
  });

  test('one that becomes stuck when it was called is in nobody’s way: it is not called again', async () => {
    await calledAgain();
    said = { send: STUCK, find: { kind: 'absent' } };

    expect(await take()).toMatchObject({ kind: 'stuck', stuck: [{ reason: 'authority.certificate' }] });

    const { slot } = await sobre();
    expect(slot).not.toBeNull();
    passes(11_000);
    await look();
    expect((await sobre()).slot).toEqual(slot);
  });
});
