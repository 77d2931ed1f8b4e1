import { randomUUID } from 'node:crypto';
import type { Account, RateLimit } from '../../db/entities/people.ts';
import { findAccount, insertAccount, lockAccount, requireAccount } from '../../db/people/accounts.ts';
import { putRateLimit } from '../../db/people/counts.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Creates a developer account. Called again with the same `accountId`, returns the existing account. */
export function createAccount(
  deps: CommandDeps,
  input: { accountId?: string; name: string; email: string; isDeveloper: boolean },
): Promise<Account> {
  const { accountId: id = randomUUID(), name, email, isDeveloper } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const existing = await findAccount(em, id);
    if (existing) return existing;
    const now = deps.clock();
    auditAct(deps, em, { action: 'account.create', subject: id, accountId: id }, now);
    return insertAccount(em, { id, name, email, isDeveloper, createdAt: now });
  });
}

/**
 * Sets fields of an account; `isDeveloper` (use of the sandbox) applies from the account's next request. Operators only.
 * Throws NOT_FOUND for an unknown account.
 */
export function updateAccount(
  deps: CommandDeps,
  input: {
    accountId: string;
    name?: string | undefined;
    email?: string | undefined;
    isDeveloper?: boolean | undefined;
  },
): Promise<Account> {
  const { name, email, isDeveloper } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const account = await lockAccount(em, input.accountId);
    if (name !== undefined) account.name = name;
    if (email !== undefined) account.email = email;
    if (isDeveloper !== undefined) account.isDeveloper = isDeveloper;
    const { id } = account;
    auditAct(deps, em, { action: 'account.update', subject: id, accountId: id }, deps.clock());
    return account;
  });
}

/**
 * Sets an account's own rate limit in an environment, instead of the default. With `keep`, an existing limit
 * stays. Operators only. Throws NOT_FOUND for an unknown account.
 */
export function setRateLimit(
  deps: CommandDeps,
  limit: Omit<RateLimit, symbol> & { keep?: boolean; reason?: string | undefined },
): Promise<Omit<RateLimit, symbol>> {
  const { environment, perHour, keep = false, reason } = limit;
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await requireAccount(em, limit.accountId);
    await putRateLimit(em, { accountId, environment, perHour }, { keep });
    const subject = `${environment} ${perHour}`;
    if (!keep) auditAct(deps, em, { action: 'limit.set', subject, accountId, reason }, deps.clock());
    return { accountId, environment, perHour };
  });
}
