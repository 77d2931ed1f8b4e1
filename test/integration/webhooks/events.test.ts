import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { updateEnterprise } from '../../../src/commands/enterprises/updateEnterprise.ts';
import { setGrant } from '../../../src/commands/people/grants.ts';
import {
  addWebhook,
  updateWebhook,
  type WebhookCommandDeps,
} from '../../../src/commands/webhooks/webhooks.ts';
import { recordEvent } from '../../../src/db/webhooks/events.ts';
import { USUAL_CAPS } from '../../../src/domain/people/caps.ts';
import { RETRY_DELAYS } from '../../../src/domain/webhooks/webhook.ts';
import { cfeUpdated } from '../../../src/domain/webhooks/webhookEvents.ts';
import { anAccount, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';
import { deliveriesTo, webhookDeps } from '../../support/webhooks/deliveries.ts';

describe('events go to the webhooks that select them', () => {
  let db: TestDatabase;
  let deps: WebhookCommandDeps & { checkoutUrl: string };
  let owner: string;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase();
    deps = { ...webhookDeps(db.orm), checkoutUrl: 'https://pay.example.com/checkout' };
  });
  afterAll(() => db[Symbol.asyncDispose]());
  beforeEach(async () => {
    owner = await anAccount(db.orm);
    rut = await anEnterprise(db.orm, owner);
  });

  const aWebhook = async (accountId: string, ...events: string[]) =>
    (await addWebhook(deps, { accountId, url: 'https://hooks.example.com/', events })).webhook.id;
  const eventsAt = async (id: string) => (await deliveriesTo(db.orm, id)).map(({ eventName }) => eventName);
  const choosePlan = () =>
    updateEnterprise(deps, { rut, update: { plan_id: 'STANDARD', frequency_id: 'MONTHLY' } });

  test('a plan that costs something tells owner and members what they selected, each by a delivery of its own', async () => {
    const [member, viewer, stranger] = [
      await anAccount(db.orm),
      await anAccount(db.orm),
      await anAccount(db.orm),
    ];
    await setGrant(deps, { accountId: member, rut, role: 'MEMBER' });
    await setGrant(deps, { accountId: viewer, rut, role: 'VIEWER' });
    const all = ['enterprise.updated', 'payment.created', 'efactura.login', 'cfe.updated'];
    const ids = {
      ownerAll: await aWebhook(owner, ...all),
      ownerPayments: await aWebhook(owner, 'payment.created'),
      ownerLogins: await aWebhook(owner, 'efactura.login'),
      member: await aWebhook(member, ...all),
      viewer: await aWebhook(viewer, ...all),
      stranger: await aWebhook(stranger, ...all),
      disabled: await aWebhook(owner, ...all),
    };
    await updateWebhook(deps, { webhookId: ids.disabled, enabled: false });

    await choosePlan();

    const both = expect.arrayContaining(['payment.created', 'enterprise.updated']);
    expect(await eventsAt(ids.ownerAll)).toEqual(both);
    expect(await eventsAt(ids.member)).toEqual(both);
    expect(await eventsAt(ids.ownerPayments)).toEqual(['payment.created']);
    for (const id of [ids.ownerLogins, ids.viewer, ids.stranger, ids.disabled]) {
      expect(await eventsAt(id)).toEqual([]);
    }
  });

  test('one that was disabled by a 410 is told of nothing, and enabled again of what comes then', async () => {
    const webhookId = await aWebhook(owner, 'payment.created');
    await db.orm.em
      .fork()
      .execute(`update webhook set enabled = false, disabled_reason = 'gone' where id = ?`, [webhookId]);
    await choosePlan();

    const enabled = await updateWebhook(deps, { webhookId, enabled: true });
    await updateEnterprise(deps, { rut, update: { frequency_id: 'YEARLY' } });

    expect(enabled).toMatchObject({ enabled: true, disabledReason: null });
    const [told, ...more] = await deliveriesTo(db.orm, webhookId);
    expect([told?.eventName, more]).toEqual(['payment.created', []]);
  });

  test('each delivery has its workflow in the outbox, with the schedule of the contract as its input', async () => {
    const id = await aWebhook(owner, 'payment.created');

    await choosePlan();

    const [delivery] = await deliveriesTo(db.orm, id);
    const deliveryId = delivery?.id ?? '';
    expect(delivery?.status).toBe('PENDING');
    expect(RETRY_DELAYS).toEqual([60_000, 300_000, 1_800_000]);
    expect(await outboxOf(db.orm, `wh:payment.created:${rut}:${deliveryId}`)).toEqual([
      {
        workflow: 'deliverWebhook',
        signal: null,
        input: { deliveryId, delays: [60_000, 300_000, 1_800_000] },
      },
    ]);
  });

  test('a change that is undone leaves no event, no delivery and no message', async () => {
    const id = await aWebhook(owner, 'payment.created', 'enterprise.updated');
    const em = db.orm.em.fork();
    const counts = () =>
      em.execute(
        `select (select count(*) from event where rut = ?) as events,
                (select count(*) from outbox where search_attributes ->> 'EnterpriseRut' = ?) as messages`,
        [rut, rut],
      );
    const before = await counts();
    // The last step of the transaction fails.
    await db.asOwner(
      `create function refuse_${rut}() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create constraint trigger refuse_${rut} after update on enterprise deferrable initially deferred
       for each row when (new.rut = '${rut}') execute function refuse_${rut}();`,
    );

    await expect(choosePlan()).rejects.toThrow();

    expect(await counts()).toEqual(before);
    expect(await eventsAt(id)).toEqual([]);
  });

  test('a change whose event cannot be stored is undone', async () => {
    await aWebhook(owner, 'payment.created');
    const em = db.orm.em.fork();
    await db.asOwner('alter table delivery rename to delivery_away');
    try {
      await expect(choosePlan()).rejects.toThrow();
    } finally {
      await db.asOwner('alter table delivery_away rename to delivery');
    }

    expect(await em.execute('select plan_id from enterprise where rut = ?', [rut])).toEqual([
      { plan_id: null },
    ]);
    expect(await em.execute('select id from payment where rut = ?', [rut])).toEqual([]);
  });

  test('cfe.updated is stored only where somebody selected it', async () => {
    const event = cfeUpdated(
      {
        rut,
        environment: 'sandbox',
        type: 'ETICKET',
        sequence: 7,
        serie: 'A',
        numero: 12,
        externalId: null,
        status: 'ACCEPTED',
        reportOnly: false,
      },
      'RECEIVED',
    );
    const record = () =>
      db.orm.em
        .fork()
        .transactional((em) =>
          recordEvent(em, { rut, environment: 'sandbox' }, event, new Date('2026-11-20T12:00:00Z')),
        );
    const bodies = () =>
      db.orm.em.fork().execute<{ body: string }[]>('select body from event where rut = ?', [rut]);

    await record();
    expect(await bodies()).toEqual([]);
    const id = await aWebhook(owner, 'cfe.updated');
    await record();

    expect(await eventsAt(id)).toEqual(['cfe.updated']);
    expect((await bodies()).map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      {
        event: 'cfe.updated',
        timestamp: '2026-11-20T12:00:00.000Z',
        data: {
          enterprise_rut: rut,
          environment: 'sandbox',
          cfe_id: '101-7',
          cfe_type: 'ETICKET',
          serie: 'A',
          numero: 12,
          external_id: null,
          status: 'ACCEPTED',
          transmission: 'SENT',
          changes: { cfe_status: { from: 'RECEIVED', to: 'ACCEPTED' } },
          rejection: null,
        },
      },
    ]);
  });

  test('an account has twenty webhooks at most, also when thirty are added at once', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, () => aWebhook(owner, 'cfe.updated')),
    );

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(USUAL_CAPS.webhooks);
  });
});
