import { randomUUID } from 'node:crypto';
import { findAccount, insertAccount, lockAccount, requireAccount } from '../db/accounts.ts';
import { putRateLimit } from '../db/counts.ts';
import type { Account, RateLimit } from '../db/entities/people.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Makes a developer account. With an `accountId` of the caller's own it is made once: a second call answers the
 * account that is there.
 */
export function createAccount(
  deps: CommandDeps,
  input: { accountId?: string; name: string; email: string; isDeveloper: boolean },
): Promise<Account> {
  const { accountId: id = randomUUID(), name, email, isDeveloper } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const existing = await findAccount(em, id);
    if (existing) return existing;
    const now = deps.clock();
    audited(deps, em, { action: 'account.create', subject: id, accountId: id }, now);
    return insertAccount(em, { id, name, email, isDeveloper, createdAt: now });
  });
}

/**
 * Sets what is given of an account's name, address for notices, and whether it may use the sandbox, which holds from its next request
 * on. An operator's act. Refuses an unknown account (NOT_FOUND).
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
    audited(deps, em, { action: 'account.update', subject: id, accountId: id }, deps.clock());
    return account;
  });
}

/**
 * Sets how many requests an hour an account may make in an environment, in place of everyone's number, and unless told
 * to `keep` it, of its own. An operator's act. Refuses an unknown account (NOT_FOUND).
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
    if (!keep) audited(deps, em, { action: 'limit.set', subject, accountId, reason }, deps.clock());
    return { accountId, environment, perHour };
  });
}
