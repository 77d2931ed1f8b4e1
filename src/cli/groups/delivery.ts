import * as z from 'zod';
import { redeliver as redeliverCommand } from '../../commands/redeliver.ts';
import { findDelivery, listAttempts, listDeliveries } from '../../db/deliveries.ts';
import type { Delivery } from '../../db/entities/Delivery.ts';
import { bodiesOf } from '../../db/events.ts';
import { DELIVERY_STATUSES } from '../../domain/webhook.ts';
import { Refusal } from '../../errors.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { DELIVERY: 'id of the delivery, which the receiver gets as webhook-id' };
const EXAMPLES = ['0c0e1ab1-0000-4000-8000-000000000003'];
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
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: ['--status FAILED', '--event efactura.login --limit 10 --json'],
  columns: ['delivery_id', 'webhook_id', 'event', 'status', 'created_at'],
  input: z.strictObject({
    webhook: z.uuid().optional(),
    status: z.enum(DELIVERY_STATUSES).optional(),
    event: z.string().optional(),
    limit: z.int().optional(),
  }),
  async run(deps, { webhook: webhookId, status, event, limit = USUAL }) {
    const filter = { webhookId, status, event };
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
  summary: 'Send it again: same id, same bytes, a new schedule of retries',
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ delivery: z.string() }),
  async run(deps, { delivery: deliveryId }) {
    await redeliverCommand(deps, { deliveryId });
    return oneOf(deps, deliveryId);
  },
});

/** `cfe delivery`: events on their way to receivers. */
export const delivery: Group = {
  name: 'delivery',
  summary: 'Events on their way to receivers, and their attempts',
  verbs: [list, show, redeliver],
};
