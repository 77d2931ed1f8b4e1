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
import { SELECTABLE_EVENTS } from '../../../domain/webhooks/events.ts';
import { Refusal } from '../../../errors.ts';
import { DELIVERIES } from '../../../lists/deliveries.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayUseForAccount } from '../../access/permissions.ts';
import { isAllowedForAccount } from '../../accounts.ts';
import { boxes, confirm, state, subject, text } from '../../fields.ts';
import { filterFields } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { showList } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, redirect, signedIn, type Visit } from '../../page.ts';
import { badge, button, factList, hidden, panel } from '../../parts.ts';
import { deliveryListOptions, OUTCOME_FILTERS, outcomeFilterTexts, WebhookDeliveries } from './deliveries.ts';
import { MAX_URL, rateMark, stateMark } from './webhooks.ts';

/** Returns a webhook. Throws NOT_FOUND if the viewer may not use this route for its account. */
async function requireVisibleWebhook(visit: Visit, orm: Orm, id: string): Promise<Webhook> {
  const webhook = await findWebhook(orm.em.fork(), id);
  if (webhook && isAllowedForAccount(visit, webhook.accountId)) return webhook;
  throw new Refusal('NOT_FOUND', 'There is no webhook with this id.');
}

/** GET /webhooks/{id}: one webhook with its forms and deliveries. */
export const webhookPage = definePage({
  name: 'webhook',
  route: 'GET /webhooks/{id}',
  query: WebhookDeliveries,
  async handle({ params, query, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const webhook = await requireVisibleWebhook(visit, deps.orm, params.id);
    const em = deps.orm.em.fork();
    const { name } = await requireAccount(em, webhook.accountId);
    const health = (await readWebhookHealth(em, [webhook.id], visit.now)).get(webhook.id);
    const { viewer } = signedIn(visit);
    const exists = webhook.removedAt === null;
    const mayChange = exists && mayUseForAccount(viewer, webhook.accountId, webhookChange.route);
    const mayRun = exists && mayUseForAccount(viewer, webhook.accountId, 'GET /runs/new');
    const heading = html`<h2 id="deliveries">${words.deliveries}</h2>`;
    return showList(visit, deps, DELIVERIES, {
      ...deliveryListOptions(visit, { withWebhook: false, withAccount: false }),
      title: words.webhook,
      label: words.deliveries,
      path: `/webhooks/${webhook.id}`,
      query,
      search: { status: query.status, event: query.event, webhook: webhook.id, accounts: null },
      filters: filterFields(OUTCOME_FILTERS, outcomeFilterTexts(visit)),
      above: html`${renderFacts(visit, webhook, name, health)}${mayChange && renderForms(visit, webhook)}${heading}${
        mayRun && resendForm(visit, webhook.id)
      }`,
      live: ['deliveries'],
    });
  },
});

function renderFacts(
  visit: Visit,
  webhook: Webhook,
  account: string,
  health: WebhookHealth | undefined,
): Html {
  const { webhooks: words } = visit.texts;
  const rows: [string, Html | string][] = [
    [words.url, html`<span class="url">${webhook.url}</span>`],
    [words.account, account],
    [words.events, webhook.events.join(', ')],
    [words.status, stateMark(visit, webhook)],
    [words.created, timeOf(webhook.createdAt)],
  ];
  if (health) {
    rows.push([words.day, rateMark(visit, health.day)], [words.week, rateMark(visit, health.week)]);
    if (health.retried > 0) rows.push([words.retried, badge(figure(health.retried, visit.texts), 'wait')]);
  }
  const { previousSecretUntil: until } = webhook;
  if (until && until > visit.now) rows.push([words.secretUntil, timeOf(until)]);
  return panel(null, factList(rows));
}

/** Renders a form that opens the preview of a bulk run over failed deliveries, all or since a day. */
const resendForm = ({ texts }: Visit, id: string): Html =>
  html`<form class="filters" method="get" action="/runs/new">
    ${hidden('kind', 'redeliver')}${hidden('webhook', id)}
    <label class="field"><span>${texts.runs.undeliveredSince}</span><input name="since" type="date" /></label>
    <div class="buttons">${button(texts.webhooks.redeliverUndelivered)}</div>
  </form>`;

function renderForms(visit: Visit, { id, url, events, enabled, previousSecretUntil }: Webhook): Html {
  const { webhooks: words } = visit.texts;
  const seen = previousSecretUntil?.toISOString() ?? '';
  const switchDrawing = enabled
    ? { title: words.disable, about: words.disableAbout, values: { enabled: 'no' } }
    : { title: words.enable, about: words.enableAbout, values: { enabled: 'yes' } };
  return html`<div class="panels">
    <div>${webhookChange.draw(visit, { id }, { values: { url, event: events } })}</div>
    <div>
      ${sendWebhookTest.draw(visit, { id })} ${newWebhookSecret.draw(visit, { id }, { values: { seen } })}
      ${webhookSwitch.draw(visit, { id }, switchDrawing)} ${webhookRemoval.draw(visit, { id })}
    </div>
  </div>`;
}

const FORM = {
  as: 'panel',
  find: ({ params: { id }, visit }: { params: { id: string }; visit: Visit }, { orm }: { orm: Orm }) =>
    requireVisibleWebhook(visit, orm, id),
  back: ({ params }: { params: { id: string } }): string => `/webhooks/${params.id}`,
} as const;

export const webhookChange = defineForm('POST /webhooks/{id}/change', {
  ...FORM,
  words: ({ webhooks: words }) => ({ ...formWords(words, 'change'), done: words.changed }),
  fields: ({ webhooks: words }) => ({
    url: text(words.url, { maxlength: MAX_URL }),
    event: boxes(words.events, SELECTABLE_EVENTS),
  }),
  command: ({ target, form: { url, event: events } }, deps) =>
    updateWebhook(deps, { webhookId: target.id, url, events }),
});

/** Enables or disables a webhook for new events. */
export const webhookSwitch = defineForm('POST /webhooks/{id}/enabled', {
  ...FORM,
  fields: () => ({ enabled: subject(z.enum(['yes', 'no'])) }),
  async run({ target, form, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const enabled = form.enabled === 'yes';
    await updateWebhook(deps, { webhookId: target.id, enabled });
    return enabled ? words.enabledDone : words.disabledDone;
  },
});

/** Sends webhook.test, and redirects to its delivery. */
export const sendWebhookTest = defineForm('POST /webhooks/{id}/test', {
  ...FORM,
  words: ({ webhooks: words }) => formWords(words, 'test'),
  async run({ target, visit }, deps) {
    const { id } = await testWebhook(deps, { webhookId: target.id });
    return redirect(`/deliveries/${id}`, { kind: 'done', text: visit.texts.webhooks.tested });
  },
});

/** Creates a new secret and shows it once. */
export const newWebhookSecret = defineForm('POST /webhooks/{id}/secret', {
  ...FORM,
  words: ({ webhooks: words }) => formWords(words, 'secret'),
  fields: () => ({ seen: state(z.union([z.literal(''), z.iso.datetime()])) }),
  async run({ target, form, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const { id: webhookId, url } = target;
    const seen = form.seen === '' ? null : new Date(form.seen);
    const { secret, webhook } = await rotateWebhookSecret(deps, { webhookId, seen });
    const { previousSecretUntil: until } = webhook;
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout,
      secret,
      facts: html`<p>
        <span class="url">${url}</span>${until && html`<br />${words.secretUntil} ${timeOf(until)}`}
      </p>`,
      back: link(`/webhooks/${webhookId}`),
    });
  },
});

export const webhookRemoval = defineForm('POST /webhooks/{id}/remove', {
  ...FORM,
  words: ({ webhooks: words }) => formWords(words, 'remove'),
  fields: ({ webhooks: words }) => ({ sure: confirm(words.removeSure) }),
  async run({ target: { id, accountId }, visit }, deps) {
    await removeWebhook(deps, { webhookId: id });
    return redirect(link('/webhooks', { account: accountId }), {
      kind: 'done',
      text: visit.texts.webhooks.removed,
    });
  },
});
