import { purgeAnswers } from '../db/idempotency.ts';
import { purgeFailedAuthentications } from '../db/requestCounts.ts';
import { FAILURE_LIMIT } from '../domain/requestLimits.ts';
import type { CommandDeps } from './deps.ts';
import { ANSWER_HOURS } from './runOnce.ts';

/** Forgets what has had its time: answers kept for Idempotency-Keys, and addresses that failed to authenticate. */
export async function purgeExpired(deps: Pick<CommandDeps, 'orm' | 'clock'>): Promise<void> {
  const now = deps.clock().getTime();
  const em = deps.orm.em.fork();
  await purgeAnswers(em, new Date(now - ANSWER_HOURS * 3_600_000));
  await purgeFailedAuthentications(em, new Date(now - FAILURE_LIMIT.seconds * 1_000));
}
