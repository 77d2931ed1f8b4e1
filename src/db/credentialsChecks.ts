import type { EntityManager } from '@mikro-orm/postgresql';
import { CredentialsChecks } from './entities/CredentialsChecks.ts';

/** Whose checks of which enterprise. */
interface Checker {
  rut: string;
  accountId: string;
}

/** What an account had checked at an enterprise so far; the open transaction holds the enterprise's lock. */
export async function credentialsChecksOf(em: EntityManager, checker: Checker): Promise<CredentialsChecks> {
  const held = await em.findOne(CredentialsChecks, { ...checker });
  const none = { day: '', checks: 0, failures: 0, failedAt: null, pendingHash: null };
  return held ?? em.create(CredentialsChecks, { ...checker, ...none });
}

/** The answer to come is this account's, who asked last. */
export async function awaitCheckFor(em: EntityManager, { rut, accountId }: Checker): Promise<void> {
  await em.nativeUpdate(CredentialsChecks, { rut, accountId: { $ne: accountId } }, { pendingHash: null });
}

/** Counts an answer of the authority for the account that waits for it. */
export async function countCheck(
  em: EntityManager,
  rut: string,
  answer: { failed: boolean; now: Date },
): Promise<void> {
  const waiting = await em.find(CredentialsChecks, { rut, pendingHash: { $ne: null } });
  for (const checks of waiting) {
    checks.pendingHash = null;
    checks.failures = answer.failed ? checks.failures + 1 : 0;
    if (answer.failed) checks.failedAt = answer.now;
  }
}
