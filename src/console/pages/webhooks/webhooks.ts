import * as z from 'zod';
import { addWebhook } from '../../../commands/webhooks/webhooks.ts';
import { requireAccount } from '../../../db/people/accounts.ts';
import type { DeliveryRate, ListedWebhook } from '../../../db/webhooks/webhooks.ts';
import { SELECTABLE_EVENTS } from '../../../domain/webhooks/events.ts';
import { Refusal } from '../../../errors.ts';
import { WEBHOOKS } from '../../../lists/deliveries.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayUseForAccount } from '../../access/permissions.ts';
import {
  AccountSearch,
  accountFilter,
  accountPagePath,
  chooseAccount,
  isAllowedForAccount,
  renderAccount,
  resolveAccountFilter,
} from '../../accounts.ts';
import { boxes, onceKey, subject, text } from '../../fields.ts';
import { LIST_QUERY } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge } from '../../parts.ts';

/** Limit in browsers; the command has another one. */
export const MAX_URL = 2_048;

/** GET /webhooks: an account's webhooks with their events and failures; for operators, those of all accounts. */
export const webhooksPage = definePage({
  name: 'webhooks',
  route: 'GET /webhooks',
  query: z.object({ ...LIST_QUERY, account: AccountSearch }),
  async handle({ query, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const { viewer } = signedIn(visit);
    const chosen = viewer.kind === 'member' ? chooseAccount(visit, query.account) : null;
    const selected = chosen
      ? { id: chosen.accountId }
      : await resolveAccountFilter(visit, deps, '/webhooks', query);
    if ('kind' in selected) return selected;
    const { id: accountId } = selected;
    const mayAdd = accountId !== undefined && mayUseForAccount(viewer, accountId, newWebhook.route);
    return showList(visit, deps, WEBHOOKS, {
      title: words.title,
      path: '/webhooks',
      query: { ...query, account: accountId },
      search: { accounts: accountId === undefined ? null : [accountId], now: visit.now },
      ...accountFilter(visit),
      headings: headingsOf(visit, chosen === null),
      href: ({ webhook }) => `/webhooks/${webhook.id}`,
      empty: chosen ? words.none : words.noneAnywhere,
      above: html`${chosen && renderAccount(visit, chosen)}`,
      below: html`<p class="soft">${words.sample}</p>
        ${mayAdd && newWebhook.draw(visit, {}, { values: { account: accountId } })}`,
      live: ['deliveries'],
    });
  },
});

function headingsOf(visit: Visit, withAccount: boolean): Headings<ListedWebhook, typeof WEBHOOKS.columns> {
  const { webhooks: words } = visit.texts;
  return {
    url: [words.url, ({ webhook }) => html`<span class="url">${webhook.url}</span>`],
    account: withAccount && words.account,
    events: [words.events, ({ webhook }) => webhook.events.join(', ')],
    enabled: [words.status, ({ webhook }) => stateMark(visit, webhook)],
    day_failed: figures(words.day, ({ health }) => rateMark(visit, health.day)),
    week_failed: figures(words.week, ({ health }) => rateMark(visit, health.week)),
    waiting_for_retry: figures(
      words.retried,
      ({ health }) => health.retried > 0 && badge(figure(health.retried, visit.texts), 'wait'),
    ),
    oldest_failed: [words.oldestFailed, ({ health }) => health.oldestFailed && timeOf(health.oldestFailed)],
  };
}

/** Renders the number of failed deliveries out of all finished ones. */
export function rateMark({ texts }: Visit, { failed, ended }: DeliveryRate): Html {
  const { webhooks: words, never } = texts;
  if (ended === 0) return html`${never}`;
  const text = words.rate(figure(failed, texts), figure(ended, texts));
  return failed === 0 ? badge(text, 'good') : badge(text, failed * 10 >= ended ? 'bad' : 'wait');
}

/** Renders whether a webhook gets new events, or why not. */
export function stateMark({ texts: { webhooks: words } }: Visit, webhook: ListedWebhook['webhook']): Html {
  if (webhook.removedAt !== null) return badge(words.removedMark, 'calm');
  if (webhook.enabled) return badge(words.enabled, 'good');
  return badge(webhook.disabledReason === 'gone' ? words.gone : words.disabled, 'wait');
}

/** Adds a webhook and shows its secret once. */
export const newWebhook = defineForm('POST /webhooks', {
  as: 'panel',
  words: ({ webhooks: words }) => formWords(words, 'add'),
  fields: ({ webhooks: words }) => ({
    account: subject(z.uuid()),
    once: onceKey(),
    url: text(words.url, { maxlength: MAX_URL, placeholder: words.urlHint }),
    event: boxes(words.events, SELECTABLE_EVENTS),
  }),
  back: ({ sent }) => accountPagePath('/webhooks', sent),
  async run({ form: { account: accountId, once: webhookId, url, event: events }, visit }, deps) {
    const { webhooks: words } = visit.texts;
    if (!isAllowedForAccount(visit, accountId)) throw new Refusal('NOT_FOUND', 'This account is not yours.');
    const { name } = await requireAccount(deps.orm.em.fork(), accountId);
    const { secret } = await addWebhook(deps, { accountId, url, events, webhookId });
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout,
      secret,
      facts: html`<p>${words.account} <strong>${name}</strong> · <span class="url">${url}</span></p>`,
      back: link(`/webhooks/${webhookId}`),
    });
  },
});
