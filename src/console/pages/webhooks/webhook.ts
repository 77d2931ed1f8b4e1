import * as z from 'zod';
import {
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '../../../commands/webhooks/webhooks.ts';
import type { Webhook } from '../../../db/entities/webhooks.ts';
import type { Orm } from '../../../db/orm.ts';
import { requireAccount } from '../../../db/people/accounts.ts';
import { findWebhook, readWebhookHealth, type WebhookHealth } from '../../../db/webhooks/webhooks.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayIn } from '../../access/permissions.ts';
import { isAllowedIn } from '../../accounts.ts';
import { figure, moment } from '../../format.ts';
import { link } from '../../links.ts';
import { LIST_QUERY, showList, Ticked } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, go, signedIn, type Visit, withActor } from '../../page.ts';
import { button, field, form, hidden, mark, panel } from '../../parts.ts';
import { DELIVERY_FILTERS, deliveryList } from './deliveries.ts';
import { eventBoxes, rateMark, stateMark } from './webhooks.ts';

const ONE = { params: z.object({ id: z.uuid() }) } as const;
const CHANGE = {
  ...ONE,
  back: ({ params }: { params: { id: string } }): string => `/webhooks/${params.id}`,
} as const;

/** Returns a webhook. Throws NOT_FOUND if the viewer may not use this route for its account. */
async function webhookFor(visit: Visit, orm: Orm, id: string): Promise<Webhook> {
  const webhook = await findWebhook(orm.em.fork(), id);
  if (webhook && isAllowedIn(visit, webhook.accountId)) return webhook;
  throw new Refusal('NOT_FOUND', 'There is no webhook with this id.');
}

/** GET /webhooks/{id}: one webhook with its forms and deliveries. */
export const webhookPage = definePage({
  ...ONE,
  name: 'webhook',
  route: 'GET /webhooks/{id}',
  query: z.object({
    ...LIST_QUERY,
    status: DELIVERY_FILTERS.status,
    event: DELIVERY_FILTERS.event,
  }),
  async handle({ params, query, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const webhook = await webhookFor(visit, deps.orm, params.id);
    const em = deps.orm.em.fork();
    const { name } = await requireAccount(em, webhook.accountId);
    const fare = (await readWebhookHealth(em, [webhook.id], visit.now)).get(webhook.id);
    const { viewer } = signedIn(visit);
    const isThere = webhook.removedAt === null;
    const mayChange = isThere && mayIn(viewer, webhook.accountId, 'POST /webhooks/{id}/change');
    const mayRun = isThere && mayIn(viewer, webhook.accountId, 'GET /runs/new');
    const list = deliveryList(visit, em, {
      path: `/webhooks/${webhook.id}`,
      seen: null,
      query,
      fixed: { webhookId: webhook.id },
      filters: ['status', 'event'],
    });
    const heading = html`<h2 id="deliveries">${words.deliveries}</h2>`;
    return showList(visit, deps, {
      ...list,
      title: words.webhook,
      above: html`${facts(visit, webhook, name, fare)}${mayChange && forms(visit, webhook)}${heading}${
        mayRun && againForm(visit, webhook.id)
      }`,
      live: ['deliveries'],
    });
  },
});

function facts(visit: Visit, webhook: Webhook, account: string, fare: WebhookHealth | undefined): Html {
  const { webhooks: words } = visit.texts;
  const rows: [string, Html | string][] = [
    [words.url, html`<span class="url">${webhook.url}</span>`],
    [words.account, account],
    [words.events, webhook.events.join(', ')],
    [words.status, stateMark(visit, webhook)],
    [words.created, moment(webhook.createdAt)],
  ];
  if (fare) {
    rows.push([words.day, rateMark(visit, fare.day)], [words.week, rateMark(visit, fare.week)]);
    if (fare.retried > 0) rows.push([words.retried, mark(figure(fare.retried, visit.texts), 'wait')]);
  }
  const { previousSecretUntil: until } = webhook;
  if (until && until > visit.now) rows.push([words.secretUntil, moment(until)]);
  return panel(null, factList(rows));
}

/** Renders the link to the preview of a bulk run over failed deliveries, all or since a day. */
function againForm({ texts }: Visit, id: string): Html {
  const content = [
    hidden('kind', 'redeliver'),
    hidden('webhook', id),
    field(texts.runs.undeliveredSince, { name: 'since', type: 'date', required: false }),
    html`<div class="buttons">${button(texts.webhooks.redeliverUndelivered)}</div>`,
  ];
  return html`<form class="filters" method="get" action="/runs/new">${content}</form>`;
}

/** Renders pairs of name and value. */
export const factList = (rows: readonly (readonly [string, Html | string])[]): Html =>
  html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

function forms(visit: Visit, webhook: Webhook): Html {
  const { webhooks: words } = visit.texts;
  const { id, enabled } = webhook;
  const act = (title: string, about: string, path: string, content: Html): Html =>
    panel(title, form(visit, `/webhooks/${id}/${path}`, html`<p>${about}</p>${content}`));
  const url = field(words.url, { name: 'url', value: webhook.url, maxlength: 2_048 });
  const seen = hidden('seen', webhook.previousSecretUntil?.toISOString() ?? '');
  const sure = html`<label class="field"><input type="checkbox" name="sure" value="yes" required> ${words.removeSure}</label>`;
  return html`<div class="panels"><div>
${act(words.change, words.changeAbout, 'change', html`${url}${eventBoxes(visit, webhook.events)}${button(words.changeGo)}`)}
</div><div>
${act(words.test, words.testAbout, 'test', button(words.testGo))}
${act(words.secret, words.secretAbout, 'secret', html`${seen}${button(words.secretGo)}`)}
${
  enabled
    ? act(
        words.disable,
        words.disableAbout,
        'enabled',
        html`<input type="hidden" name="enabled" value="no">${button(words.disable)}`,
      )
    : act(
        words.enable,
        words.enableAbout,
        'enabled',
        html`<input type="hidden" name="enabled" value="yes">${button(words.enable)}`,
      )
}
${act(words.remove, words.removeAbout, 'remove', html`${sure}${button(words.remove)}`)}
</div></div>`;
}

/** POST /webhooks/{id}/change: changes its URL and events. */
export const sendWebhookChange = definePage({
  ...CHANGE,
  name: 'webhook-change',
  route: 'POST /webhooks/{id}/change',
  form: z.object({ url: z.string().max(4_000), event: Ticked }),
  async handle({ params, form: { url, event: events }, visit }, deps) {
    const { id: webhookId } = await webhookFor(visit, deps.orm, params.id);
    await updateWebhook(withActor(deps, visit), { webhookId, url: url.trim(), events });
    return go(`/webhooks/${webhookId}`, { kind: 'done', text: visit.texts.webhooks.changed });
  },
});

/** POST /webhooks/{id}/enabled: enables or disables it for new events. */
export const sendWebhookEnabled = definePage({
  ...CHANGE,
  name: 'webhook-enabled',
  route: 'POST /webhooks/{id}/enabled',
  form: z.object({ enabled: z.enum(['yes', 'no']) }),
  async handle({ params, form: sent, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const { id: webhookId } = await webhookFor(visit, deps.orm, params.id);
    const enabled = sent.enabled === 'yes';
    await updateWebhook(withActor(deps, visit), { webhookId, enabled });
    const text = enabled ? words.enabledDone : words.disabledDone;
    return go(`/webhooks/${webhookId}`, { kind: 'done', text });
  },
});

/** POST /webhooks/{id}/test: sends webhook.test, and redirects to its delivery. */
export const sendWebhookTest = definePage({
  ...CHANGE,
  name: 'webhook-test',
  route: 'POST /webhooks/{id}/test',
  async handle({ params, visit }, deps) {
    const { id: webhookId } = await webhookFor(visit, deps.orm, params.id);
    const { id } = await testWebhook(withActor(deps, visit), { webhookId });
    return go(`/deliveries/${id}`, { kind: 'done', text: visit.texts.webhooks.tested });
  },
});

/** POST /webhooks/{id}/secret: creates a new secret and shows it once. */
export const sendWebhookSecret = definePage({
  ...CHANGE,
  name: 'webhook-secret',
  route: 'POST /webhooks/{id}/secret',
  form: z.object({ seen: z.union([z.literal(''), z.iso.datetime()]) }),
  async handle({ params, form: sent, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const { id: webhookId, url } = await webhookFor(visit, deps.orm, params.id);
    const seen = sent.seen === '' ? null : new Date(sent.seen);
    const { secret, webhook } = await rotateWebhookSecret(withActor(deps, visit), { webhookId, seen });
    const { previousSecretUntil: until } = webhook;
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout,
      secret,
      facts: html`<p><span class="url">${url}</span>${until && html`<br>${words.secretUntil} ${moment(until)}`}</p>`,
      back: link(`/webhooks/${webhookId}`),
    });
  },
});

/** POST /webhooks/{id}/remove. */
export const sendWebhookRemove = definePage({
  ...CHANGE,
  name: 'webhook-remove',
  route: 'POST /webhooks/{id}/remove',
  form: z.object({ sure: z.literal('yes') }),
  async handle({ params, visit }, deps) {
    const { id: webhookId, accountId } = await webhookFor(visit, deps.orm, params.id);
    await removeWebhook(withActor(deps, visit), { webhookId });
    const to = link('/webhooks', { account: accountId });
    return go(to, { kind: 'done', text: visit.texts.webhooks.removed });
  },
});
