import type { EntityManager } from '@mikro-orm/postgresql';
import { Sobre } from '../../db/entities/authority.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { recordEvent } from '../../db/events.ts';
import type { SobreTicket } from '../../dgi/client.ts';
import { canBecome } from '../../domain/cfeStatus.ts';
import { cfeUpdated } from '../../domain/webhookEvents.ts';

/**
 * Stores that the authority has the sobre, with what it gave for asking about it, and tells customers' servers of the
 * move. The open transaction holds the lock of the CFE.
 */
export async function storeReceived(
  em: EntityManager,
  cfe: Cfe,
  { id, receivedAt }: Pick<Sobre, 'id' | 'receivedAt'>,
  { idReceptor, token, askFrom }: SobreTicket,
  now: Date,
): Promise<void> {
  await em.nativeUpdate(
    Sobre,
    { id },
    { state: 'RECEIVED', idReceptor, token, askFrom, receivedAt: receivedAt ?? now },
  );
  cfe.stuckReason = null;
  const from = cfe.status;
  if (!canBecome(from, 'RECEIVED')) return;
  cfe.status = 'RECEIVED';
  await recordEvent(em, cfe, cfeUpdated(cfe, from), now);
}
