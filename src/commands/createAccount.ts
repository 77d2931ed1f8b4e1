import { randomUUID } from 'node:crypto';
import { findAccount, insertAccount } from '../db/accounts.ts';
import type { Account } from '../db/entities/Account.ts';
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
