import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAskRejected } from '../../../../src/activities/authority/askRejected.ts';
import type { Authority, FindStateAnswer } from '../../../../src/activities/authority/authority.ts';
import { createSupportCfe } from '../../../../src/activities/operations/supportCfe.ts';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { addWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { Sobre } from '../../../../src/db/entities/authority.ts';
import { Annulment } from '../../../../src/db/entities/numbers.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { reconcileNumbers } from '../../../../src/db/numbers/numbers.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { requireCfe } from '../../../../src/db/receipts/cfes.ts';
import type { SupportAction } from '../../../../src/domain/operations/supportAction.ts';
import { formatCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import { anAccount, eventsOf, idleGatekeeper, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { putSobre } from '../../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../../support/temporal/activityContext.ts';
import { decideCfe } from '../../../support/temporal/verdicts.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const DAY = 86_400_000;
const SIGNED = new Date('2026-11-10T12:00:00Z');
const REJECTED = new Date('2026-11-10T12:05:00Z');
const later = (days: number) => new Date(REJECTED.getTime() + days * DAY);
/** What the authority answers about a CFE, at once or later. */
interface Says {
  get(id: string): FindStateAnswer | undefined | Promise<FindStateAnswer | undefined>;
}
const AWAY: FindStateAnswer = { kind: 'repeat', description: 'no answer', reached: false };

describe('CFEs that were rejected for E06 alone', () => {
  let db: TestDatabase;
  let accountId: string;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
    const url = 'https://hooks.example.com/';
    await addWebhook(webhookDeps(db.orm), { accountId, url, events: ['cfe.updated'] });
  });
  beforeEach(async () => {
    rut = await aReadyEnterprise(db.orm, accountId);
    asked.length = 0;
    // What other tests left undecided is none of this one's.
    await db.orm.em
      .fork()
      .execute(
        `update cfe set rejection = '[{"code":"E09"}]' where status = 'REJECTED' and rejection @> '[{"code":"E06"}]'`,
      );
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const sobreOf = new Map<string, string>();
  const decide = (cfe: Cfe, codes: readonly string[], status: 'REJECTED' | 'ACCEPTED' = 'REJECTED') =>
    decideCfe({ orm: db.worker, clock: () => REJECTED }, cfe.id, {
      status,
      reasons: codes.map((code) => ({ code, message: code, detail: null })),
    });
  async function aCfe(codes: readonly string[] | null = ['E06'], wishes: CfeWishes = {}): Promise<Cfe> {
    const body = aCfeBody({ emissionDate: '2026-11-10', ...wishes });
    const { id } = await issueCfe(
      { ...webhookDeps(db.orm), clock: () => SIGNED },
      { accountId, rut, environment: 'production', body: fromJson(JSON.stringify(body)) },
    );
    const em = db.orm.em.fork();
    await em.nativeUpdate(Cfe, { id }, { signedXml: '<CFE/>', digest: 'ZGlnZXN0' });
    const sobreId = await putSobre(db.orm, id, { state: 'RECEIVED', sendingAt: SIGNED });
    const sobre = await em.findOneOrFail(Sobre, { id: sobreId });
    sobreOf.set(id, String(sobre.idemisor));
    const cfe = await em.findOneOrFail(Cfe, { id });
    if (codes) await decide(cfe, codes);
    return cfe;
  }
  const asked: string[] = [];
  /** Says of each CFE what `says` has; of the others, that they are rejected still. */
  const authority = (says: Says = new Map()): Authority => {
    const silent = () => Promise.reject(new Error('it was asked for something else'));
    return {
      signSobre: silent,
      sendSobre: silent,
      findSobre: silent,
      findReceipt: silent,
      askVerdicts: silent,
      async findState({ id }) {
        asked.push(id);
        return (await says.get(id)) ?? { kind: 'found', state: 'BE', idemisor: sobreOf.get(id) ?? '' };
      },
    };
  };
  const accepts = (cfe: Cfe, by = sobreOf.get(cfe.id) ?? ''): ReadonlyMap<string, FindStateAnswer> =>
    new Map([[cfe.id, { kind: 'found', state: 'AE', idemisor: by }]]);
  const deps = (now: Date, says?: Says) => ({
    orm: db.worker,
    clock: () => now,
    outbox: idleOutbox,
    gatekeeper: idleGatekeeper,
    authority: authority(says),
    questionsPerSecond: 1_000,
  });
  const ask = (now: Date, says?: Says) => asActivity(createAskRejected({ ...deps(now, says), page: 2 }));
  const support = (cfe: Cfe, action: SupportAction, now: Date, says?: Says) =>
    asActivity(() =>
      createSupportCfe(deps(now, says))({
        cfeUuid: cfe.id,
        requestId: randomUUID(),
        action,
      }),
    );
  const row = (cfe: Cfe) => requireCfe(db.orm.em.fork(), cfe.id);
  const annulmentsOf = (cfe: Cfe) => db.orm.em.fork().find(Annulment, { cfeUuid: cfe.id });
  const movesOf = async (cfe: Cfe) =>
    (await eventsOf(db.orm, rut))
      .filter(({ event, data }) => event === 'cfe.updated' && data['cfe_id'] === formatCfeId(cfe))
      .map(({ data }) => [data['changes'], data['reason'], data['rejection']]);
  const NONE = { kind: 'asked', accepted: 0, annulled: 0, undecided: 0, unanswered: 0 };

  test('a repeat goes on behind the last one that was asked about, with what was counted', async () => {
    const cfes = (await Promise.all([aCfe(), aCfe(), aCfe()])).sort((a, b) => (a.id < b.id ? -1 : 1));
    let kept: unknown;
    const attempt = (says: Says) =>
      asActivity(createAskRejected({ ...deps(later(1), says), page: 1 }), {
        attempt: 2,
        heartbeatDetails: kept,
        heartbeat: (details) => {
          kept = structuredClone(details);
        },
      });
    const [first, second, third] = cfes.map(({ id }) => id) as [string, string, string];
    asked.length = 0;

    const gone: Says = {
      get: (id) => (id === second ? Promise.reject(new Error('the worker is gone')) : undefined),
    };
    await expect(attempt(gone)).rejects.toThrow('the worker is gone');
    expect(asked).toEqual([first, second]);

    asked.length = 0;
    expect(await attempt(new Map())).toEqual({ ...NONE, undecided: 3 });
    expect(asked).toEqual([second, third]);
  });

  test('are asked about, all of them and no others', async () => {
    const cfes = [await aCfe(), await aCfe(), await aCfe(['E06']), await aCfe()];
    for (const codes of [['E05'], ['E06', 'E05'], ['E09'], ['E02']]) await aCfe(codes);
    await aCfe(null);

    expect(await ask(later(1))).toEqual({ ...NONE, undecided: 4 });

    expect(asked.toSorted()).toEqual(cfes.map(({ id }) => id).toSorted());
    expect(await row(cfes[0] as Cfe)).toMatchObject({ status: 'REJECTED', settledAt: REJECTED });
  });

  test('become ACCEPTED once the authority has accepted them, which webhooks hear with the reason, once', async () => {
    const cfe = await aCfe();

    expect(await ask(later(3), accepts(cfe))).toEqual({ ...NONE, accepted: 1 });
    expect(await ask(later(4), accepts(cfe))).toEqual(NONE);

    expect(await row(cfe)).toMatchObject({ status: 'ACCEPTED', rejection: null, settledAt: later(3) });
    expect(await annulmentsOf(cfe)).toEqual([]);
    expect(await movesOf(cfe)).toEqual([
      [
        { cfe_status: { from: 'RECEIVED', to: 'REJECTED' } },
        undefined,
        [{ code: 'E06', message: expect.any(String), detail: null }],
      ],
      [{ cfe_status: { from: 'REJECTED', to: 'ACCEPTED' } }, 'rejection.withdrawn', null],
    ]);
    expect(await reconcileNumbers(db.orm.em.fork(), { rut })).toContainEqual(
      expect.objectContaining({ type: 'ETICKET', given: 1, issued: 1, annulled: 0, waiting: 0 }),
    );
  });

  test('two at once accept one once', async () => {
    const cfe = await aCfe();
    // Each has its answer before either stores what follows from it.
    const { promise: bothAsked, resolve } = Promise.withResolvers<void>();
    const says = {
      get(id: string) {
        if (asked.length === 2) resolve();
        return bothAsked.then(() => accepts(cfe).get(id));
      },
    };

    const both = await Promise.all([ask(later(3), says), support(cfe, 'settle', later(3), says)]);

    expect(
      both.map((one) => ('accepted' in one ? one.accepted === 1 : one.kind === 'settled')).filter(Boolean),
    ).toHaveLength(1);
    expect(await movesOf(cfe)).toHaveLength(2);
  });

  test('are annulled when 60 days have passed and the authority still rejects them, for the day of their signature', async () => {
    const cfe = await aCfe();

    expect(await ask(later(60))).toEqual({ ...NONE, undecided: 1 });
    expect(await ask(later(60.1))).toEqual({ ...NONE, annulled: 1 });
    expect(await ask(later(61), accepts(cfe))).toEqual(NONE);

    expect(await row(cfe)).toMatchObject({ status: 'REJECTED' });
    expect(await annulmentsOf(cfe)).toMatchObject([
      { reason: 'rejected', reportDate: '2026-11-10', annulledAt: later(60.1), fromNumber: cfe.numero },
    ]);
    expect(await reconcileNumbers(db.orm.em.fork(), { rut })).toContainEqual(
      expect.objectContaining({ type: 'ETICKET', given: 1, issued: 0, annulled: 1, waiting: 0 }),
    );
  });

  test.each<[string, FindStateAnswer, Partial<typeof NONE>]>([
    ['the authority gives no answer', AWAY, { unanswered: 1 }],
    ['it has no state for it', { kind: 'found', state: null, idemisor: '' }, { undecided: 1 }],
    ['it accepted a CFE of another sobre', { kind: 'found', state: 'AE', idemisor: '1' }, { undecided: 1 }],
  ])('are left as they are, however late, where %s', async (_, says, counts) => {
    const cfe = await aCfe();

    expect(await ask(later(90), new Map([[cfe.id, says]]))).toEqual({ ...NONE, ...counts });

    expect(await row(cfe)).toMatchObject({ status: 'REJECTED', settledAt: REJECTED });
    expect(await annulmentsOf(cfe)).toEqual([]);
  });

  test('notes that fell with one stay REJECTED; a new one may be issued on it', async () => {
    const original = await aCfe(null);
    const reference = formatCfeId(original);
    const note = await aCfe(null, { type: 'ETICKET_NC', net: 10, reference });
    await decide(original, ['E06']);
    await decide(note, ['reference.rejected']);

    await ask(later(2), accepts(original));

    expect(await row(original)).toMatchObject({ status: 'ACCEPTED' });
    expect(await row(note)).toMatchObject({ status: 'REJECTED' });
    expect(await annulmentsOf(note)).toHaveLength(1);
    expect(await aCfe(null, { type: 'ETICKET_NC', net: 10, reference })).toMatchObject({
      status: 'RECEIVED',
    });
  });

  describe('support', () => {
    const auditOf = async (cfe: Cfe) =>
      (await listAudit(db.orm.em.fork(), { rut, subject: cfe.id }, 10)).map(({ actor, action, outcome }) => [
        actor,
        action,
        outcome,
      ]);

    test('settle: asks at once', async () => {
      const cfe = await aCfe();

      expect(await support(cfe, 'settle', later(1))).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('has not accepted it'),
      });
      expect(await support(cfe, 'settle', later(1), new Map([[cfe.id, AWAY]]))).toMatchObject({
        kind: 'refused',
      });
      expect(await support(cfe, 'settle', later(1), accepts(cfe))).toMatchObject({ kind: 'settled' });

      expect(await row(cfe)).toMatchObject({ status: 'ACCEPTED' });
      expect(await auditOf(cfe)).toEqual([
        ['unverified', 'cfe.settle', 'refused'],
        ['unverified', 'cfe.settle', 'refused'],
        ['unverified', 'cfe.settle', 'settled'],
      ]);
    });

    test('abandon: annuls the number, unless the authority has accepted it or gives no answer', async () => {
      const [lost, won, unknown] = [await aCfe(), await aCfe(), await aCfe()];

      expect(await support(lost, 'abandon', later(1))).toMatchObject({ kind: 'abandoned' });
      expect(await support(won, 'abandon', later(1), accepts(won))).toMatchObject({ kind: 'settled' });
      expect(await support(unknown, 'abandon', later(1), new Map([[unknown.id, AWAY]]))).toMatchObject({
        kind: 'refused',
      });

      expect(await annulmentsOf(lost)).toMatchObject([{ reason: 'rejected', annulledAt: later(1) }]);
      expect(await row(lost)).toMatchObject({ status: 'REJECTED' });
      expect(await row(won)).toMatchObject({ status: 'ACCEPTED' });
      expect(await annulmentsOf(unknown)).toEqual([]);
      expect(await auditOf(lost)).toEqual([['unverified', 'cfe.abandon', 'abandoned']]);
    });
  });

  test('no late verdict makes the move: only who asked for just that', async () => {
    const cfe = await aCfe();
    await decide(cfe, [], 'ACCEPTED');
    expect(await row(cfe)).toMatchObject({ status: 'REJECTED' });
  });
});
