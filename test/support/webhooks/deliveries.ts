import { pino } from 'pino';
import { createAttemptDelivery } from '../../../src/activities/webhooks/attemptDelivery.ts';
import type { IssueDeps } from '../../../src/commands/receipts/issueCfe.ts';
import type { WebhookCommandDeps } from '../../../src/commands/webhooks/webhooks.ts';
import type { Opener } from '../../../src/crypto/sealed.ts';
import { Delivery, DeliveryAttempt } from '../../../src/db/entities/webhooks.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { createDispatcher } from '../../../src/outbox/dispatcher.ts';
import { createSender } from '../../../src/webhooks/send.ts';
import { createDeliverySlots } from '../../../src/webhooks/slots.ts';
import { idleIssuing } from '../commandDeps.ts';
import { aKeyPair } from '../database/sealing.ts';
import type { TestTemporal } from '../temporal/temporal.ts';
import { until } from '../until.ts';

/** What commands on webhooks need, with receivers on this machine allowed and a dispatcher that starts nothing. */
export const webhookDeps = (
  orm: Orm,
  more: Partial<WebhookCommandDeps> = {},
): WebhookCommandDeps & IssueDeps & { opener: Opener } => ({
  orm,
  clock: () => new Date(),
  ...keysOf(),
  localReceivers: true,
  ...more,
  ...idleIssuing,
});

function keysOf() {
  const { sealer, opener } = aKeyPair();
  return { sealer, opener };
}

/** The real activities, sending to receivers whose certificate comes from `caPem`. */
export const deliveryActivities = (
  { orm, opener, clock }: WebhookCommandDeps & { orm: Orm; opener: Opener },
  caPem: string,
  patienceMilliseconds = 1_000,
) => ({
  attemptDelivery: createAttemptDelivery({
    orm,
    clock,
    opener,
    send: createSender({ localCa: caPem, patienceMilliseconds }),
    slots: createDeliverySlots(),
  }),
});

/** Lets what waits in the outbox go, with pauses of `delays` milliseconds in place of minutes: the schedule is data. */
export async function dispatchDeliveries(
  orm: Orm,
  { address, namespace }: TestTemporal,
  delays: readonly number[] = [20, 30, 40],
): Promise<void> {
  const em = orm.em.fork();
  await em.execute(
    `update outbox set input = jsonb_set(input, '{delays}', ?::jsonb)
     where workflow = 'deliverWebhook' and dispatched_at is null`,
    [JSON.stringify(delays)],
  );
  // What other tests of the file left for other workflows has no worker here.
  await em.execute(`delete from outbox where workflow <> 'deliverWebhook'`);
  const outbox = createDispatcher({
    orm,
    temporal: { address },
    namespace,
    logger: pino({ level: 'silent' }),
  });
  outbox.scheduleDispatch();
  await until('an empty outbox', 20, async () => {
    const [row] = await em.execute<{ n: number }[]>(
      'select count(*)::integer as n from outbox where dispatched_at is null',
    );
    return row?.n === 0 || undefined;
  });
  await outbox.close();
}

/** A delivery once it has ended, with its attempts in order. */
export function endedDelivery(
  orm: Orm,
  id: string,
  seconds = 30,
): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] }> {
  return until(`the end of delivery ${id}`, seconds, async () => {
    const em = orm.em.fork();
    const delivery = await em.findOneOrFail(Delivery, { id });
    if (delivery.status === 'PENDING') return undefined;
    const attempts = await em.find(DeliveryAttempt, { deliveryId: id }, { orderBy: { number: 'asc' } });
    return { delivery, attempts };
  });
}

/** The deliveries to a webhook, oldest first. */
export const deliveriesTo = (orm: Orm, webhookId: string): Promise<Delivery[]> =>
  orm.em.fork().find(Delivery, { webhookId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
