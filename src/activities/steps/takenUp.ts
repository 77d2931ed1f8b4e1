import type { EntityManager } from '@mikro-orm/postgresql';
import { activityInfo } from '@temporalio/activity';
import { markStuck } from '../../db/cfes.ts';
import type { Cfe } from '../../db/entities/receipts.ts';

/**
 * A step is taken up: whatever its CFE was stuck for, it is no longer. What keeps failing by a mistake of ours stays stuck
 * from attempt to attempt, until one has ended (steps/ownFaults.ts).
 */
export async function takenUp(em: EntityManager, { id, stuckReason }: Cfe): Promise<void> {
  if (stuckReason === null) return;
  if (stuckReason === 'internal' && activityInfo().attempt > 1) return;
  await markStuck(em, id, null);
}
