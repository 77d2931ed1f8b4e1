import type { EntityManager } from '@mikro-orm/postgresql';
import { findAccount } from '../db/accounts.ts';
import type { Account } from '../db/entities/Account.ts';
import { Refusal } from '../errors.ts';

/** The account with this id; refuses an unknown one (NOT_FOUND). */
export async function knownAccount(em: EntityManager, accountId: string): Promise<Account> {
  const account = await findAccount(em, accountId);
  if (!account) throw new Refusal('NOT_FOUND', `There is no account ${accountId}.`);
  return account;
}
