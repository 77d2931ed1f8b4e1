import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Delivery, Event } from '../../../src/db/entities/webhooks.ts';
import { recordAudit } from '../../../src/db/operations/audit.ts';
import type { Actor } from '../../../src/domain/operations/audit.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';

// Whoever makes webhooks needs nothing that opens.
const KEYS = { CFE_SEALING_KEY: aKeyPair().publicText };
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
const NOBODY = '0c0e1ab1-0000-4000-8000-000000000009';
const URL = 'https://hooks.example.com/cfe';

interface WebhookRow {
  webhook_id: string;
  secret?: string;
}

let db: TestDatabase;
let cli: Cli;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  cli = cliOn(db.urlOf('operator'), KEYS);
  account = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());

const add = (...events: string[]) =>
  cli.json<WebhookRow>('webhook', 'add', account, '--url', URL, ...events.flatMap((e) => ['--event', e]));

describe('cfe webhook', () => {
  test('add, update, rotate-secret, list and remove tell of the same webhook; the secret only when made', async () => {
    const made = await add('cfe.updated', 'efactura.login');
    expect(made).toEqual({
      webhook_id: expect.any(String),
      account_id: account,
      url: URL,
      events: ['efactura.login', 'cfe.updated'],
      enabled: true,
      disabled_reason: null,
      created_at: MOMENT,
      secret: SECRET,
    });
    const { secret, ...shown } = made;

    const id = made.webhook_id;
    const changed = { ...shown, enabled: false, events: ['payment.created'] };
    expect(await cli.json('webhook', 'update', id, '--disable', '--event', 'payment.created')).toEqual(
      changed,
    );
    expect(await cli.json('webhook', 'list', account)).toMatchObject([{ ...changed, day_failed: 0 }]);
    const rotated = await cli.json<WebhookRow>('webhook', 'rotate-secret', id);
    expect(rotated).toEqual({ ...changed, secret: SECRET, previous_secret_until: MOMENT });
    expect(rotated.secret).not.toBe(secret);
    expect(await cli.json('webhook', 'remove', id)).toEqual({ webhook_id: id, removed: true });
    expect(await cli.json('webhook', 'list', account)).toEqual([]);
    expect((await cli.refusal('webhook', 'remove', id)).code).toBe('NOT_FOUND');
    const rows: unknown = await db.orm.em.fork().execute('select * from webhook');
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test('what cannot be is refused', async () => {
    const refused = async (...args: string[]) => (await cli.refusal('webhook', ...args)).code;

    expect(await refused('add', account, '--url', 'http://example.com', '--event', 'cfe.updated')).toBe(
      'INVALID_INPUT',
    );
    expect(await refused('add', account, '--url', 'https://127.0.0.1:9000', '--event', 'cfe.updated')).toBe(
      'INVALID_INPUT',
    );
    expect(await refused('add', account, '--url', URL, '--event', 'cfe.deleted')).toBe('INVALID_INPUT');
    expect(await refused('add', NOBODY, '--url', URL, '--event', 'cfe.updated')).toBe('NOT_FOUND');
    expect(await refused('update', NOBODY, '--enable')).toBe('NOT_FOUND');
    expect(await refused('rotate-secret', 'nonsense')).toBe('NOT_FOUND');
    expect(await refused('test', NOBODY)).toBe('NOT_FOUND');
    expect((await cli.call('webhook', 'add', account, '--url', URL)).code).toBe(2);
  });

  test.each([
    [['--enable', '--disable'], 'give either --enable or --disable, not both'],
    [[], 'give at least one change: --url, --event, --enable or --disable'],
  ])('update %j is wrong usage', async (options, words) => {
    const { code, stdout, stderr } = await cli.call('webhook', 'update', NOBODY, ...options);

    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });
});

describe('cfe delivery', () => {
  test('a test of a webhook is a delivery, which can be listed, shown, and repeated, in progress or ended', async () => {
    const { webhook_id } = await add('efactura.login');
    const made = await cli.json<{ delivery_id: string; body: string }>('webhook', 'test', webhook_id);
    expect(made).toMatchObject({ webhook_id, event: 'webhook.test', status: 'PENDING', attempts: [] });
    expect(JSON.parse(made.body)).toMatchObject({ event: 'webhook.test', data: { webhook_id } });

    const id = made.delivery_id;
    expect(await cli.json('delivery', 'show', id)).toEqual(made);
    expect(await cli.json('delivery', 'redeliver', id)).toEqual(made);
    await db.orm.em.fork().nativeUpdate(Delivery, { id }, { status: 'FAILED', settledAt: new Date() });
    expect(await cli.json('delivery', 'list', '--status', 'FAILED', '--webhook', webhook_id)).toEqual([
      { ...made, status: 'FAILED' },
    ]);
    expect(await cli.json('delivery', 'list', '--event', 'cfe.updated')).toEqual([]);
    expect(await cli.json('delivery', 'list', '--limit', '1')).toHaveLength(1);
    expect(await cli.json('delivery', 'redeliver', id)).toEqual(made);
    expect((await cli.refusal('delivery', 'show', NOBODY)).code).toBe('NOT_FOUND');
    expect((await cli.refusal('delivery', 'redeliver', NOBODY)).code).toBe('NOT_FOUND');
    expect((await cli.call('delivery', 'list', '--status', 'LOST')).code).toBe(2);
  });
});

describe('cfe delivery, in bulk', () => {
  test('deliveries are listed by enterprise, CFE and time; those that failed to a webhook are sent again by one run', async () => {
    const { webhook_id } = await add('cfe.updated');
    const rut = await anEnterprise(db.orm, account);
    const em = db.orm.em.fork();
    const settledAt = new Date('2026-11-20T12:00:00Z');
    for (const number of [1, 2, 3]) {
      const [eventId, id] = [randomUUID(), randomUUID()];
      const body = JSON.stringify({ data: { cfe_id: `101-${number}` } });
      const about = { rut, name: 'cfe.updated', environment: 'production', createdAt: settledAt } as const;
      await em.insert(Event, { id: eventId, body, ...about });
      await em.insert(Delivery, {
        id,
        workflowId: `wh:${id}`,
        webhookId: webhook_id,
        eventId,
        eventName: 'cfe.updated',
        status: number === 3 ? 'DELIVERED' : 'FAILED',
        createdAt: settledAt,
        settledAt,
      });
    }
    const listed = async (...filter: string[]) =>
      (await cli.json<{ body: string }[]>('delivery', 'list', ...filter)).map(
        ({ body }) => (JSON.parse(body) as { data: { cfe_id: string } }).data.cfe_id,
      );
    expect((await listed('--rut', rut)).toSorted()).toEqual(['101-1', '101-2', '101-3']);
    expect(await listed('--rut', rut, '--cfe', '101-2')).toEqual(['101-2']);
    expect(await listed('--rut', rut, '--cfe', '101-2', '--environment', 'sandbox')).toEqual([]);
    expect(await listed('--rut', rut, '--status', 'DELIVERED')).toEqual(['101-3']);
    expect(await listed('--rut', rut, '--since', '2026-11-21')).toEqual([]);
    expect((await cli.call('delivery', 'list', '--cfe', '101-2')).code).toBe(2);

    const bulk = ['delivery', 'redeliver', '--webhook', webhook_id];
    expect((await cli.call(...bulk)).code).toBe(2);
    expect((await cli.call(...bulk, NOBODY, '--reason', 'x')).code).toBe(2);
    expect((await cli.call('delivery', 'redeliver', NOBODY, '--since', '2026-11-20')).code).toBe(2);
    const since = ['--reason', 'volvió', '--since', '2026-11-20T00:00:00Z'];
    expect(await cli.json(...bulk, ...since, '--dry-run')).toEqual({ total: 2 });
    const run = await cli.json<{ run_id: string }>(...bulk, ...since, '--by', 'Ana Sur');
    expect(run).toMatchObject({ kind: 'redeliver', state: 'RUNNING', total: 2, done: 0, by: 'Ana Sur' });
    expect(await cli.json('run', 'list', '--state', 'RUNNING')).toMatchObject([
      { run_id: run.run_id, state: 'RUNNING', total: 2 },
    ]);
    expect(await cli.json('run', 'show', run.run_id)).toEqual({ ...run, refusals: [] });
    expect(await cli.refusal(...bulk, ...since)).toEqual({
      code: 'INVALID_INPUT',
      message: `The run ${run.run_id} to this webhook is still running.`,
    });
    expect(await cli.json('run', 'stop', run.run_id, '--by', 'eva')).toMatchObject({
      stop_asked_by: 'cli:eva',
      stop_asked_at: MOMENT,
    });
    expect((await cli.refusal('run', 'show', 'retry-2026-01-01-000000')).code).toBe('NOT_FOUND');
  });
});

describe('cfe audit', () => {
  test('list tells who did what, why, and nothing can be struck out', async () => {
    const rut = await anEnterprise(db.orm, account);
    await cli.json('enterprise', 'suspend', rut, '--reason', 'Falta de pago', '--by', 'Ana Sur');
    await cli.json('grant', 'set', await anAccount(db.orm), rut, '--role', 'VIEWER');

    const entries = await cli.json<{ action: string }[]>('audit', 'list', '--rut', rut);

    expect(entries.map(({ action }) => action)).toEqual(['enterprise.suspend', 'grant.set']);
    expect(entries[0]).toEqual({
      audit_id: expect.stringMatching(/^\d+$/),
      at: MOMENT,
      actor: 'cli:Ana Sur',
      person: 'Ana Sur',
      key_id: null,
      address: expect.stringMatching(/^\S+@\S+$/),
      action: 'enterprise.suspend',
      subject: rut,
      account_id: null,
      rut,
      reason: 'Falta de pago',
      outcome: null,
      request_id: null,
      cfe_id: null,
      verified: true,
    });
    expect(await cli.json('audit', 'list', '--since', '2999-01-01')).toEqual([]);
    expect((await cli.refusal('audit', 'list', '--since', 'yesterday')).message).toBe(
      'since: must be a date (YYYY-MM-DD) or a date and time with its zone (2026-03-01T09:00:00-03:00), found "yesterday".',
    );
    expect(await cli.json('audit', 'list')).toEqual(expect.arrayContaining(entries));
    for (const sql of ['delete from audit', `update audit set actor = 'x'`, 'truncate audit']) {
      await expect(db.asOwner(sql)).rejects.toThrow('the audit is only added to');
    }
  });
});

describe('cfe audit list', () => {
  interface Entry {
    audit_id: string;
    subject: string;
  }
  const subjects = async (...filter: string[]) =>
    (await cli.json<Entry[]>('audit', 'list', ...filter)).map(({ subject }) => subject);

  test('by thing, and by person wherever they acted', async () => {
    const em = db.orm.em.fork();
    const at = new Date();
    const wrote = (actor: Actor, subject: string) =>
      recordAudit(em, { actor, action: 'cfe.retry', subject }, at);
    wrote('cli:berta', 'one');
    wrote('console:berta', 'two');
    wrote('console:carla', 'three');
    wrote('cli:berta', 'four');
    wrote('account:berta', 'five');
    await em.flush();

    expect(await subjects('--subject', 'three')).toEqual(['three']);
    expect(await subjects('--person', 'berta')).toEqual(['one', 'two', 'four']);
    const page = await cli.json<Entry[]>('audit', 'list', '--person', 'berta', '--limit', '2');
    expect(page.map(({ subject }) => subject)).toEqual(['two', 'four']);
    expect(await subjects('--person', 'nobody')).toEqual([]);
  });
});

describe('cfe cfe', () => {
  test('of an enterprise without CFEs nothing is listed, and none is shown', async () => {
    const rut = await anEnterprise(db.orm, account);

    expect(await cli.json('cfe', 'list', '--rut', rut)).toEqual([]);
    expect(
      await cli.json(
        'cfe',
        'list',
        '--rut',
        rut,
        '--needs-support',
        '--stuck-reason',
        'signing',
        '--annulled',
      ),
    ).toEqual([]);
    expect((await cli.refusal('cfe', 'show', rut, '101-1')).code).toBe('NOT_FOUND');
    expect((await cli.refusal('cfe', 'xml', rut, 'nonsense')).code).toBe('NOT_FOUND');
  });
});
