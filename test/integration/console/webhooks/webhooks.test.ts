import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { storeAttempt } from '../../../../src/activities/webhooks/storeAttempt.ts';
import { AuditEntry } from '../../../../src/db/entities/operations.ts';
import { Delivery, Event, Webhook } from '../../../../src/db/entities/webhooks.ts';
import { newestFirst } from '../../../../src/db/page.ts';
import { findDelivery } from '../../../../src/db/webhooks/deliveries.ts';
import { type DeliveryListFilter, listDeliveryPage } from '../../../../src/db/webhooks/deliveryList.ts';
import { readWebhookHealth } from '../../../../src/db/webhooks/webhooks.ts';
import type { DeliveryStatus } from '../../../../src/domain/webhooks/webhook.ts';
import { anAccount, outboxOf } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';

let db: TestDatabase;
let site: TestConsole;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const MINUTE = 60_000;
const hidden = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
const onceIn = (text: string): string => /<code class="once"[^>]*>([^<]+)<\/code>/.exec(text)?.[1] ?? '';
const english = { 'accept-language': 'en' };
async function sendFrom(browser: Browser, page: string, action: string, fields: Record<string, string>) {
  const { text } = await browser.get(page, english);
  return browser.post(action, { form_token: formTokenIn(text), ...fields }, english);
}

interface Place {
  accountId: string;
  browser: Browser;
  webhookId: string;
  secret: string;
}

/** A MEMBER who has added a webhook. */
async function aPlace(url = 'https://caja.example/avisos'): Promise<Place> {
  const accountId = await anAccount(db.orm);
  const browser = await site.as(await site.aMember(accountId, 'MEMBER'));
  const { text } = await browser.get('/webhooks', english);
  const webhookId = hidden(text, 'once');
  const fields = { account: accountId, once: webhookId, url, event: 'cfe.updated' };
  const added = await sendFrom(browser, '/webhooks', '/webhooks', fields);
  return { accountId, browser, webhookId, secret: onceIn(added.text) };
}

/** Deliveries to a webhook, one a minute, the last of them now. */
async function deliveriesTo(
  webhookId: string,
  rut: string | null,
  rows: readonly { status: DeliveryStatus; cfeId?: string; name?: 'cfe.updated' | 'payment.created' }[],
): Promise<string[]> {
  const em = db.orm.em.fork();
  const now = site.deps.clock().getTime();
  const ids: string[] = [];
  for (const [i, { status, cfeId, name = 'cfe.updated' }] of rows.entries()) {
    const createdAt = new Date(now - (rows.length - i) * MINUTE);
    const [id, eventId] = [randomUUID(), randomUUID()];
    const body = JSON.stringify({ event: name, timestamp: createdAt, data: { cfe_id: cfeId } });
    await em.insert(Event, { id: eventId, rut, name, environment: 'production', body, createdAt });
    await em.insert(Delivery, {
      id,
      workflowId: `wh:${id}`,
      webhookId,
      eventId,
      eventName: name,
      status,
      nextAttemptAt: null,
      createdAt,
      settledAt: status === 'PENDING' ? null : createdAt,
    });
    ids.push(id);
  }
  return ids;
}

test('a webhook is added, changed, disabled, enabled and removed; its secret stands in the answer alone', async () => {
  const { accountId, browser, webhookId, secret } = await aPlace();
  expect(secret).toMatch(/^whsec_/);
  const page = `/webhooks/${webhookId}`;
  const { text } = await browser.get(page, english);
  expect(text).toContain('https://caja.example/avisos');
  for (const place of [text, (await browser.get('/webhooks')).text, JSON.stringify(site.lines)])
    expect(place).not.toContain(secret);

  const bad = await sendFrom(browser, page, `${page}/change`, {
    url: 'http://caja.example',
    event: 'cae.low',
  });
  expect((await browser.get(bad.to ?? '', english)).text).toContain('must begin with https');
  const url = 'https://otra.example/x';
  expect((await sendFrom(browser, page, `${page}/change`, { url, event: 'cae.low' })).to).toBe(page);
  await sendFrom(browser, page, `${page}/enabled`, { enabled: 'no' });
  const em = db.orm.em.fork();
  expect(await em.findOneOrFail(Webhook, webhookId)).toMatchObject({
    url,
    events: ['cae.low'],
    enabled: false,
  });
  await sendFrom(browser, page, `${page}/enabled`, { enabled: 'yes' });
  expect((await sendFrom(browser, page, `${page}/remove`, {})).to).toBe(page);
  const removed = await sendFrom(browser, page, `${page}/remove`, { sure: 'yes' });
  expect(removed.to).toBe(`/webhooks?account=${accountId}`);
  const acts = await em.find(AuditEntry, { subject: webhookId }, { orderBy: { id: 'asc' } });
  expect(acts.map(({ action }) => action)).toEqual([
    'webhook.add',
    'webhook.update',
    'webhook.update',
    'webhook.update',
    'webhook.remove',
  ]);
  expect(acts.every(({ actor }) => actor.startsWith('console:'))).toBe(true);
  expect((await browser.get(page, english)).text).not.toContain('/secret');
});

test('a secret that is asked for twice by one form is made once, so the one before it goes on signing', async () => {
  const { browser, webhookId } = await aPlace();
  const page = `/webhooks/${webhookId}`;
  const { text } = await browser.get(page, english);
  const fields = { form_token: formTokenIn(text), seen: hidden(text, 'seen') };
  const both = await Promise.all([1, 2].map(() => browser.post(`${page}/secret`, fields, english)));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 303]);
  const { sealedPreviousSecret } = await db.orm.em.fork().findOneOrFail(Webhook, webhookId);
  expect((await browser.post(`${page}/secret`, fields, english)).to).toBe(page);
  expect(await db.orm.em.fork().findOneOrFail(Webhook, webhookId)).toMatchObject({ sealedPreviousSecret });
  const shown = await browser.get(page, english);
  expect(shown.text).toContain('was already created');
  const once = await sendFrom(browser, page, `${page}/secret`, { seen: hidden(shown.text, 'seen') });
  expect(onceIn(once.text)).toMatch(/^whsec_/);
});

test('a test leads to its delivery, which tells each attempt, the next one and why it failed', async () => {
  const { browser, webhookId } = await aPlace();
  const tested = await sendFrom(browser, `/webhooks/${webhookId}`, `/webhooks/${webhookId}/test`, {});
  expect(tested.to).toMatch(/^\/deliveries\/[0-9a-f-]{36}$/);
  const id = (tested.to ?? '').split('/')[2] ?? '';
  const { clock } = site.deps;
  const store = (retriesLeft: number, execution: string, answer: string) =>
    storeAttempt({ orm: db.orm, clock }, { deliveryId: id, retriesLeft }, execution, {
      httpStatus: 503,
      error: null,
      answer,
      milliseconds: 1_234,
    });
  const before = clock();
  await store(3, 'a', '<script>alert(1)</script>');
  const first = await findDelivery(db.orm.em.fork(), id);
  const wait = (first?.nextAttemptAt?.getTime() ?? 0) - before.getTime();
  expect(wait).toBeGreaterThanOrEqual(MINUTE);
  expect(wait).toBeLessThan(2 * MINUTE);
  const { text } = await browser.get(`/deliveries/${id}`, english);
  expect(text).toContain('Next attempt');
  expect(text).toContain(first?.nextAttemptAt?.toISOString());
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(text).toContain('>503<');
  expect(text).toContain('1,234 ms');
  expect(text).toContain('&quot;event&quot;:&quot;webhook.test&quot;');

  await store(2, 'b', '');
  await store(1, 'c', '');
  await store(0, 'd', '');
  const last = await findDelivery(db.orm.em.fork(), id);
  expect(last).toMatchObject({ status: 'FAILED', nextAttemptAt: null });
  const again = await sendFrom(browser, `/deliveries/${id}`, `/deliveries/${id}/redeliver`, {});
  expect(again.to).toBe(`/deliveries/${id}`);
  expect((await outboxOf(db.orm, last?.workflowId ?? '')).map(({ signal }) => signal)).toEqual([
    null,
    'deliverAgain',
  ]);
});

test('nobody sees or touches another account’s webhooks and deliveries; each role does what it may', async () => {
  const { accountId, browser, webhookId } = await aPlace('https://nuestra.example/a');
  const [id = ''] = await deliveriesTo(webhookId, null, [{ status: 'FAILED' }]);
  const stranger = (await aPlace('https://ajena.example/a')).browser;
  for (const path of [`/webhooks/${webhookId}`, `/deliveries/${id}`, `/webhooks?account=${accountId}`])
    expect((await stranger.get(path)).status).toBe(404);
  expect((await stranger.get('/deliveries')).text).not.toContain('nuestra.example');
  expect((await stranger.get(`/deliveries?webhook=${webhookId}`)).text).not.toContain(id);
  const redeliver = `/deliveries/${id}/redeliver`;
  const rotate = `/webhooks/${webhookId}/secret`;
  const add = { account: accountId, once: randomUUID(), url: 'https://x.example/', event: 'cae.low' };
  await sendFrom(stranger, '/me', redeliver, {});
  await sendFrom(stranger, '/me', rotate, { seen: '' });
  await sendFrom(stranger, '/me', '/webhooks', add);
  const viewer = await site.as(await site.aMember(accountId, 'VIEWER'));
  expect((await viewer.get(`/webhooks/${webhookId}`)).text).not.toContain('<h2>Secret');
  for (const path of [redeliver, rotate, '/webhooks'])
    expect((await sendFrom(viewer, '/me', path, { ...add, seen: '' })).status).toBe(403);
  const support = await site.as(await site.anOperator('SUPPORT'));
  expect((await sendFrom(support, '/me', rotate, { seen: '' })).status).toBe(403);
  const em = db.orm.em.fork();
  expect((await em.findOneOrFail(Webhook, webhookId)).previousSecretUntil).toBeNull();
  expect(await em.count(Webhook, { accountId })).toBe(1);
  expect((await findDelivery(em, id))?.status).toBe('FAILED');

  await sendFrom(support, '/me', redeliver, {});
  expect((await findDelivery(db.orm.em.fork(), id))?.status).toBe('FAILED');
  expect((await support.get(`/deliveries/${id}`, { 'accept-language': 'en' })).text).toContain(
    'Nothing was done: enter a reason',
  );
  await sendFrom(support, '/me', redeliver, { reason: 'the receiver is back' });
  expect((await findDelivery(db.orm.em.fork(), id))?.status).toBe('PENDING');
  expect((await browser.get('/deliveries')).text).toContain(id.slice(0, 8));
});

test('deliveries are found by every filter, page after page, each once; rates count what ended', async () => {
  const one = await aPlace('https://uno.example/');
  const two = await aPlace('https://dos.example/');
  const rut = await anEnterprise(db.orm, one.accountId);
  const mixed = await deliveriesTo(one.webhookId, rut, [
    { status: 'FAILED', cfeId: '101-7' },
    { status: 'DELIVERED', cfeId: '101-8' },
    { status: 'PENDING', cfeId: '101-8' },
    { status: 'DELIVERED', name: 'payment.created', cfeId: '101-8' },
  ]);
  const [other = ''] = await deliveriesTo(two.webhookId, null, [{ status: 'FAILED' }]);
  const em = db.orm.em.fork();
  const of = async (seen: readonly string[] | null, filter: DeliveryListFilter) => {
    const found: string[] = [];
    for (let after: string[] | null = null; ; ) {
      const page = await listDeliveryPage(em, seen, filter, { after, limit: 2 });
      found.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last || page.length < 2) return found;
      after = newestFirst('uuid').of(last);
    }
  };
  const [a = '', b = '', c = '', d = ''] = mixed;
  const ours = [one.accountId];
  expect(await of(ours, {})).toEqual([d, c, b, a]);
  expect(await of([one.accountId, two.accountId], {})).toEqual(expect.arrayContaining([a, b, c, d, other]));
  expect(await of(ours, { status: 'DELIVERED' })).toEqual([d, b]);
  expect(await of(ours, { event: 'payment.created' })).toEqual([d]);
  expect(await of(ours, { rut })).toEqual([d, c, b, a]);
  expect(await of(null, { rut, cfeId: '101-8' })).toEqual([c, b]);
  expect(await of([two.accountId], { rut })).toEqual([]);
  expect(await of(ours, { webhookId: two.webhookId })).toEqual([]);
  expect(await of(null, { webhookId: two.webhookId })).toEqual([other]);
  expect(await of(ours, { before: new Date(0) })).toEqual([]);
  expect(await of(ours, { from: new Date(0), before: new Date(Date.now() + 86_400_000) })).toHaveLength(4);
  const fare = (await readWebhookHealth(em, [one.webhookId], site.deps.clock())).get(one.webhookId);
  expect(fare).toMatchObject({ day: { ended: 3, failed: 1 }, week: { ended: 3, failed: 1 } });
  expect(fare?.oldestFailed).not.toBeNull();

  const csv = await one.browser.get(`/deliveries?format=csv&rut=${rut}`);
  expect(csv.text.trim().split('\r\n')).toHaveLength(5);
  expect(csv.text).toContain(a);
});
