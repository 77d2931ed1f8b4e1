import { redeliver } from '../../../commands/webhooks/redeliver.ts';
import { type Delivery, type DeliveryAttempt, Event, type Webhook } from '../../../db/entities/webhooks.ts';
import type { Orm } from '../../../db/orm.ts';
import { requireAccount } from '../../../db/people/accounts.ts';
import { findDelivery, listDeliveryAttempts } from '../../../db/webhooks/deliveries.ts';
import { findWebhook } from '../../../db/webhooks/webhooks.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayUseForAccount } from '../../access/permissions.ts';
import { isAllowedForAccount } from '../../accounts.ts';
import { operatorsReason } from '../../fields.ts';
import { defineForm, formWords } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { definePage, show, signedIn, type Visit } from '../../page.ts';
import { factList, panel, renderEmpty, table } from '../../parts.ts';
import { deliveryMark, describeResult, nextAttempt, renderEnterprise } from './deliveries.ts';

interface DeliveryTarget {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
}

/** Returns a delivery. Throws NOT_FOUND if the viewer may not use this route for its account. */
async function requireVisibleDelivery(visit: Visit, orm: Orm, id: string): Promise<DeliveryTarget> {
  const em = orm.em.fork();
  const delivery = await findDelivery(em, id);
  const webhook = delivery && (await findWebhook(em, delivery.webhookId));
  if (webhook && isAllowedForAccount(visit, webhook.accountId)) return { delivery, webhook };
  throw new Refusal('NOT_FOUND', 'There is no delivery with this id.');
}

/** GET /deliveries/{id}: one event for one webhook, with each attempt. */
export const deliveryPage = definePage({
  name: 'delivery',
  route: 'GET /deliveries/{id}',
  async handle({ params, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const { delivery, webhook } = await requireVisibleDelivery(visit, deps.orm, params.id);
    const em = deps.orm.em.fork();
    const event = await em.findOneOrFail(Event, { id: delivery.eventId });
    const attempts = await listDeliveryAttempts(em, [delivery.id]);
    const { name } = await requireAccount(em, webhook.accountId);
    const mayRedeliver =
      webhook.removedAt === null &&
      mayUseForAccount(signedIn(visit).viewer, webhook.accountId, redelivery.route);
    const requestBody = html`<pre class="bytes" tabindex="0" aria-label="${words.body}">${event.body}</pre>`;
    const body = [
      panel(words.facts, renderFacts(visit, { delivery, webhook, event, account: name })),
      panel(words.attempts, attemptsTable(visit, attempts)),
      mayRedeliver && redelivery.draw(visit, params),
      panel(words.body, requestBody),
    ];
    return show(`${words.delivery} ${delivery.eventName}`, html`${body}`, { live: ['deliveries'] });
  },
});

function renderFacts(
  visit: Visit,
  { delivery, webhook, event, account }: DeliveryTarget & { event: Event; account: string },
): Html {
  const { webhooks: words, environments } = visit.texts;
  const cfe = readCfeId(event);
  const next = nextAttempt(visit, delivery);
  const rows: [string, Html | string | false | null][] = [
    [words.status, deliveryMark(visit, delivery)],
    [words.event, html`<code>${delivery.eventName}</code>`],
    [words.webhook, html`<a href="/webhooks/${webhook.id}"><span class="url">${webhook.url}</span></a>`],
    [words.account, account],
    [words.enterprise, event.rut && renderEnterprise(visit, event.rut)],
    [words.productionOrSandbox, environments[event.environment]],
    [words.cfe, cfe && html`<a href="/cfes/${event.rut}/${event.environment}/${cfe}">${cfe}</a>`],
    [words.at, timeOf(delivery.createdAt)],
    [words.settled, delivery.settledAt && timeOf(delivery.settledAt)],
    [words.next, next],
    [words.id, html`<code>${delivery.id}</code>`],
  ];
  return factList(rows.filter(([, value]) => value));
}

/** Returns the cfe_id of an event; null if the event is not about a CFE. */
function readCfeId({ rut, body }: Event): string | null {
  const { data } = JSON.parse(body) as { data?: { cfe_id?: unknown } };
  const id = data?.cfe_id;
  return rut !== null && typeof id === 'string' && /^\d{3}-\d+$/.test(id) ? id : null;
}

function attemptsTable(visit: Visit, attempts: readonly DeliveryAttempt[]): Html {
  const { webhooks: words } = visit.texts;
  if (attempts.length === 0) return renderEmpty(words.attemptsNone);
  const rows = attempts.map(({ number, at, milliseconds, httpStatus, error, answer }) => [
    String(number),
    timeOf(at),
    `${figure(milliseconds, visit.texts)} ms`,
    describeResult(visit, httpStatus === null ? error : String(httpStatus)),
    answer === null
      ? null
      : answer === ''
        ? html`<span class="soft">${words.answerNone}</span>`
        : html`<details id="answer-${number}">
            <summary>${words.answer}</summary>
            <pre class="bytes">${answer}</pre>
          </details>`,
  ]);
  const heads = [words.number, words.triedAt, words.duration, words.result, words.answer];
  return html`${table(words.attempts, heads, rows, [0, 2])}
    <p class="soft">${words.keptFor}</p>`;
}

export const redelivery = defineForm('POST /deliveries/{id}/redeliver', {
  as: 'panel',
  words: (texts) => ({ ...formWords(texts.webhooks, 'redeliver'), done: texts.webhooks.redelivered }),
  fields: (texts) => ({ reason: operatorsReason(texts) }),
  find: ({ params: { id }, visit }, { orm }) => requireVisibleDelivery(visit, orm, id),
  back: ({ params: { id } }) => `/deliveries/${id}`,
  command: ({ params: { id }, form }, deps) => redeliver(deps, { deliveryId: id, ...form }),
});

/** Renders the form in a table's row: a button that, for operators, first asks for the reason. */
export const redeliverInRow = (visit: Visit, id: string, title: string): Html =>
  redelivery.draw(
    visit,
    { id },
    signedIn(visit).viewer.kind === 'operator'
      ? { as: 'folded', title, about: '', isQuiet: true }
      : { as: 'inline', submit: title, about: '', isQuiet: true },
  );
