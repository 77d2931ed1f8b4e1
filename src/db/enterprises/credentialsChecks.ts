import type { EntityManager } from '@mikro-orm/postgresql';
import { CredentialsChecks } from '../entities/enterprises.ts';
import { countToday, type DayCount } from '../people/counts.ts';

/** An account that has the login of an enterprise checked. */
interface Checker {
  rut: string;
  accountId: string;
}

/** Returns the checks of an account at an enterprise; the open transaction holds the enterprise's lock. */
export async function findCredentialsChecks(em: EntityManager, checker: Checker): Promise<CredentialsChecks> {
  const held = await em.findOne(CredentialsChecks, { ...checker });
  const none = { day: '', checks: 0, failures: 0, failedAt: null, pendingHash: null, countsAsFailed: false };
  return held ?? em.create(CredentialsChecks, { ...checker, ...none });
}

/**
 * Ends other accounts' pending checks of an enterprise, so that they get no result. They stay counted as failed: the
 * authority may already have been asked.
 */
export async function withdrawOtherChecks(em: EntityManager, { rut, accountId }: Checker): Promise<void> {
  const others = { rut, accountId: { $ne: accountId }, pendingHash: { $ne: null } };
  endChecks(await em.find(CredentialsChecks, others));
}

/** Counts an answer of the authority for the accounts that wait for it. */
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
  const counted = endChecks(waiting);
  if (!answer.failed && counted.length > 0) await countToday(em, [], answer.now, counted);
}

/** Ends pending checks; returns those that count among the failures of their accounts. */
function endChecks(checks: readonly CredentialsChecks[]): DayCount[] {
  const counted = checks.filter(({ countsAsFailed }) => countsAsFailed);
  for (const one of checks) {
    one.pendingHash = null;
    one.countsAsFailed = false;
  }
  return counted.map(({ accountId, day }) => ({ counter: failureCounterOf(accountId), day }));
}

/** Returns the counter of an account's failed checks at all enterprises, pending ones included. */
export const failureCounterOf = (accountId: string): string => `failed checks of ${accountId}`;

/** Returns whether a pending check may still lower that counter. */
export async function hasPendingCheck(em: EntityManager, accountId: string): Promise<boolean> {
  const underWay = { accountId, countsAsFailed: true, pendingHash: { $ne: null } };
  return (await em.count(CredentialsChecks, underWay)) > 0;
}
