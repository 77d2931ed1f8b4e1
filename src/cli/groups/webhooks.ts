import * as z from 'zod';
import { startRun } from '../../commands/operations/runs.ts';
import { redeliver } from '../../commands/webhooks/redeliver.ts';
import {
  addWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  type WebhookCommandDeps,
} from '../../commands/webhooks/webhooks.ts';
import type { Webhook } from '../../db/entities/webhooks.ts';
import { countRunTargets } from '../../db/operations/runTargets.ts';
import { requireAccount } from '../../db/people/accounts.ts';
import { findDelivery, listDeliveryAttempts } from '../../db/webhooks/deliveries.ts';
import type { ListedDelivery } from '../../db/webhooks/deliveryList.ts';
import { findEventBodies } from '../../db/webhooks/events.ts';
import { RUN_REASON_LENGTH } from '../../domain/operations/run.ts';
import { textSchema } from '../../domain/values/text.ts';
import { EVENT_NAMES, SELECTABLE_EVENTS } from '../../domain/webhooks/events.ts';
import { Refusal } from '../../errors.ts';
import { DELIVERIES, WEBHOOKS } from '../../lists/deliveries.ts';
import { AccountIdInput, flagOption, optionalInput, sinceOption } from '../inputs.ts';
import { listVerb } from '../listVerb.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';
import { runRow } from './bulkRuns.ts';

const WEBHOOK = '0c0e1ab1-0000-4000-8000-000000000002';
const WebhookId = z.string().describe('id of the webhook');
const URL_ABOUT = 'where events are sent: https, a public name, port 443 or from 1024 up';
const Url = z.string().describe(URL_ABOUT);
const EVENT_ABOUT = `an event to send; repeat for more: ${SELECTABLE_EVENTS.join(', ')}`;
const Events = z.array(z.string()).describe(EVENT_ABOUT);

const webhookRow = (webhook: Webhook) => ({
  webhook_id: webhook.id,
  account_id: webhook.accountId,
  url: webhook.url,
  events: webhook.events,
  enabled: webhook.enabled,
  disabled_reason: webhook.disabledReason ?? null,
  created_at: webhook.createdAt.toISOString(),
});

const withSealer = (deps: CliDeps): WebhookCommandDeps => ({ ...deps, sealer: deps.sealer() });

export const webhookGroup = verbGroup('webhook', 'Webhooks of accounts: their servers and events', {
  'add ACCOUNT': actingVerb({
    summary: 'Add a webhook to an account; its secret is shown only once',
    takes: { account: AccountIdInput, url: Url, event: Events },
    examples: [
      '0c0e1ab1-0000-4000-8000-000000000001 --url https://example.com/cfe --event efactura.login --event cfe.updated',
    ],
    async run(deps, { account: accountId, url, event: events }) {
      const { webhook, secret } = await addWebhook(withSealer(deps), { accountId, url, events });
      return { ...webhookRow(webhook), secret };
    },
  }),
  'list ACCOUNT': listVerb(WEBHOOKS, {
    summary: 'List the webhooks of an account, newest first, with the results of their deliveries',
    takes: { account: AccountIdInput },
    examples: ['0c0e1ab1-0000-4000-8000-000000000001'],
    columns: 'webhook_id url events enabled disabled_reason day_failed week_failed created_at',
    async search({ orm, clock }, { account }) {
      return { accounts: [(await requireAccount(orm.em.fork(), account)).id], now: clock() };
    },
  }),
  'update WEBHOOK': actingVerb({
    summary: 'Change a webhook’s address or events, enable or disable it',
    takes: {
      webhook: WebhookId,
      url: optionalInput(Url, URL_ABOUT),
      event: optionalInput(Events, `${EVENT_ABOUT}; replaces the current ones`),
      enable: flagOption('send new events'),
      disable: flagOption('send no new events; pending deliveries continue'),
    },
    examples: [`${WEBHOOK} --disable`, `${WEBHOOK} --url https://example.com/new`],
    usageFault({ url, event, enable, disable }) {
      if (enable && disable) return 'give either --enable or --disable, not both';
      const hasNoChange = [url, event, enable, disable].every((value) => value === undefined);
      return hasNoChange ? 'give at least one change: --url, --event, --enable or --disable' : undefined;
    },
    async run(deps, { webhook: webhookId, url, event: events, enable, disable }) {
      const enabled = enable ? true : disable ? false : undefined;
      return webhookRow(await updateWebhook(withSealer(deps), { webhookId, url, events, enabled }));
    },
  }),
  'rotate-secret WEBHOOK': actingVerb({
    summary: 'Create a new secret, shown only once; the old one also signs for 24 hours',
    takes: { webhook: WebhookId },
    examples: [WEBHOOK],
    async run(deps, { webhook: webhookId }) {
      const { webhook, secret } = await rotateWebhookSecret(withSealer(deps), { webhookId });
      const until = webhook.previousSecretUntil?.toISOString() ?? null;
      return { ...webhookRow(webhook), secret, previous_secret_until: until };
    },
  }),
  'remove WEBHOOK': actingVerb({
    summary: 'Remove a webhook; its deliveries stay on record',
    takes: { webhook: WebhookId },
    examples: [WEBHOOK],
    async run(deps, { webhook: webhookId }) {
      await removeWebhook(withSealer(deps), { webhookId });
      return { webhook_id: webhookId, removed: true };
    },
  }),
  'test WEBHOOK': actingVerb({
    summary: 'Send webhook.test; follow it with `delivery show`',
    takes: { webhook: WebhookId },
    examples: [WEBHOOK],
    run: async (deps, { webhook: webhookId }) =>
      showDelivery(deps, (await testWebhook(withSealer(deps), { webhookId })).id),
  }),
});

const DELIVERY = '0c0e1ab1-0000-4000-8000-000000000003';
const DELIVERY_ABOUT = 'id of the delivery, sent to the receiver as webhook-id';
const DeliveryId = z.string().describe(DELIVERY_ABOUT);

/** Returns deliveries in the given order, each with its attempts and the exact body. */
async function deliveryRows(
  { orm }: CliDeps,
  deliveries: readonly Pick<
    ListedDelivery,
    'id' | 'webhookId' | 'event' | 'status' | 'createdAt' | 'eventId'
  >[],
): Promise<OutputRow[]> {
  const em = orm.em.fork();
  const ids = deliveries.map(({ id }) => id);
  const attempts = Map.groupBy(await listDeliveryAttempts(em, ids), ({ deliveryId }) => deliveryId);
  const eventIds = deliveries.map(({ eventId }) => eventId);
  const bodies = await findEventBodies(em, eventIds);
  return deliveries.map(({ id, webhookId, event, eventId, status, createdAt }) => ({
    delivery_id: id,
    webhook_id: webhookId,
    event,
    status,
    created_at: createdAt.toISOString(),
    attempts: (attempts.get(id) ?? []).map((attempt) => ({
      at: attempt.at.toISOString(),
      http_status: attempt.httpStatus ?? null,
      error: attempt.error ?? null,
      milliseconds: attempt.milliseconds,
      answer: attempt.answer ?? null,
    })),
    body: bodies.get(eventId) ?? null,
  }));
}

async function showDelivery(deps: CliDeps, deliveryId: string): Promise<OutputRow> {
  const found = await findDelivery(deps.orm.em.fork(), deliveryId);
  if (!found) throw new Refusal('NOT_FOUND', `There is no delivery ${deliveryId}.`);
  const { id, webhookId, eventId, eventName, status, createdAt } = found;
  const [row = {}] = await deliveryRows(deps, [
    { id, webhookId, eventId, event: eventName, status, createdAt },
  ]);
  return row;
}

export const deliveryGroup = verbGroup('delivery', 'Events on their way to receivers, and their attempts', {
  list: listVerb(DELIVERIES, {
    summary: 'List deliveries, newest first',
    examples: [
      '--status FAILED',
      '--rut 219999830019 --cfe 101-1',
      '--event efactura.login --limit 10 --json',
    ],
    limit: [1_000, 50],
    columns: 'delivery_id webhook_id event status created_at',
    rows: deliveryRows,
    usageFault: ({ cfe, rut }) =>
      cfe !== undefined && rut === undefined ? '--cfe needs --rut, the enterprise of the CFE' : undefined,
    search: (_, filter) => ({ ...filter, accounts: null }),
  }),
  'show DELIVERY': readVerb({
    summary: 'Show one delivery, with every attempt and the sent body',
    takes: { delivery: DeliveryId },
    examples: [DELIVERY],
    run: (deps, { delivery: id }) => showDelivery(deps, id),
  }),
  'redeliver DELIVERY': actingVerb({
    summary:
      'Send a delivery again at once, or in a bulk run all undelivered ones of a webhook: same id, same bytes, a new retry schedule',
    takes: {
      delivery: optionalInput(DeliveryId, DELIVERY_ABOUT),
      webhook: optionalInput(
        z.uuid(),
        'all undelivered ones to this webhook, including those waiting for their next retry',
      ),
      since: sinceOption(
        'of those, only deliveries that failed or were last refused from this time on: a day in Montevideo, or a date and time',
      ),
      event: optionalInput(z.enum(EVENT_NAMES), 'of those, only this event'),
      reason: optionalInput(
        textSchema(RUN_REASON_LENGTH),
        'why; kept in the audit. A bulk run needs one',
        'text',
      ),
      dryRun: flagOption('only count what a bulk run would send again'),
    },
    examples: [
      DELIVERY,
      `--webhook ${WEBHOOK} --since 2026-11-20T15:00:00Z --reason "their server was down"`,
    ],
    usageFault(input) {
      const isBulk = input['webhook'] !== undefined;
      if (isBulk === (input['delivery'] !== undefined))
        return 'give DELIVERY, or --webhook for all undelivered ones';
      if (isBulk) return input['reason'] === undefined ? 'a bulk run needs its --reason' : undefined;
      const filter = ['since', 'event', 'dryRun'].find((name) => input[name] !== undefined);
      return filter === undefined ? undefined : 'DELIVERY cannot be combined with filters';
    },
    async run(deps, { delivery: deliveryId, webhook, since, event, reason, dryRun }) {
      if (deliveryId !== undefined) {
        await redeliver(deps, { deliveryId, reason });
        return showDelivery(deps, deliveryId);
      }
      const filter = { webhook, event, since: since?.toISOString() };
      if (dryRun) return { total: await countRunTargets(deps.orm.em.fork(), 'redeliver', filter) };
      const input = { kind: 'redeliver', filter, reason: reason ?? '', accounts: null } as const;
      return runRow(await startRun(deps, input));
    },
  }),
});
