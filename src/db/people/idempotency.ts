/** Results for Idempotency-Keys: answers, for a limited time, and CFEs, whose rows keep their keys permanently. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestOutline } from '../../crypto/requestOutline.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { Cfe, type FirstAnswer } from '../entities/receipts.ts';
import { declareStatement, runStatement } from '../sql.ts';

/** A key with its account and environment. */
export interface IdempotencyKey {
  readonly accountId: string;
  readonly environment: Environment;
  readonly key: string;
}

/** The Idempotency-Key of a request, and the keyed hash of its content. */
export interface RequestKey {
  readonly key: string;
  readonly hash: Buffer;
  /** The stored outline, which shows how another request with the key differs. */
  readonly outline: () => RequestOutline;
}

/** How long an answer is kept for its key (docs/contract.md#idempotency); CFEs are permanent. */
export const ANSWER_MILLISECONDS = 24 * 3_600_000;

/** The result for a key: an answer, word for word, or the CFE of its request. */
export type KeptResult = { readonly hash: Uint8Array; readonly outline: RequestOutline } & (
  | { readonly kind: 'answer'; readonly answer: string }
  | { readonly kind: 'cfe'; readonly cfe: Cfe }
);

/** Returns the name of the advisory lock of a key. */
export const keyLockName = ({ accountId, environment, key }: IdempotencyKey): string =>
  JSON.stringify([accountId, environment, key]);

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Takes the advisory lock of a key until the open transaction ends, so that requests with one key follow one another.
 * Returns false, with the transaction aborted, if another request keeps the lock for `milliseconds`.
 */
export async function lockIdempotencyKey(
  em: EntityManager,
  scope: IdempotencyKey,
  milliseconds: number,
): Promise<boolean> {
  await em.execute(`select set_config('lock_timeout', ?, true)`, [`${milliseconds}ms`]);
  try {
    await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [keyLockName(scope)]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
  await em.execute('set local lock_timeout to default');
  return true;
}

const KEPT = declareStatement(
  'kept_for_key',
  `with asked as (select ?::uuid as account_id, ?::text as environment, ?::text as key, ?::timestamptz as since)
   select cfe.id as cfe_uuid, kept.hash, kept.outline, kept.answer
   from asked
   left join cfe on cfe.account_id = asked.account_id and cfe.environment = asked.environment
     and cfe.idempotency_key = asked.key
   left join idempotent_answer kept on kept.account_id = asked.account_id
     and kept.environment = asked.environment and kept.key = asked.key and kept.created_at > asked.since`,
);

/** Returns the result for a key at `now`: a CFE, a response that is still stored, or null. */
export async function findKeptResult(
  em: EntityManager,
  scope: IdempotencyKey,
  now: Date,
): Promise<KeptResult | null> {
  interface Row {
    cfe_uuid: string | null;
    hash: Buffer | null;
    outline: RequestOutline;
    answer: string | null;
  }
  const { accountId, environment, key } = scope;
  const [row] = await runStatement<Row>(em, KEPT, [accountId, environment, key, answerCutoff(now)]);
  if (row?.cfe_uuid) {
    const cfe = await em.findOneOrFail(
      Cfe,
      { id: row.cfe_uuid },
      { populate: ['idempotencyHash', 'idempotencyOutline', 'firstAnswer', 'warnings'] },
    );
    // A CFE with a key always has both.
    const { idempotencyHash: hash, idempotencyOutline: outline } = cfe;
    return { kind: 'cfe', hash: hash as Uint8Array, outline: outline as RequestOutline, cfe };
  }
  if (!row?.hash || row.answer === null) return null;
  return { kind: 'answer', hash: row.hash, outline: row.outline, answer: row.answer };
}

/** Stores the answer to the request with a key, in place of an expired one. */
export async function keepAnswer(
  em: EntityManager,
  scope: IdempotencyKey,
  kept: { hash: Buffer; outline: RequestOutline; answer: string; now: Date },
): Promise<void> {
  await em.execute(
    `insert into idempotent_answer (account_id, environment, key, hash, outline, answer, created_at)
     values (?, ?, ?, ?, ?::jsonb, ?, ?::timestamptz)
     on conflict (account_id, environment, key) do update set
       hash = excluded.hash, outline = excluded.outline, answer = excluded.answer, created_at = excluded.created_at`,
    [
      scope.accountId,
      scope.environment,
      scope.key,
      kept.hash,
      JSON.stringify(kept.outline),
      kept.answer,
      kept.now.toISOString(),
    ],
  );
}

/** Returns the time before which answers have expired at `now`. */
export const answerCutoff = (now: Date): string =>
  new Date(now.getTime() - ANSWER_MILLISECONDS).toISOString();

/**
 * Records the first answer about a CFE with a key, if the request waited for the verdict. Does nothing if one is
 * recorded, or if the CFE has no key.
 */
export async function recordFirstAnswer(
  em: EntityManager,
  { id, status, rejection, digest }: FirstAnswer & Pick<Cfe, 'id'>,
): Promise<void> {
  await em.nativeUpdate(
    Cfe,
    { id, idempotencyKey: { $ne: null }, firstAnswer: null },
    { firstAnswer: { status, rejection, digest } },
  );
}
