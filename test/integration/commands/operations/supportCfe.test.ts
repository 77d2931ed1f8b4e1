import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type SupportCfeDeps,
  supportCfe,
  supportCfes,
} from '../../../../src/commands/operations/supportCfe.ts';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { markStuck, requireCfe } from '../../../../src/db/receipts/cfes.ts';
import type { SupportAsk } from '../../../../src/domain/operations/supportAction.ts';
import { Refusal } from '../../../../src/errors.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { aSobreOf } from '../../../support/receipts/pendingCfes.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

describe('supportCfes', () => {
  let db: TestDatabase;
  let ids: string[];
  let workflowIds: string[];
  beforeAll(async () => {
    db = await cloneDatabase();
    const accountId = await anAccount(db.orm);
    const rut = await aReadyEnterprise(db.orm, accountId);
    const deps = webhookDeps(db.orm);
    const body = fromJson(JSON.stringify(aCfeBody()));
    const issue = () => issueCfe(deps, { accountId, rut, environment: 'production', body });
    const issued = [await issue(), await issue(), await issue()];
    const cfes = await Promise.all(issued.map(({ id }) => requireCfe(db.orm.em.fork(), id)));
    ids = cfes.map(({ id }) => id);
    // The first has its sobre by itself.
    for (const cfe of cfes.slice(1)) await aSobreOf(db.orm, [cfe]);
    workflowIds = [];
    for (const id of ids) workflowIds.push((await requireCfe(db.orm.em.fork(), id)).workflowId ?? '');
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const WISH = { action: 'retry', reason: 'mended', dryRun: false } as const;
  /** Support as ana at the command line; asking says what `say` says to the nth question. */
  function supporting(say: (nth: number) => Awaited<ReturnType<SupportCfeDeps['askSupport']>>) {
    const asked: [string, SupportAsk][] = [];
    const askSupport: SupportCfeDeps['askSupport'] = async (workflowId, request) => {
      asked.push([workflowId, request]);
      return say(asked.length);
    };
    const askedAgain: [string, SupportAsk][] = [];
    const askRejected: SupportCfeDeps['askRejected'] = async ({ id }, request) => {
      askedAgain.push([id, request]);
      return { outcome: 'settled', message: 'The authority has accepted it since.' };
    };
    const deps = { ...webhookDeps(db.orm), actor: 'cli:ana', askSupport, askRejected } as const;
    return { asked, askedAgain, deps };
  }

  test('asks one workflow after the other, in the name of who sits there, and tells what each said', async () => {
    const { asked, deps } = supporting((nth) =>
      nth === 2
        ? { outcome: 'nothing_to_do', runs: false }
        : { outcome: 'retried', message: `It is try ${nth}.` },
    );

    const done = await supportCfes(deps, { ids, ...WISH });

    expect(done.map(({ cfe, outcome, message }) => [cfe.id, outcome, message])).toEqual([
      [ids[0], 'retried', 'It is try 1.'],
      [
        ids[1],
        'nothing_to_do',
        'Nothing was done: it is PENDING, and its workflow is not running. `recovery requeue` restarts it.',
      ],
      [ids[2], 'retried', 'It is try 3.'],
    ]);
    const requestId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(asked).toEqual(
      workflowIds.map((workflowId, index) => [
        workflowId,
        { action: 'retry', requestId, cfeId: `101-${index + 1}` },
      ]),
    );
    expect(new Set(asked.map(([, { requestId }]) => requestId)).size).toBe(3);
  });

  test('who asks, why and from where is in the audit before the workflow is asked, once for each request', async () => {
    const [id = ''] = ids;
    const rowsOf = (requestId: string) =>
      db.orm.em
        .fork()
        .execute('select actor, address, action, subject, reason, outcome from audit where request_id = ?', [
          requestId,
        ]);
    const whenAsked: unknown[] = [];
    const deps: SupportCfeDeps = {
      ...supporting(() => ({ outcome: 'retried', message: '' })).deps,
      actor: 'console:ana@example.com',
      origin: { keyId: null, address: '198.51.100.7' },
      async askSupport(_, { requestId }) {
        whenAsked.push(...(await rowsOf(requestId)));
        throw new Refusal('UNAVAILABLE', 'No worker accepts the request.');
      },
    };
    const wish = { id, ...WISH, requestId: 'request-1' };

    await expect(supportCfe(deps, wish)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(supportCfe(deps, wish)).rejects.toMatchObject({ code: 'UNAVAILABLE' });

    const row = {
      actor: 'console:ana@example.com',
      address: '198.51.100.7',
      action: 'cfe.retry',
      subject: id,
      reason: 'mended',
      outcome: null,
    };
    expect(whenAsked).toEqual([row, row]);
    expect(await rowsOf('request-1')).toEqual([row]);
  });

  test('has the authority asked about one that was rejected for E06 alone, unless it is to be retried', async () => {
    const { asked, askedAgain, deps } = supporting(() => ({ outcome: 'nothing_to_do', runs: false }));
    const [id = ''] = ids;
    const em = db.orm.em.fork();
    const reject = `update cfe set status = 'REJECTED', settled_at = now(), rejection = '[{"code":"E06"}]' where id = ?`;
    const supportOne = async (action: SupportAsk['action'], dryRun = false) =>
      (await supportCfes(deps, { ids: [id], ...WISH, action, dryRun })).map(({ outcome }) => outcome);
    await em.execute(reject, [id]);
    try {
      expect(await supportOne('settle', true)).toEqual(['dry_run']);
      expect(await supportOne('retry')).toEqual(['nothing_to_do']);
      expect(await supportOne('settle')).toEqual(['settled']);
      expect(await supportOne('abandon')).toEqual(['settled']);
      expect(asked.map(([, { action }]) => action)).toEqual(['retry']);
      const requestId = expect.any(String);
      expect(askedAgain).toEqual([
        [id, { action: 'settle', requestId }],
        [id, { action: 'abandon', requestId }],
      ]);
    } finally {
      await em.execute(
        `update cfe set status = 'PENDING', settled_at = null, rejection = null where id = ?`,
        [id],
      );
    }
  });

  test('one whose step fails by a mistake of ours: support can do nothing, and is told so', async () => {
    const { asked, deps } = supporting(() => ({ outcome: 'nothing_to_do', runs: true }));
    const [id = ''] = ids;
    await markStuck(db.orm.em.fork(), [id], 'internal');
    try {
      const one = { ids: [id], ...WISH };
      const done = [
        ...(await supportCfes(deps, { ...one, dryRun: true })),
        ...(await supportCfes(deps, one)),
      ];
      const message =
        'Nothing to do for support: a step fails because of a bug and is retried automatically; notify the developers.';
      expect(done).toMatchObject([
        { outcome: 'nothing_to_do', message },
        { outcome: 'nothing_to_do', message },
      ]);
      expect(asked).toHaveLength(1);
    } finally {
      await markStuck(db.orm.em.fork(), [id], null);
    }
  });

  test('broken off, it says how many were asked', async () => {
    const { asked, deps } = supporting((nth) => {
      if (nth === 3) throw new Refusal('UNAVAILABLE', 'Temporal cannot be reached.');
      return { outcome: 'retried', message: 'It is tried again.' };
    });

    await expect(supportCfes(deps, { ids, ...WISH })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Temporal cannot be reached. 2 of 3 were done before; run it again for the rest.',
    });
    expect(asked).toHaveLength(3);
  });

  test('a dry run asks nobody', async () => {
    const { asked, deps } = supporting(() => ({ outcome: 'retried', message: '' }));

    const acts = async () => (await listAudit(db.orm.em.fork(), { subject: ids[0] }, 100)).length;
    const before = await acts();

    await supportCfes(deps, { ids, ...WISH, dryRun: true });

    expect(asked).toEqual([]);
    expect(await acts()).toBe(before);
  });
});
