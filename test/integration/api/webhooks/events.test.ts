import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { updateEnterprise } from '../../../../src/commands/enterprises/updateEnterprise.ts';
import { setGrant } from '../../../../src/commands/people/grants.ts';
import { addWebhook, testWebhook, updateWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { purgeExpiredRows } from '../../../../src/db/operations/purge.ts';
import { findEventPosition, listEventsAfter, recordEvent } from '../../../../src/db/webhooks/events.ts';
import type { SelectableEvent } from '../../../../src/domain/webhooks/events.ts';
import {
  cfeUpdated,
  paymentCreated,
  type WebhookEvent,
} from '../../../../src/domain/webhooks/webhookEvents.ts';
import type { TestCaller } from '../../../support/api/api.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { RETENTION } from '../../../support/database/retention.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import { until } from '../../../support/until.ts';
import { deliveriesTo, webhookDeps } from '../../../support/webhooks/deliveries.ts';

const suite = useApi();

interface Item {
  id: string;
  event: string;
  timestamp: string;
  data: Record<string, unknown>;
  deliveries: { delivery_id: string; webhook_id: string; status: string }[];
}
interface Page {
  items: Item[];
  next: string | null;
}

let caller: TestCaller;
let rut: string;
let numero: number;
beforeEach(async () => {
  caller = await suite.api.aCaller();
  rut = await anEnterprise(suite.db.orm, caller.accountId);
  numero = 0;
});

const deps = () => webhookDeps(suite.db.orm);
const aWebhook = async (accountId: string, ...events: SelectableEvent[]) =>
  (await addWebhook(deps(), { accountId, url: 'https://hooks.example.com/', events })).webhook.id;
const list = (query = '', of = caller) => of.client.get<Page>(`/events${query}`);
const numerosOf = ({ items }: Page) => items.map(({ data }) => data['numero']);

/** The next move of a CFE. */
function aMove(): WebhookEvent {
  numero += 1;
  const cfe = { rut, environment: 'production', type: 'ETICKET', sequence: numero, serie: 'A' } as const;
  const rest = { numero, externalId: null, status: 'ACCEPTED', reportOnly: false } as const;
  return cfeUpdated({ ...cfe, ...rest }, 'RECEIVED');
}
const record = (event = aMove(), at = new Date()) =>
  suite.db.orm.em
    .fork()
    .transactional((em) => recordEvent(em, { rut, environment: 'production' }, event, at));

/** Everything, page by page. */
async function all(query = ''): Promise<Item[]> {
  const items: Item[] = [];
  for (let after = ''; ; ) {
    const { data } = await list(`?limit=3${query}${after}`);
    items.push(...data.items);
    if (data.next === null) return items;
    after = `&after=${data.next}`;
  }
}

describe('GET /events', () => {
  test('tells each event once, as webhooks get it, with its deliveries', async () => {
    const [one, two] = [
      await aWebhook(caller.accountId, 'cfe.updated', 'payment.created'),
      await aWebhook(caller.accountId, 'cfe.updated'),
    ];
    await record(aMove(), new Date('2026-11-20T15:00:00Z'));
    await record(
      paymentCreated({
        id: '7d9f7c0e-5a3b-4c1d-9e2f-000000000001',
        rut,
        amount: '123456789012345.67',
        currency: 'UYU',
        status: 'PENDING',
        redirectUrl: 'https://pay.example.com/',
        createdAt: new Date('2026-11-20T15:00:00Z'),
      }),
    );
    const [delivery] = await deliveriesTo(suite.db.orm, one);
    const { status, data, text } = await list();

    expect(status).toBe(200);
    expect(data).toEqual({
      items: [
        {
          id: expect.stringMatching(/^[\da-f-]{36}$/),
          event: 'cfe.updated',
          timestamp: '2026-11-20T15:00:00.000Z',
          data: expect.objectContaining({ enterprise_rut: rut, cfe_id: '101-1', rejection: null }),
          deliveries: expect.arrayContaining([
            { delivery_id: expect.any(String), webhook_id: one, status: 'PENDING' },
            { delivery_id: expect.any(String), webhook_id: two, status: 'PENDING' },
          ]),
        },
        expect.objectContaining({
          event: 'payment.created',
          deliveries: [{ delivery_id: expect.any(String), webhook_id: one, status: 'PENDING' }],
        }),
      ],
      next: null,
    });
    expect(data.items[0]?.deliveries).toHaveLength(2);
    expect(data.items[0]?.deliveries.map(({ delivery_id }) => delivery_id)).toContain(delivery?.id);
    // Digit by digit, beyond what binary holds.
    expect(text).toContain('"amount":123456789012345.67,');
  });

  test('only those that a webhook of the account selected: no others, no tests, not those of other accounts', async () => {
    const stranger = await suite.api.aCaller();
    const member = await suite.api.aCaller();
    await setGrant(suite.api.deps, { accountId: member.accountId, rut, role: 'MEMBER' });
    await aWebhook(stranger.accountId, 'cfe.updated');
    const [mine, theirs] = [
      await aWebhook(caller.accountId, 'cfe.updated'),
      await aWebhook(member.accountId, 'cfe.updated', 'payment.created'),
    ];
    await testWebhook(deps(), { webhookId: mine });
    await record();
    const { checkoutUrl } = suite.api.deps;
    await updateEnterprise(
      { ...deps(), checkoutUrl },
      { rut, update: { plan_id: 'STANDARD', frequency_id: 'MONTHLY' } },
    );

    const names = async (of: TestCaller) =>
      (await list('', of)).data.items.map(({ event, deliveries }) => [
        event,
        deliveries.map(({ webhook_id }) => webhook_id),
      ]);
    expect(await names(caller)).toEqual([['cfe.updated', [mine]]]);
    expect(await names(member)).toEqual([
      ['cfe.updated', [theirs]],
      ['payment.created', [theirs]],
    ]);
    expect(await names(stranger)).toEqual([]);
    expect((await list('', await suite.api.aCaller())).data).toEqual({ items: [], next: null });
  });

  test('a webhook that is disabled, as by a 410, gets nothing; its account catches up', async () => {
    const id = await aWebhook(caller.accountId, 'cfe.updated');
    await updateWebhook(deps(), { webhookId: id, enabled: false });
    await record();

    const { data } = await list();
    expect(numerosOf(data)).toEqual([1]);
    expect(data.items[0]?.deliveries).toEqual([]);
    expect(await deliveriesTo(suite.db.orm, id)).toEqual([]);
  });

  test('page by page, by name too; the id of the last event that one has goes on from there', async () => {
    await aWebhook(caller.accountId, 'cfe.updated', 'enterprise.updated');
    for (let i = 0; i < 7; i += 1) {
      await record();
      await record({
        name: 'enterprise.updated',
        data: { rut, legal_name: 'x', trade_name: null, status: 'READY', changes: {} },
      });
    }
    expect((await all()).map(({ event }) => event)).toEqual(
      Array.from({ length: 7 }, () => ['cfe.updated', 'enterprise.updated']).flat(),
    );
    const moves = await all('&event=cfe.updated');
    expect(moves.map(({ data }) => data['numero'])).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((await all('&event=payment.created')).length).toBe(0);

    const last = moves.at(-1)?.id;
    expect((await list(`?after=${last}&event=cfe.updated`)).data).toEqual({ items: [], next: null });
    await record();
    expect(numerosOf((await list(`?after=${last}&event=cfe.updated`)).data)).toEqual([8]);
  });

  test('400: a cursor that is none, another account’s or gone; a limit or name that is none', async () => {
    await aWebhook(caller.accountId, 'cfe.updated');
    await record(aMove(), new Date(Date.now() - 91 * 86_400_000));
    const [old] = (await list()).data.items;
    for (const after of ['x', randomUUID(), '']) {
      expectFaults(await list(`?after=${after}`), [['/query/after', 'events.after_unknown', /^after: /]]);
    }
    expectFaults(await list(`?after=${old?.id}`, await suite.api.aCaller()), [
      ['/query/after', 'events.after_unknown', /^after: /],
    ]);
    await suite.db.orm.em.fork().execute(`update delivery set status = 'DELIVERED', settled_at = created_at`);
    await purgeExpiredRows(suite.db.orm, { now: new Date(), retention: RETENTION, batch: 100 });
    expect((await list()).data.items).toEqual([]);
    expectFaults(await list(`?after=${old?.id}`), [['/query/after', 'events.after_unknown', /^after: /]]);
    expectRefusal(await list('?limit=101'), 400, 'INVALID_INPUT');
    expectRefusal(await list('?event=webhook.test'), 400, 'INVALID_INPUT');
  });
});

describe('events that are committed late', () => {
  test('are told after what was read before, though they were stored before it', async () => {
    await aWebhook(caller.accountId, 'cfe.updated');
    const [slow, quick] = [aMove(), aMove()];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stored = Promise.withResolvers<void>();
    const late = suite.db.orm.em.fork().transactional(async (em) => {
      await recordEvent(em, { rut, environment: 'production' }, slow, new Date());
      await em.flush();
      stored.resolve();
      await held;
    });
    await stored.promise;
    await record(quick);

    const first = (await list()).data;
    expect(numerosOf(first)).toEqual([2]);
    release();
    await late;

    expect(numerosOf((await list(`?after=${first.items[0]?.id}`)).data)).toEqual([1]);
    expect(numerosOf((await list()).data)).toEqual([2, 1]);
  });

  test('are missed by no reader among many writers, whose transactions end in any order', async () => {
    await aWebhook(caller.accountId, 'cfe.updated');
    const WRITERS = 40;
    let ended = 0;
    const write = async (i: number): Promise<void> => {
      await suite.db.orm.em.fork().transactional(async (em) => {
        await recordEvent(em, { rut, environment: 'production' }, aMove(), new Date());
        await em.flush();
        await em.execute('select pg_sleep(?)', [((i * 7) % 10) / 40]);
        // One in eight changes its mind.
        if (i % 8 === 7) throw new Error('undone');
      });
    };
    const writing = Promise.allSettled(
      Array.from({ length: WRITERS }, (_, i) =>
        write(i).finally(() => {
          ended += 1;
        }),
      ),
    );
    /** Reads on and on from where it is. */
    const read = async (): Promise<string[]> => {
      const seen: string[] = [];
      for (;;) {
        const over = ended === WRITERS;
        const after = seen.length === 0 ? '' : `&after=${seen.at(-1)}`;
        const { items } = (await list(`?limit=4${after}`)).data;
        seen.push(...items.map(({ id }) => id));
        if (over && items.length === 0) return seen;
      }
    };
    const readers = await Promise.all([read(), read(), read()]);
    await writing;

    const stored = await suite.db.orm.em
      .fork()
      .execute<{ id: string }[]>('select id from event where rut = ?', [rut]);
    expect(stored).toHaveLength(WRITERS - WRITERS / 8);
    for (const seen of readers) {
      expect(seen).toEqual(readers[0]);
      expect(seen.toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
    }
  });

  test('a reader that is held up while it gives places leaves none twice and none out', async () => {
    await aWebhook(caller.accountId, 'cfe.updated');
    for (let i = 0; i < 5; i += 1) await record();
    const { orm } = suite.db;
    const em = orm.em.fork();
    const asked = { accountId: caller.accountId, after: 0n, event: undefined, limit: 10 };
    const read = () => listEventsAfter(orm.em.fork(), asked);
    let waiting: Promise<Awaited<ReturnType<typeof read>>[]> = Promise.resolve([]);
    await em.transactional(async (holder) => {
      await holder.execute(`select pg_advisory_xact_lock(hashtextextended('events:' || ?, 0))`, [
        caller.accountId,
      ]);
      waiting = Promise.all([read(), read(), read()]);
      await until('the readers to wait', 10, async () => {
        const [row] = await orm.em.fork().execute<{ n: number }[]>(
          `select count(*)::int as n from pg_stat_activity join pg_locks using (pid)
             where datname = current_database() and not granted and locktype = 'advisory'`,
        );
        return row?.n === 3;
      });
    });
    const [first, ...others] = (await waiting).map(({ events }) => events.map(({ id }) => id));
    expect(first).toHaveLength(5);
    for (const other of others) expect(other).toEqual(first);
    expect(await findEventPosition(orm.em.fork(), caller.accountId, first?.[4] ?? '')).toBe(5n);
  });
});
