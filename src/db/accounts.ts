import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { isUuid } from '../domain/uuid.ts';
import { Refusal } from '../errors.ts';
import { Account } from './entities/Account.ts';
import { ApiKey } from './entities/ApiKey.ts';
import { rowsOf, statement } from './statement.ts';

/** Stores an account, unless one with its id is there; answers the one that is there then. */
export async function insertAccount(em: EntityManager, values: Omit<Account, symbol>): Promise<Account> {
  await em.createQueryBuilder(Account).insert(values).onConflict('id').ignore().execute();
  return em.findOneOrFail(Account, { id: values.id });
}

/** The account with this id, or null. */
export async function findAccount(em: EntityManager, id: string): Promise<Account | null> {
  return isUuid(id) ? em.findOne(Account, { id }) : null;
}

/** The account with this id; refuses an unknown one (NOT_FOUND). */
export async function requireAccount(em: EntityManager, id: string): Promise<Account> {
  const account = await findAccount(em, id);
  if (!account) throw new Refusal('NOT_FOUND', `There is no account ${id}.`);
  return account;
}

/**
 * The account with this id, locked until the open transaction ends, so that what is counted of it stays true; refuses
 * an unknown one (NOT_FOUND).
 */
export async function lockAccount(em: EntityManager, id: string): Promise<Account> {
  const account = isUuid(id)
    ? await em.findOne(Account, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    : null;
  if (!account) throw new Refusal('NOT_FOUND', `There is no account ${id}.`);
  return account;
}

/** All accounts, oldest first. */
export function listAccounts(em: EntityManager): Promise<Account[]> {
  return em.find(Account, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** Stores an API key, unless one with its public id is there; answers the one that is there then. */
export async function insertApiKey(em: EntityManager, values: Omit<ApiKey, symbol>): Promise<ApiKey> {
  await em.createQueryBuilder(ApiKey).insert(values).onConflict('publicId').ignore().execute();
  return em.findOneOrFail(ApiKey, { publicId: values.publicId });
}

/** A key as far as a caller is known by it, with what of its account decides what it may do. */
export interface KnownApiKey {
  readonly key: Pick<ApiKey, 'id' | 'accountId' | 'environment' | 'hash' | 'lastUsedAt' | 'revokedAt'>;
  readonly isDeveloper: boolean;
}

const KNOWN_KEY = statement(
  'known_api_key',
  `select key.id, account_id, environment, hash, last_used_at, revoked_at, is_developer
   from api_key key join account on account.id = account_id where public_id = ?::text`,
);

/** The key with this public id, revoked or not, or null. */
export async function findApiKey(em: EntityManager, publicId: string): Promise<KnownApiKey | null> {
  interface Row {
    id: string;
    account_id: string;
    environment: Environment;
    hash: Buffer;
    last_used_at: string | null;
    revoked_at: string | null;
    is_developer: boolean;
  }
  const [row] = await rowsOf<Row>(em, KNOWN_KEY, [publicId]);
  if (!row) return null;
  const key = {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment,
    hash: row.hash,
    lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at),
    revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at),
  };
  return { key, isDeveloper: row.is_developer };
}

/** What tells, without the database, whether a text is a key. */
export type LiveKey = Pick<ApiKey, 'id' | 'hash'>;

/** All keys that are not revoked, by their public ids. */
export async function liveApiKeys(em: EntityManager): Promise<ReadonlyMap<string, LiveKey>> {
  const keys = await em.execute<{ id: string; public_id: string; hash: Buffer }[]>(
    'select id, public_id, hash from api_key where revoked_at is null',
  );
  return new Map(keys.map(({ id, public_id, hash }) => [public_id, { id, hash }]));
}

/** How many keys an account has that are not revoked. */
export function countLiveKeys(em: EntityManager, accountId: string): Promise<number> {
  return em.count(ApiKey, { accountId, revokedAt: null });
}

/** The keys of an account, oldest first, revoked ones too. */
export function listApiKeys(em: EntityManager, accountId: string): Promise<ApiKey[]> {
  return em.find(ApiKey, { accountId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** The key with this id, locked until the open transaction ends, or null. */
export async function lockApiKey(em: EntityManager, id: string): Promise<ApiKey | null> {
  return isUuid(id) ? em.findOne(ApiKey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
}

/** How exact last_used_at is: a key in constant use writes it once a minute, not with every request. */
const KEY_USE_PRECISION_MS = 60_000;

/** Records that a key is in use at `now`, unless its row says so to the minute or has a later time. */
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
