import * as z from 'zod';
import { redeliver as redeliverCommand } from '../../commands/redeliver.ts';
import { startRun } from '../../commands/startRun.ts';
import { findDelivery, listAttempts, listDeliveries } from '../../db/deliveries.ts';
import type { Delivery } from '../../db/entities/Delivery.ts';
import { bodiesOf } from '../../db/events.ts';
import { countMatching } from '../../db/matching.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { RUN_REASON_LENGTH } from '../../domain/run.ts';
import { Rut } from '../../domain/rut.ts';
import { text } from '../../domain/text.ts';
import { DELIVERY_STATUSES, WEBHOOK_EVENTS } from '../../domain/webhook.ts';
import { Refusal } from '../../errors.ts';
import { Since } from '../since.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';
import { runRow } from './run.ts';

const ARGS = { DELIVERY: 'id of the delivery, which the receiver gets as webhook-id' };
const EXAMPLES = ['0c0e1ab1-0000-4000-8000-000000000003'];
const DELIVERED_EVENTS = [...WEBHOOK_EVENTS, 'webhook.test'] as const;
const MOST = 1_000;
const USUAL = 50;

/** Deliveries as they are shown, in the order given, each with its attempts and the exact body. */
export async function deliveryRows({ orm }: CliDeps, deliveries: readonly Delivery[]): Promise<Row[]> {
  const em = orm.em.fork();
  const attempts = Map.groupBy(
    await listAttempts(
      em,
      deliveries.map(({ id }) => id),
    ),
    ({ deliveryId }) => deliveryId,
  );
  const bodies = await bodiesOf(
    em,
    deliveries.map(({ eventId }) => eventId),
  );
  return deliveries.map(({ id, webhookId, eventId, eventName, status, createdAt }) => ({
    delivery_id: id,
    webhook_id: webhookId,
    event: eventName,
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

async function oneOf(deps: CliDeps, deliveryId: string): Promise<Row> {
  const delivery = await findDelivery(deps.orm.em.fork(), deliveryId);
  if (!delivery) throw new Refusal('NOT_FOUND', `There is no delivery ${deliveryId}.`);
  const [shown] = await deliveryRows(deps, [delivery]);
  return shown ?? {};
}

const list = defineVerb({
  name: 'list',
  summary: 'List deliveries, newest first',
  reads: true,
  options: [
    { flags: '--webhook <webhook>', about: 'only deliveries to this webhook' },
    { flags: '--status <status>', about: 'only deliveries with this status', choices: DELIVERY_STATUSES },
    { flags: '--event <event>', about: 'only deliveries of this event' },
    { flags: '--rut <rut>', about: 'only deliveries of events about this enterprise' },
    { flags: '--cfe <cfe_id>', about: 'only deliveries of events about this CFE; needs --rut' },
    { flags: '--environment <environment>', about: 'only deliveries of events there', choices: ENVIRONMENTS },
    {
      flags: '--since <time>',
      about:
        'only deliveries made from then on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z',
    },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: ['--status FAILED', '--rut 219999830019 --cfe 101-1', '--event efactura.login --limit 10 --json'],
  columns: ['delivery_id', 'webhook_id', 'event', 'status', 'created_at'],
  input: z.strictObject({
    webhook: z.uuid().optional(),
    status: z.enum(DELIVERY_STATUSES).optional(),
    event: z.string().optional(),
    rut: Rut.optional(),
    cfe: z.string().optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    since: Since.optional(),
    limit: z.int().optional(),
  }),
  usageFault: (input) =>
    input['cfe'] !== undefined && input['rut'] === undefined
      ? '--cfe needs --rut, whose CFE it is'
      : undefined,
  async run(deps, { webhook: webhookId, cfe: cfeId, limit = USUAL, ...rest }) {
    const filter = { webhookId, cfeId, ...rest };
    return deliveryRows(deps, await listDeliveries(deps.orm.em.fork(), filter, limit));
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one delivery, with every attempt and what was sent',
  reads: true,
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ delivery: z.string() }),
  run: (deps, { delivery }) => oneOf(deps, delivery),
});

const redeliver = defineVerb({
  name: 'redeliver',
  summary:
    'Send one again, or as a bulk run all that failed to a webhook: same id, same bytes, a new schedule of retries',
  args: { '[DELIVERY]': ARGS.DELIVERY },
  options: [
    { flags: '--webhook <webhook>', about: 'all failed deliveries to this webhook' },
    {
      flags: '--since <time>',
      about: 'of those, only what was given up from then on: a day in Montevideo, or a date and time',
    },
    { flags: '--event <event>', about: 'of those, only this event' },
    { flags: '--reason <text>', about: 'why; kept in the audit. A bulk run needs one' },
    { flags: '--dry-run', about: 'only tell how many a bulk run would send again' },
  ],
  examples: [
    ...EXAMPLES,
    '--webhook 0c0e1ab1-0000-4000-8000-000000000002 --since 2026-11-20T15:00:00Z --reason "their server was down"',
  ],
  input: z.strictObject({
    delivery: z.string().optional(),
    webhook: z.uuid().optional(),
    since: Since.optional(),
    event: z.enum(DELIVERED_EVENTS).optional(),
    reason: text(RUN_REASON_LENGTH).optional(),
    dryRun: z.literal(true).optional(),
  }),
  usageFault(input) {
    const isBulk = input['webhook'] !== undefined;
    if (isBulk === (input['delivery'] !== undefined))
      return 'give DELIVERY, or --webhook for all that failed';
    if (isBulk) return input['reason'] === undefined ? 'a bulk run needs its --reason' : undefined;
    const filter = ['since', 'event', 'dryRun'].find((name) => input[name] !== undefined);
    return filter === undefined ? undefined : 'DELIVERY cannot be combined with filters';
  },
  async run(deps, { delivery: deliveryId, webhook, since, event, reason, dryRun }) {
    if (deliveryId !== undefined) {
      await redeliverCommand(deps, { deliveryId, reason });
      return oneOf(deps, deliveryId);
    }
    const filter = { webhook, event, since: since?.toISOString() };
    if (dryRun) return { total: await countMatching(deps.orm.em.fork(), 'redeliver', filter) };
    const input = { kind: 'redeliver', filter, reason: reason ?? '', seen: null } as const;
    return runRow(await startRun(deps, input));
  },
});

/** `cfe delivery`: events on their way to receivers. */
export const delivery: Group = {
  name: 'delivery',
  summary: 'Events on their way to receivers, and their attempts',
  verbs: [list, show, redeliver],
};
