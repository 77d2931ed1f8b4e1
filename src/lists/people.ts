import * as z from 'zod';
import { apiKeyPrefix } from '../crypto/apiKeys.ts';
import type { ApiKey } from '../db/entities/people.ts';
import { BY_RUT, listOrder } from '../db/page.ts';
import { listApiKeys, listMembers, type Member } from '../db/people/accounts.ts';
import {
  type EnterpriseRole,
  type ListedAccount,
  listAccountsPage,
  listEnterpriseRoles,
} from '../db/people/consoleAccounts.ts';
import { listOf, loadedAtOnce } from './list.ts';

/** All accounts, by name. */
export const ACCOUNTS = listOf<ListedAccount, { readonly text?: string | undefined }>()({
  name: 'accounts',
  filters: {
    text: { schema: z.string().max(254), only: 'accounts with this part in their name, address or id' },
  } as const,
  columns: {
    name: 'name',
    email: 'email',
    is_developer: 'isDeveloper',
    enterprises: 'enterprises',
    people: 'members',
    created_at: 'createdAt',
    account_id: 'id',
  },
  key: listOrder({ name: 'text', id: 'uuid' }),
  read: (em, search, page) => listAccountsPage(em, search, page),
});

interface OfAccount {
  readonly accountId: string;
}

/** API keys of an account, including revoked ones. */
export const KEYS = listOf<ApiKey, OfAccount>()({
  name: 'keys',
  filters: {},
  columns: {
    label: 'label',
    prefix: apiKeyPrefix,
    environment: 'environment',
    scope: 'scope',
    created_at: 'createdAt',
    last_used_at: 'lastUsedAt',
    key_id: 'id',
    revoked_at: 'revokedAt',
  },
  ...loadedAtOnce(
    ({ id }) => id,
    (em, { accountId }) => listApiKeys(em, accountId),
  ),
});

/** People of an account, by e-mail address. */
export const MEMBERS = listOf<Member, OfAccount>()({
  name: 'members',
  filters: {},
  columns: {
    email: 'email',
    role: 'role',
    since: 'since',
    seen_at: 'seenAt',
    second_factor: 'hasSecondFactor',
    person_id: 'personId',
  },
  ...loadedAtOnce(
    ({ personId }) => personId,
    (em, { accountId }) => listMembers(em, accountId),
  ),
});

/** Enterprises at which an account has a role, by RUT. */
export const HELD_ENTERPRISES = listOf<EnterpriseRole, OfAccount>()({
  name: 'enterprises',
  filters: {},
  columns: { rut: 'rut', legal_name: 'legalName', role: 'role', status: 'status', account_id: 'accountId' },
  key: BY_RUT,
  read: (em, { accountId }, page) => listEnterpriseRoles(em, accountId, page),
});
