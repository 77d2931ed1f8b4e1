import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { KeyScope } from '../../domain/people/keyScope.ts';
import type { MemberRole } from '../../domain/people/people.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { isUuid } from '../../domain/values/uuid.ts';
import { Refusal } from '../../errors.ts';
import { Account, AccountInvitation, ApiKey, Membership } from '../entities/people.ts';
import { declareStatement, millisecondsSql, runStatement } from '../sql.ts';
import { normalizeEmail } from './people.ts';

/** Stores an account unless one with its id exists; returns the stored one. */
export async function insertAccount(em: EntityManager, values: Omit<Account, symbol>): Promise<Account> {
  await em.createQueryBuilder(Account).insert(values).onConflict('id').ignore().execute();
  return em.findOneOrFail(Account, { id: values.id });
}

/** Returns the account with this id, or null. */
export async function findAccount(em: EntityManager, id: string): Promise<Account | null> {
  return isUuid(id) ? em.findOne(Account, { id }) : null;
}

/** Returns the account with this id; throws NOT_FOUND if it does not exist. */
export async function requireAccount(em: EntityManager, id: string): Promise<Account> {
  const account = await findAccount(em, id);
  if (!account) throw new Refusal('NOT_FOUND', `There is no account ${id}.`);
  return account;
}

/**
 * Returns the account with this id, locked until the open transaction ends, so that counts about it stay true; throws
 * NOT_FOUND if it does not exist.
 */
export async function lockAccount(em: EntityManager, id: string): Promise<Account> {
  const account = isUuid(id)
    ? await em.findOne(Account, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    : null;
  if (!account) throw new Refusal('NOT_FOUND', `There is no account ${id}.`);
  return account;
}

/** Stores an API key unless one with its public id exists; returns the stored one. */
export async function insertApiKey(em: EntityManager, values: Omit<ApiKey, symbol>): Promise<ApiKey> {
  await em.createQueryBuilder(ApiKey).insert(values).onConflict('publicId').ignore().execute();
  return em.findOneOrFail(ApiKey, { publicId: values.publicId });
}

/** The columns of an API key that authentication reads, with those of its account. */
export interface KnownApiKey {
  readonly key: Pick<
    ApiKey,
    'id' | 'accountId' | 'environment' | 'scope' | 'hash' | 'lastUsedAt' | 'revokedAt'
  >;
  readonly isDeveloper: boolean;
}

const KNOWN_KEY = declareStatement(
  'known_api_key',
  `select key.id, account_id, environment, scope, hash, last_used_at, revoked_at, is_developer
   from api_key key join account on account.id = account_id where public_id = ?::text`,
);

/** Returns the key with this public id, revoked or not, or null. */
export async function findApiKey(em: EntityManager, publicId: string): Promise<KnownApiKey | null> {
  interface Row {
    id: string;
    account_id: string;
    environment: Environment;
    scope: KeyScope;
    hash: Buffer;
    last_used_at: string | null;
    revoked_at: string | null;
    is_developer: boolean;
  }
  const [row] = await runStatement<Row>(em, KNOWN_KEY, [publicId]);
  if (!row) return null;
  const key = {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment,
    scope: row.scope,
    hash: row.hash,
    lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at),
    revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at),
  };
  return { key, isDeveloper: row.is_developer };
}

/** The columns that verify a key without the database. */
export type LiveKey = Pick<ApiKey, 'id' | 'hash'>;

/** Returns all keys that are not revoked, by public id. */
export async function listLiveApiKeys(em: EntityManager): Promise<ReadonlyMap<string, LiveKey>> {
  const keys = await em.execute<{ id: string; public_id: string; hash: Buffer }[]>(
    'select id, public_id, hash from api_key where revoked_at is null',
  );
  return new Map(keys.map(({ id, public_id, hash }) => [public_id, { id, hash }]));
}

/** Returns the keys of an account, oldest first, including revoked ones. */
export function listApiKeys(em: EntityManager, accountId: string): Promise<ApiKey[]> {
  return em.find(ApiKey, { accountId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** Returns the key with this id, locked until the open transaction ends, or null. */
export async function lockApiKey(em: EntityManager, id: string): Promise<ApiKey | null> {
  return isUuid(id) ? em.findOne(ApiKey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
}

/** Precision of last_used_at: a key in constant use writes it once a minute, not with every request. */
const KEY_USE_PRECISION_MS = 60_000;

/** Records that a key is in use at `now`, unless its row has the same minute or a later time. */
export async function recordKeyUse(
  em: EntityManager,
  { id, lastUsedAt }: Pick<ApiKey, 'id' | 'lastUsedAt'>,
  now: Date,
): Promise<void> {
  if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < KEY_USE_PRECISION_MS) return;
  await em.nativeUpdate(
    ApiKey,
    { id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lt: now } }] },
    { lastUsedAt: now },
  );
}

// Members of accounts, and invitations.

/** A member of an account. */
export interface Member {
  readonly personId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly since: Date;
  /** When they last used the console; null: never. */
  readonly seenAt: Date | null;
  readonly hasSecondFactor: boolean;
  readonly disabled: boolean;
  readonly isOperator: boolean;
}

/** Returns the members of an account, by e-mail address. */
export async function listMembers(em: EntityManager, accountId: string): Promise<Member[]> {
  interface Row extends Omit<Member, 'since' | 'seenAt'> {
    since: number;
    seenAt: number | null;
  }
  const rows = await em.execute<Row[]>(
    `select p.id as "personId", p.email, m.role, ${millisecondsSql('m.created_at')} as since,
       (select ${millisecondsSql('max(s.seen_at)')} from console_session s where s.person_id = p.id) as "seenAt",
       p.sealed_totp is not null as "hasSecondFactor", p.disabled_at is not null as disabled,
       p.operator_role is not null as "isOperator"
     from membership m join person p on p.id = m.person_id where m.account_id = ? order by p.email`,
    [accountId],
  );
  return rows.map(({ since, seenAt, ...row }) => ({
    ...row,
    since: new Date(since),
    seenAt: seenAt === null ? null : new Date(seenAt),
  }));
}

/** Returns the membership of a person in an account, or null. */
export async function findMembership(
  em: EntityManager,
  personId: string,
  accountId: string,
): Promise<Membership | null> {
  return isUuid(personId) && isUuid(accountId) ? em.findOne(Membership, { personId, accountId }) : null;
}

/** Counts the OWNERs of an account other than this person; disabled people do not count. */
export async function countOtherOwners(
  em: EntityManager,
  accountId: string,
  personId: string,
): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(
    `select count(*)::int as count from membership m join person p on p.id = m.person_id
     where m.account_id = ? and m.role = 'OWNER' and m.person_id <> ? and p.disabled_at is null`,
    [accountId, personId],
  );
  return row?.count ?? 0;
}

/** Stores an invitation into an account, and ends an earlier one for the same address. */
export async function insertAccountInvitation(
  em: EntityManager,
  values: Omit<AccountInvitation, symbol | 'endedAt'>,
): Promise<void> {
  const { accountId, createdAt } = values;
  const email = normalizeEmail(values.email);
  await em.nativeUpdate(AccountInvitation, { accountId, email, endedAt: null }, { endedAt: createdAt });
  em.create(AccountInvitation, { ...values, email, endedAt: null });
}

/** Returns the open invitations into an account, by address. */
export function listAccountInvitations(
  em: EntityManager,
  accountId: string,
  now: Date,
): Promise<AccountInvitation[]> {
  return em.find(
    AccountInvitation,
    { accountId, endedAt: null, expiresAt: { $gt: now } },
    { orderBy: { email: 'asc' } },
  );
}

/** Returns the open invitation into an account with this token, or null. */
export function findAccountInvitation(
  em: EntityManager,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountInvitation | null> {
  return em.findOne(AccountInvitation, { tokenHash, endedAt: null, expiresAt: { $gt: now } });
}

/** Ends an invitation into an account permanently; returns it, or null if it had already ended. */
export async function endAccountInvitation(
  em: EntityManager,
  { id, accountId }: { id: string; accountId: string },
  now: Date,
): Promise<AccountInvitation | null> {
  if (!isUuid(id)) return null;
  const found = await em.findOne(AccountInvitation, { id, accountId });
  const where = { id, accountId, endedAt: null };
  return found && (await em.nativeUpdate(AccountInvitation, where, { endedAt: now })) > 0 ? found : null;
}
