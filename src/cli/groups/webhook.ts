import * as z from 'zod';
import { addWebhook } from '../../commands/addWebhook.ts';
import { removeWebhook } from '../../commands/removeWebhook.ts';
import { rotateWebhookSecret } from '../../commands/rotateWebhookSecret.ts';
import type { WebhookCommandDeps } from '../../commands/steps/webhook.ts';
import { testWebhook } from '../../commands/testWebhook.ts';
import { updateWebhook } from '../../commands/updateWebhook.ts';
import { requireAccount } from '../../db/accounts.ts';
import type { Webhook } from '../../db/entities/Webhook.ts';
import { listWebhooks } from '../../db/webhooks.ts';
import { WEBHOOK_EVENTS } from '../../domain/webhook.ts';
import { type CliDeps, defineVerb, type Group } from '../verb.ts';
import { deliveryRows } from './delivery.ts';

const EXAMPLE_ID = '0c0e1ab1-0000-4000-8000-000000000002';
const ARGS = { WEBHOOK: 'id of the webhook' };
const URL_ABOUT = 'where events are sent: https, a public name, port 443 or from 1024 up';
const EVENT_ABOUT = `an event to send; repeat for more: ${WEBHOOK_EVENTS.join(', ')}`;

const row = (webhook: Webhook) => ({
  webhook_id: webhook.id,
  account_id: webhook.accountId,
  url: webhook.url,
  events: webhook.events,
  enabled: webhook.enabled,
  disabled_reason: webhook.disabledReason ?? null,
  created_at: webhook.createdAt.toISOString(),
});

const commandDeps = (deps: CliDeps): WebhookCommandDeps => ({ ...deps, sealer: deps.sealer() });

const add = defineVerb({
  name: 'add',
  summary: 'Add a webhook to an account; its secret is shown only once',
  args: { ACCOUNT: 'id of the account' },
  options: [
    { flags: '--url <url>', about: URL_ABOUT, required: true },
    { flags: '--event <event...>', about: EVENT_ABOUT, required: true },
  ],
  examples: [
    '0c0e1ab1-0000-4000-8000-000000000001 --url https://example.com/cfe --event efactura.login --event cfe.updated',
  ],
  input: z.strictObject({ account: z.string(), url: z.string(), event: z.array(z.string()) }),
  async run(deps, { account: accountId, url, event: events }) {
    const { webhook, secret } = await addWebhook(commandDeps(deps), { accountId, url, events });
    return { ...row(webhook), secret };
  },
});

const list = defineVerb({
  name: 'list',
  summary: 'List the webhooks of an account',
  reads: true,
  args: { ACCOUNT: 'id of the account' },
  examples: ['0c0e1ab1-0000-4000-8000-000000000001'],
  input: z.strictObject({ account: z.string() }),
  async run({ orm }, { account }) {
    const em = orm.em.fork();
    return (await listWebhooks(em, (await requireAccount(em, account)).id)).map(row);
  },
});

const update = defineVerb({
  name: 'update',
  summary: 'Change a webhook’s address or events, enable or disable it',
  args: ARGS,
  options: [
    { flags: '--url <url>', about: URL_ABOUT },
    { flags: '--event <event...>', about: `${EVENT_ABOUT}; replaces the present ones` },
    { flags: '--enable', about: 'send new events' },
    { flags: '--disable', about: 'send no new events; deliveries under way go on' },
  ],
  examples: [`${EXAMPLE_ID} --disable`, `${EXAMPLE_ID} --url https://example.com/new`],
  input: z.strictObject({
    webhook: z.string(),
    url: z.string().optional(),
    event: z.array(z.string()).optional(),
    enable: z.literal(true).optional(),
    disable: z.literal(true).optional(),
  }),
  usageFault({ url, event, enable, disable }) {
    if (enable && disable) return 'give either --enable or --disable, not both';
    const nothing = [url, event, enable, disable].every((given) => given === undefined);
    return nothing ? 'give what to change: --url, --event, --enable or --disable' : undefined;
  },
  async run(deps, { webhook: webhookId, url, event: events, enable, disable }) {
    const enabled = enable ? true : disable ? false : undefined;
    return row(await updateWebhook(commandDeps(deps), { webhookId, url, events, enabled }));
  },
});

const rotate = defineVerb({
  name: 'rotate-secret',
  summary: 'Make a new secret, shown only once; the old one also signs for 24 hours',
  args: ARGS,
  examples: [EXAMPLE_ID],
  input: z.strictObject({ webhook: z.string() }),
  async run(deps, { webhook: webhookId }) {
    const { webhook, secret } = await rotateWebhookSecret(commandDeps(deps), { webhookId });
    return {
      ...row(webhook),
      secret,
      previous_secret_until: webhook.previousSecretUntil?.toISOString() ?? null,
    };
  },
});

const remove = defineVerb({
  name: 'remove',
  summary: 'Remove a webhook; its deliveries stay on record',
  args: ARGS,
  examples: [EXAMPLE_ID],
  input: z.strictObject({ webhook: z.string() }),
  async run(deps, { webhook: webhookId }) {
    await removeWebhook(commandDeps(deps), { webhookId });
    return { webhook_id: webhookId, removed: true };
  },
});

const test = defineVerb({
  name: 'test',
  summary: 'Send webhook.test; follow it with `delivery show`',
  args: ARGS,
  examples: [EXAMPLE_ID],
  input: z.strictObject({ webhook: z.string() }),
  async run(deps, { webhook: webhookId }) {
    const delivery = await testWebhook(commandDeps(deps), { webhookId });
    const [shown] = await deliveryRows(deps, [delivery]);
    return shown ?? {};
  },
});

/** `cfe webhook`: which servers of accounts get which events. */
export const webhook: Group = {
  name: 'webhook',
  summary: 'Webhooks of accounts: which servers get which events',
  verbs: [add, list, update, rotate, remove, test],
};
