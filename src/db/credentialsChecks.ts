import type { EntityManager } from '@mikro-orm/postgresql';
import { countToday, type DayCount } from './counts.ts';
import { CredentialsChecks } from './entities/enterprises.ts';

/** Whose checks of which enterprise. */
interface Checker {
  rut: string;
  accountId: string;
}

/** What an account had checked at an enterprise so far; the open transaction holds the enterprise's lock. */
export async function findCredentialsChecks(em: EntityManager, checker: Checker): Promise<CredentialsChecks> {
  const held = await em.findOne(CredentialsChecks, { ...checker });
  const none = { day: '', checks: 0, failures: 0, failedAt: null, pendingHash: null, countsAsFailed: false };
  return held ?? em.create(CredentialsChecks, { ...checker, ...none });
}

/**
 * Ends the checks of an enterprise that are under way, of other accounts than this one: none of them is to hear of an
 * answer. They stay counted as failed: the authority may have been asked already.
 */
export async function withdrawOtherChecks(em: EntityManager, { rut, accountId }: Checker): Promise<void> {
  const others = { rut, accountId: { $ne: accountId }, pendingHash: { $ne: null } };
  end(await em.find(CredentialsChecks, others));
}

/** Counts an answer of the authority for the account that waits for it. */
export async function countCheckResult(
  em: EntityManager,
  rut: string,
  answer: { failed: boolean; now: Date },
): Promise<void> {
  const waiting = await em.find(CredentialsChecks, { rut, pendingHash: { $ne: null } });
  for (const checks of waiting) {
    checks.failures = answer.failed ? checks.failures + 1 : 0;
    if (answer.failed) checks.failedAt = answer.now;
  }
  const counted = end(waiting);
  if (!answer.failed && counted.length > 0) await countToday(em, [], answer.now, counted);
}

/** Ends checks that were under way; what of them stands among the failures of their accounts. */
function end(checks: readonly CredentialsChecks[]): DayCount[] {
  const counted = checks.filter(({ countsAsFailed }) => countsAsFailed);
  for (const one of checks) {
    one.pendingHash = null;
    one.countsAsFailed = false;
  }
  return counted.map(({ accountId, day }) => ({ counter: failureCounterOf(accountId), day }));
}

/** The counter of an account's failed checks, of all its enterprises; those under way among them. */
export const failureCounterOf = (accountId: string): string => `failed checks of ${accountId}`;

/** Whether a check under way may still lower that counter. */
export async function hasPendingCheck(em: EntityManager, accountId: string): Promise<boolean> {
  const underWay = { accountId, countsAsFailed: true, pendingHash: { $ne: null } };
  return (await em.count(CredentialsChecks, underWay)) > 0;
}
