import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { SIGNALS } from '../temporal.ts';
import { issueCfeMessage } from './cfes.ts';
import { Cfe } from './entities/Cfe.ts';
import { enqueue } from './outbox.ts';

/**
 * Marks a CFE whose step keeps failing by a mistake of ours, and has its workflow told, in one transaction: once, however
 * often it is called. One that has its verdict, or waits for support already, stays as it is.
 */
export function markOwnFault(em: EntityManager, id: string, now: Date): Promise<void> {
  return em.transactional(async (open) => {
    const cfe = await open.findOneOrFail(Cfe, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.settledAt !== null || cfe.stuckReason !== null) return;
    cfe.stuckReason = 'internal';
    enqueue(open, issueCfeMessage(cfe, SIGNALS.stepFails), now);
  });
}

/** The mistake is mended: the CFE waits for nobody, and its workflow is told, as it may be waiting for a slot or a verdict. */
export function clearOwnFault(em: EntityManager, id: string, now: Date): Promise<void> {
  return em.transactional(async (open) => {
    const cfe = await open.findOneOrFail(Cfe, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.stuckReason !== 'internal') return;
    cfe.stuckReason = null;
    enqueue(open, issueCfeMessage(cfe, SIGNALS.stepGoesOn), now);
  });
}
