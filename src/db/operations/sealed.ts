/** The columns with sealed secrets (crypto/sealed.ts), for programs that process all of them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { SecretOwner } from '../../crypto/sealed.ts';

/** A column of sealed secrets. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns with the row's id and with the owner of its secrets. */
  readonly id: string;
  readonly owner: string;
  readonly belongsTo: (owner: string, rowId: string) => SecretOwner;
}

const webhookSecret = (accountId: string, rowId: string): SecretOwner => ({
  purpose: 'webhook-secret',
  accountId,
  rowId,
});

/**
 * All columns. A webhook's previous secret comes after its current one: a pass in this order meets a secret that
 * moves from one to the other meanwhile.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'certificate',
    column: 'sealed_key',
    id: 'id',
    owner: 'rut',
    belongsTo: (rut, rowId) => ({ purpose: 'certificate-key', rut, rowId }),
  },
  {
    table: 'enterprise',
    column: 'sealed_login',
    id: 'rut',
    owner: 'rut',
    belongsTo: (rut, rowId) => ({ purpose: 'efactura-login', rut, rowId }),
  },
  { table: 'webhook', column: 'sealed_secret', id: 'id', owner: 'account_id', belongsTo: webhookSecret },
  {
    table: 'webhook',
    column: 'sealed_previous_secret',
    id: 'id',
    owner: 'account_id',
    belongsTo: webhookSecret,
  },
];

/** A sealed string contains the id of its key: `v1.<key id>.…` */
const keyIdIn = (column: string): string => `split_part(${column}, '.', 2)`;

/** Counts the secrets of a column by key. */
export function countSealedByKey(
  em: EntityManager,
  { table, column }: SealedColumn,
): Promise<{ key_id: string; count: number }[]> {
  return em.execute(
    `select ${keyIdIn(column)} as key_id, count(*)::integer as count from ${table}
     where ${column} is not null group by 1 order by 1`,
  );
}

/** A sealed secret with its row's id and owner. */
export interface SealedRow {
  readonly id: string;
  readonly owner: string;
  readonly sealed: string;
}

/** Returns the next secrets of a column that are sealed under another key than `keyId`, by id. */
export function listSealedUnderOtherKeys(
  em: EntityManager,
  { table, column, id, owner }: SealedColumn,
  { keyId, after, limit }: { keyId: string; after: string | undefined; limit: number },
): Promise<SealedRow[]> {
  const [beyond, from] = after === undefined ? ['', []] : [`and ${id} > ?`, [after]];
  return em.execute(
    `select ${id} as id, ${owner} as owner, ${column} as sealed from ${table}
     where ${keyIdIn(column)} <> ? ${beyond} order by ${id} limit ?`,
    [keyId, ...from, limit],
  );
}

/** Replaces a sealed string; returns false if it has changed meanwhile. */
export async function replaceSealed(
  em: EntityManager,
  { table, column, id }: SealedColumn,
  row: SealedRow,
  sealed: string,
): Promise<boolean> {
  const { affectedRows } = await em.execute<{ affectedRows: number }>(
    `update ${table} set ${column} = ? where ${id} = ? and ${column} = ?`,
    [sealed, row.id, row.sealed],
    'run',
  );
  return affectedRows === 1;
}

// The secrets that would be lost without their pepper (crypto/peppers.ts).

/** Live API keys of an account, or people's second factors, under one pepper. */
export interface PepperUse {
  readonly what: 'api_key' | 'second_factor';
  readonly pepper_id: string;
  /** The account of the keys; null for second factors. */
  readonly account_id: string | null;
  readonly count: number;
}

/** Counts keys and second factors by pepper; leaves out secrets that expire soon (idempotency keys, invitations). */
export function countSecretsByPepper(em: EntityManager): Promise<PepperUse[]> {
  return em.execute(
    `select 'api_key' as what, convert_from(substring(hash for position(':'::bytea in hash) - 1), 'UTF8') as pepper_id,
       account_id, count(*)::integer as count
     from api_key where revoked_at is null group by pepper_id, account_id
     union all
     select 'second_factor', split_part(sealed_totp, '.', 1) as pepper_id, null, count(*)::integer
     from person where sealed_totp is not null group by pepper_id
     order by what, pepper_id, account_id`,
  );
}
