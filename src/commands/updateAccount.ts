import { lockAccount } from '../db/accounts.ts';
import type { Account } from '../db/entities/Account.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

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
