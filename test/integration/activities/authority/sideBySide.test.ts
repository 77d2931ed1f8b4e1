import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Authority } from '../../../../src/activities/authority/authority.ts';
import { storeMoves } from '../../../../src/activities/authority/storeMoves.ts';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { addWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { endSobre, lockSobre, markSending } from '../../../../src/db/authority/sobres.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { lockCfe } from '../../../../src/db/receipts/cfes.ts';
import type { SendAnswer } from '../../../../src/dgi/client.ts';
import { formatCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import { anAccount, eventsOf, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { CLOSED, saying, sobreRow, take, takeDeps } from '../../../support/database/taking.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { aSobreOf, givePendingCfes } from '../../../support/receipts/pendingCfes.ts';
import { referTo } from '../../../support/receipts/references.ts';
import { decideCfe } from '../../../support/temporal/verdicts.ts';
import { until } from '../../../support/until.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const AT_ONCE = 4;
const AWAY = { kind: 'repeat', description: 'no answer', reached: false } as const;
const RECEIVED = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;

describe('steps of a sobre that run side by side', () => {
  let db: TestDatabase;
  let accountId: string;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
    const url = 'https://hooks.example.com/';
    await addWebhook(webhookDeps(db.orm), { accountId, url, events: ['cfe.updated'] });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const clock = () => new Date();
  const pending = async (count: number): Promise<Cfe[]> => {
    rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    return givePendingCfes(db.orm, { accountId, rut, count, from: new Date() });
  };
  const rows = (cfes: readonly Cfe[]) =>
    db.orm.em
      .fork()
      .find(
        Cfe,
        { id: { $in: cfes.map(({ id }) => id) } },
        { orderBy: { sequence: 'asc' }, populate: ['signedXml'] },
      );
  /** Signs each CFE otherwise at each attempt. */
  const writing = (attempt: number) => {
    let signed = 0;
    return takeDeps(db.worker, {
      gate: CLOSED,
      signDocument: () => {
        signed += 1;
        return { xml: `<CFE by="${attempt}" n="${signed}"/>`, digest: `${attempt} ${signed}` };
      },
    });
  };
  const movesOf = async (cfe: Cfe) =>
    (await eventsOf(db.orm, rut))
      .filter(({ event, data }) => event === 'cfe.updated' && data['cfe_id'] === formatCfeId(cfe))
      .map(({ data }) => data['status']);

  test('written by several, a sobre has one number, and bytes around the signatures that stand', async () => {
    const cfes = await pending(3);
    const sobreId = await aSobreOf(db.orm, cfes);

    const written = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, attempt) => take(writing(attempt), sobreId)),
    );

    expect(written).toEqual(Array.from({ length: AT_ONCE }, () => ({ kind: 'waits' })));
    const sobre = await sobreRow(db.orm, sobreId);
    const number = Number(sobre.idemisor);
    // One number was used before these CFEs (test/support/receipts/pendingCfes.ts).
    expect(number % 10_000).toBe(2);
    expect(sobre).toMatchObject({ state: 'PREPARED', sendingAt: null });
    const signed = (await rows(cfes)).map(({ signedXml }) => signedXml);
    expect(sobre.xml).toContain(`<Idemisor>${number}</Idemisor>`);
    expect(sobre.xml?.match(/<CFE by[^>]*>/g)).toEqual(signed);
    // No number was left out either.
    const next = await aSobreOf(
      db.orm,
      await givePendingCfes(db.orm, { accountId, rut, count: 1, from: clock() }),
    );
    await take(writing(9), next);
    expect(Number((await sobreRow(db.orm, next)).idemisor)).toBe(number + 2);
  });

  test('begun by several, a send is begun once, and the verdicts are stored once', async () => {
    const cfes = await pending(3);
    const sobreId = await aSobreOf(db.orm, cfes);
    await take(writing(0), sobreId);
    const sent: string[] = [];
    const authority: Partial<Authority> = {
      sendSobre: async ({ envelope }) => {
        sent.push(envelope);
        return RECEIVED;
      },
      // Whoever comes later finds the send begun, and asks.
      findSobre: async () => RECEIVED,
      askVerdicts: saying(new Map(), { kind: 'verdict', status: 'ACCEPTED', reasons: [] }),
    };
    const deps = takeDeps(db.worker);
    const attempt = () =>
      take({ ...deps, authority: { ...deps.authority, ...authority } }, sobreId).then(
        ({ kind }) => kind,
        ({ type }: { type?: string }) => type,
      );

    const came = await Promise.all(Array.from({ length: AT_ONCE }, attempt));

    expect(sent).toEqual([(await sobreRow(db.orm, sobreId)).xml]);
    expect(came).toContain('ended');
    expect(new Set([...came, 'ended', 'NotYet']).size).toBe(2);
    for (const cfe of cfes) expect(await movesOf(cfe)).toEqual(['RECEIVED', 'ACCEPTED']);
  });

  describe('an attempt that was thought lost finds, late, that a person is needed', () => {
    const STUCK = { kind: 'stuck', reason: 'authority.certificate', explanation: 'Not taken.' } as const;
    const accepted = saying(new Map(), { kind: 'verdict', status: 'ACCEPTED', reasons: [] });
    const taking = (
      sobreId: string,
      authority: Partial<Authority>,
      more: Parameters<typeof takeDeps>[1] = {},
    ) => {
      const deps = takeDeps(db.worker, more);
      return take({ ...deps, authority: { ...deps.authority, ...authority } }, sobreId);
    };
    /** So many CFEs in a sobre of which an attempt waits for its answer, and what gives it that. */
    async function lostAttempt(of: 'sendSobre' | 'askVerdicts', count = 2) {
      const cfes = await pending(count);
      const sobreId = await aSobreOf(db.orm, cfes);
      const [called, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const hangs = async () => {
        called.resolve();
        await answered.promise;
        return STUCK;
      };
      const lost = taking(sobreId, { sendSobre: async () => RECEIVED, [of]: hangs });
      await Promise.race([called.promise, lost]);
      return {
        cfes,
        sobreId,
        answers: async () => {
          answered.resolve();
          await expect(lost).rejects.toMatchObject({ type: 'NotYet' });
        },
      };
    }
    const unstuck = (cfes: readonly Cfe[], status: string) =>
      cfes.map(() => expect.objectContaining({ status, stuckReason: null }));

    test('though its sobre was received meanwhile: its CFEs go on', async () => {
      const { cfes, sobreId, answers } = await lostAttempt('sendSobre');
      const other = { findSobre: async () => RECEIVED, askVerdicts: async () => AWAY };
      await expect(taking(sobreId, other)).rejects.toMatchObject({ type: 'AuthorityUnreachable' });

      await answers();

      expect(await rows(cfes)).toEqual(unstuck(cfes, 'RECEIVED'));
      expect(await taking(sobreId, { askVerdicts: accepted })).toMatchObject({ kind: 'ended' });
    });

    test('though its CFEs go in others by now: those are sent', async () => {
      const { cfes, sobreId, answers } = await lostAttempt('sendSobre');
      const refusal: SendAnswer = {
        kind: 'refused',
        reasons: [{ code: 'S03', message: 'S03', detail: null }],
      };
      const other = { findSobre: async () => ({ kind: 'refused' }) as const, sendSobre: async () => refusal };
      expect(await taking(sobreId, other)).toMatchObject({ kind: 'ended' });

      await answers();

      expect(await rows(cfes)).toEqual(unstuck(cfes, 'PENDING'));
      for (const { sobreId: own } of await rows(cfes)) {
        const sent = { sendSobre: async () => RECEIVED, askVerdicts: accepted };
        expect(await taking(own ?? '', sent)).toMatchObject({ kind: 'ended' });
      }
      expect(await rows(cfes)).toEqual(unstuck(cfes, 'ACCEPTED'));
    });

    test('and so does the one that follows it, though the first has brought the sobre there meanwhile: no run waits for a person', async () => {
      const cfes = await pending(2);
      const sobreId = await aSobreOf(db.orm, cfes);
      const [sent, found] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const [sending, finding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const lost = taking(sobreId, {
        sendSobre: async () => {
          sending.resolve();
          await sent.promise;
          return RECEIVED;
        },
        askVerdicts: async () => AWAY,
      });
      await Promise.race([sending.promise, lost]);
      const next = taking(sobreId, {
        findSobre: async () => {
          finding.resolve();
          await found.promise;
          return STUCK;
        },
      });
      await Promise.race([finding.promise, next]);
      sent.resolve();
      await expect(lost).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
      found.resolve();

      // The rows say that nobody has to act: the run is not to say otherwise.
      await expect(next).rejects.toMatchObject({ type: 'NotYet' });

      expect(await rows(cfes)).toEqual(unstuck(cfes, 'RECEIVED'));
      expect(await taking(sobreId, { askVerdicts: accepted })).toMatchObject({ kind: 'ended' });
    });

    test('though another attempt has their verdicts: those stand', async () => {
      const { cfes, sobreId, answers } = await lostAttempt('askVerdicts');
      expect(await taking(sobreId, { askVerdicts: accepted })).toMatchObject({ kind: 'ended' });

      await answers();

      expect(await rows(cfes)).toEqual(unstuck(cfes, 'ACCEPTED'));
    });
  });

  test('of marks that a send begins, one counts', async () => {
    const cfes = await pending(1);
    const sobreId = await aSobreOf(db.orm, cfes);
    await take(writing(0), sobreId);
    const sobre = await sobreRow(db.orm, sobreId);

    const begun = await Promise.all(
      Array.from({ length: AT_ONCE }, () => markSending(db.orm.em.fork(), sobre, clock())),
    );

    expect(begun.filter((each) => each)).toHaveLength(1);
  });

  test('a send does not begin that waits while support dissolves the sobre', async () => {
    const cfes = await pending(2);
    const sobreId = await aSobreOf(db.orm, cfes);
    await take(writing(0), sobreId);
    const sobre = await sobreRow(db.orm, sobreId);

    const begun = await whileLocked(
      (em) => lockSobre(em, sobreId),
      async (em) => {
        expect(await endSobre(em, sobre, { state: 'DISSOLVED', now: clock() })).toBe(true);
        return () => markSending(db.orm.em.fork(), sobre, clock());
      },
    );

    expect(begun).toBe(false);
    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'DISSOLVED', sendingAt: null });
    expect(await rows(cfes)).toMatchObject(cfes.map(() => ({ status: 'PENDING', sobreId: null })));
  });

  test('a sobre is not written that waits while support dissolves it, and no number is taken', async () => {
    const cfes = await pending(2);
    const sobreId = await aSobreOf(db.orm, cfes);

    const came = await whileLocked(
      (em) => lockSobre(em, sobreId),
      async (em) => {
        await endSobre(em, { id: sobreId, state: 'OPEN' }, { state: 'DISSOLVED', now: clock() });
        return () => take(writing(0), sobreId);
      },
    );

    expect(came).toMatchObject({ kind: 'ended', endings: { '101-1': 'LEFT', '101-2': 'LEFT' } });
    const next = await aSobreOf(db.orm, await rows(cfes));
    await take(writing(1), next);
    expect(Number((await sobreRow(db.orm, next)).idemisor) % 10_000).toBe(2);
  });

  test('moves of a CFE that has left the sobre, or stands otherwise by now, do nothing', async () => {
    const [left, decided, here] = (await pending(3)) as [Cfe, Cfe, Cfe];
    const sobreId = await aSobreOf(db.orm, [left, decided, here]);
    await db.orm.em.fork().nativeUpdate(Cfe, { id: left.id }, { sobreId: null });
    const other = await aSobreOf(db.orm, [left]);
    await decideCfe({ orm: db.worker }, decided.id, { status: 'REJECTED' });

    const deps = takeDeps(db.worker);
    const moves = [left, decided, here].map((cfe) => ({ cfe, to: 'ACCEPTED' as const, reasons: [] }));
    const moved = await storeMoves(deps, moves, { sobreId });

    expect(moved.map(({ id }) => id)).toEqual([here.id]);
    expect(await rows([left, decided, here])).toMatchObject([
      { status: 'PENDING', settledAt: null, sobreId: other },
      { status: 'REJECTED' },
      { status: 'ACCEPTED' },
    ]);
    expect(await movesOf(left)).toEqual([]);
    expect(await movesOf(decided)).toEqual(['REJECTED']);
  });

  test('a CFE goes into one sobre, whoever wants it at the same time', async () => {
    const [one, two] = (await pending(2)) as [Cfe, Cfe];
    const outcomes = await Promise.allSettled([
      aSobreOf(db.orm, [one]),
      aSobreOf(db.orm, [one, two]),
      aSobreOf(db.orm, [two, one]),
    ]);

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const places = await db.orm.em
      .fork()
      .execute('select sobre_id from sobre_cfe where cfe_uuid = ?', [one.id]);
    expect(places).toHaveLength(1);
  });

  test('a sobre of which a CFE goes in another by now is not sent', async () => {
    const cfes = (await pending(2)) as [Cfe, Cfe];
    const id = await aSobreOf(db.orm, cfes);
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfes[1].id }, { sobreId: null });
    await aSobreOf(db.orm, [cfes[1]]);

    expect(await markSending(db.worker.em.fork(), { id, state: 'OPEN' }, new Date())).toBe(false);
  });

  test('a verdict that several have in hand is stored once', async () => {
    const cfes = await pending(3);
    const sobreId = await aSobreOf(db.orm, cfes);
    const deps = takeDeps(db.worker);
    const store = (to: 'ACCEPTED' | 'REJECTED', of: readonly Cfe[]) =>
      storeMoves(
        deps,
        of.map((cfe) => ({ cfe, to, reasons: [] })),
        { sobreId },
      );

    const moved = await Promise.all([
      store('ACCEPTED', cfes),
      store('REJECTED', cfes.toReversed()),
      store('ACCEPTED', cfes.toReversed()),
      store('REJECTED', cfes),
    ]);

    expect(
      moved
        .flat()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(cfes.map(({ id }) => id).toSorted());
    for (const cfe of cfes) expect(await movesOf(cfe)).toHaveLength(1);
  });

  describe('a note', () => {
    /** A CFE that has no verdict, and how a note on it is issued. */
    async function anOriginal() {
      rut = await aReadyEnterprise(db.orm, accountId);
      const issue = (wishes: CfeWishes) =>
        issueCfe(webhookDeps(db.orm), {
          accountId,
          rut,
          environment: 'production',
          body: fromJson(JSON.stringify(aCfeBody(wishes))),
        });
      const { id } = await issue({});
      const original = await db.orm.em.fork().findOneOrFail(Cfe, { id });
      const reference = formatCfeId(original);
      return { original, note: () => issue({ type: 'ETICKET_NC', net: 10, reference }) };
    }
    const accept = ({ id }: Cfe) => decideCfe({ orm: db.worker }, id, { status: 'ACCEPTED' });

    test('that is being issued while the verdict is stored is released', async () => {
      const [original, note] = (await pending(2)) as [Cfe, Cfe];

      const decided = await whileLocked(
        (em) => lockCfe(em, original),
        async (em) => {
          // Whoever issues a note holds its original, and is seen by nobody until then.
          await referTo(em, note.id, [original.id], { held: true });
          return () => accept(original);
        },
      );

      expect(decided).toBe(true);
      expect(await rows([note])).toMatchObject([{ held: false, sobreId: null }]);
    });

    test('that comes to its original while the verdict is stored is never held', async () => {
      const { original, note } = await anOriginal();

      const issued = await whileLocked(
        (em) => lockCfe(em, original),
        async (em) => {
          await em.nativeUpdate(Cfe, { id: original.id }, { status: 'ACCEPTED', settledAt: clock() });
          return note;
        },
      );

      expect(issued.held).toBe(false);
    });

    test('of many that are issued while the original is decided, none stays held, and one decision releases each', async () => {
      const { original, note } = await anOriginal();
      let released = 0;
      const deps = takeDeps(db.worker, {
        outbox: idleOutbox,
        gatekeeper: { scheduleLook: () => void (released += 1) },
      });
      const decide = () =>
        storeMoves(deps, [{ cfe: original, to: 'ACCEPTED', reasons: [] }], { sobreId: null });
      // One waits already when the verdict comes.
      expect((await note()).held).toBe(true);

      const [decided, ...notes] = await Promise.all([
        Promise.all([decide(), decide(), decide()]),
        ...Array.from({ length: 2 }, note),
      ]);

      expect(decided.flat()).toHaveLength(1);
      expect(released).toBe(1);
      const own = db.orm.em.fork();
      const type = 'ETICKET_NC';
      expect(await own.count(Cfe, { rut: original.rut, type })).toBe(1 + notes.length);
      expect(await own.count(Cfe, { rut: original.rut, type, held: true })).toBe(0);
    });

    test('is held by no verdict that is stored, whatever dies in between', async () => {
      const [original, note] = (await pending(2)) as [Cfe, Cfe];
      await referTo(db.orm.em.fork(), note.id, [original.id], { held: true });
      await db.asOwner(`
        create function fail_to_release() returns trigger language plpgsql as
          $$ begin raise exception 'disk full'; end $$;
        create trigger fail_to_release before update of held on cfe for each row execute function fail_to_release()`);
      try {
        await expect(accept(original)).rejects.toThrow('disk full');
      } finally {
        await db.asOwner('drop trigger fail_to_release on cfe; drop function fail_to_release()');
      }
      expect(await rows([original, note])).toMatchObject([{ status: 'PENDING' }, { held: true }]);

      // Another attempt, with the same answer of the authority in its hands.
      await accept(original);

      expect(await rows([original, note])).toMatchObject([{ status: 'ACCEPTED' }, { held: false }]);
    });
  });

  /** Takes a lock, begins a step that comes to wait for it, commits, and answers what the step came to. */
  async function whileLocked<T>(
    lock: (em: EntityManager) => Promise<unknown>,
    work: (em: EntityManager) => Promise<() => Promise<T>>,
  ): Promise<T> {
    let step: Promise<T> | undefined;
    await db.orm.em.fork().transactional(async (em) => {
      await lock(em);
      step = (await work(em))();
      await until('its wait for the lock', 20, async () => {
        const [row] = await db.orm.em
          .fork()
          .execute<{ waiting: number }[]>(
            'select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = ?',
            ['Lock'],
          );
        return row?.waiting === 1;
      });
    });
    if (!step) throw new Error('no step was begun');
    return step;
  }
});
