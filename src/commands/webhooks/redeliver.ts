import type { Delivery } from '../../db/entities/webhooks.ts';
import { lockDelivery, restartDelivery } from '../../db/webhooks/deliveries.ts';
import { findWebhook } from '../../db/webhooks/webhooks.ts';
import { invalidInput, Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Sends an event again at once, with the same id and bytes and a new retry schedule, even to a disabled
 * webhook. Throws NOT_FOUND for an unknown delivery, INVALID_INPUT for a delivery to a removed webhook.
 */
export async function redeliver(
  deps: CommandDeps,
  input: { deliveryId: string; reason?: string | undefined },
): Promise<Delivery> {
  const { deliveryId, reason } = input;
  const restarted = await deps.orm.em.fork().transactional(async (em) => {
    const delivery = await lockDelivery(em, deliveryId);
    if (!delivery) throw new Refusal('NOT_FOUND', `There is no delivery ${deliveryId}.`);
    const webhook = await findWebhook(em, delivery.webhookId);
    if (!webhook || webhook.removedAt !== null) {
      const message = `The webhook of the delivery ${deliveryId} was removed.`;
      throw invalidInput([{ path: '', code: 'delivery.webhook_removed', message }]);
    }
    const now = deps.clock();
    await restartDelivery(em, delivery, now);
    const { accountId } = webhook;
    const why = reason === undefined ? {} : { reason };
    auditAct(deps, em, { action: 'delivery.redeliver', subject: deliveryId, accountId, ...why }, now);
    return delivery;
  });
  deps.outbox.scheduleDispatch();
  return restarted;
}
