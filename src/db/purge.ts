import type { EntityManager } from '@mikro-orm/postgresql';
import { purgeAnswers } from './idempotency.ts';
import { purgeFailedAuthentications } from './requestCounts.ts';

/** Forgets what is past its time at `now`: answers kept for Idempotency-Keys, and addresses that failed to authenticate. */
export async function purgeExpired(em: EntityManager, now: Date): Promise<void> {
  await purgeAnswers(em, now);
  await purgeFailedAuthentications(em, now);
}
