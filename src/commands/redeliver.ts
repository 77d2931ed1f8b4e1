import { lockDelivery, restartDelivery } from '../db/deliveries.ts';
import type { Delivery } from '../db/entities/webhooks.ts';
import { findWebhook } from '../db/webhooks.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Sends an event once more: same id, same bytes, a new schedule, at once; also one that waits for its retry, and to a
 * webhook that is disabled by now. Refuses an unknown delivery (NOT_FOUND) and one whose webhook was removed
 * (INVALID_INPUT).
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
    audited(deps, em, { action: 'delivery.redeliver', subject: deliveryId, accountId, ...why }, now);
    return delivery;
  });
  deps.outbox.scheduleDispatch();
  return restarted;
}
