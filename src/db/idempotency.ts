/** What is kept for Idempotency-Keys: answers for a time, and CFEs, whose rows carry their keys for ever. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestOutline } from '../crypto/requestOutline.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { Cfe, type FirstAnswer } from './entities/receipts.ts';
import { declareStatement, runStatement } from './sql.ts';

/** A key as its account uses it. */
export interface KeyScope {
  readonly accountId: string;
  readonly environment: Environment;
  readonly key: string;
}

/** The Idempotency-Key of a request, and the keyed hash of what it asks for. */
export interface RequestKey {
  readonly key: string;
  readonly hash: Buffer;
  /** What is kept of it, so that another request with the key can be told where it differs. */
  readonly outline: () => RequestOutline;
}

/** How long an answer is kept for its key (docs/contract.md#idempotency); CFEs are kept for ever. */
export const ANSWER_MILLISECONDS = 24 * 3_600_000;

/** What a key stands for: an answer word for word, or the CFE that its request made. */
export type KeptResult = { readonly hash: Uint8Array; readonly outline: RequestOutline } & (
  | { readonly kind: 'answer'; readonly answer: string }
  | { readonly kind: 'cfe'; readonly cfe: Cfe }
);

/** What a key's advisory lock is taken by. */
export const keyLockName = ({ accountId, environment, key }: KeyScope): string =>
  JSON.stringify([accountId, environment, key]);

/** PostgreSQL's code for a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Takes a key's advisory lock until the open transaction ends, so that requests with one key follow one another.
 * Answers false when another holds it for `milliseconds` more; the transaction is lost then.
 */
export async function lockIdempotencyKey(
  em: EntityManager,
  scope: KeyScope,
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

/** What the key stands for at `now`: a CFE, or an answer that is still kept; null when nothing. */
export async function findKeptResult(
  em: EntityManager,
  scope: KeyScope,
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
      { populate: ['idempotencyHash', 'idempotencyOutline', 'firstAnswer'] },
    );
    // A CFE that is found by its key has both with it.
    const { idempotencyHash: hash, idempotencyOutline: outline } = cfe;
    return { kind: 'cfe', hash: hash as Uint8Array, outline: outline as RequestOutline, cfe };
  }
  if (!row?.hash || row.answer === null) return null;
  return { kind: 'answer', hash: row.hash, outline: row.outline, answer: row.answer };
}

/** Keeps the answer to the request with a key, in place of one that has had its time. */
export async function keepAnswer(
  em: EntityManager,
  scope: KeyScope,
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

/** Answers given before this moment are kept no longer at `now`. */
export const answerCutoff = (now: Date): string =>
  new Date(now.getTime() - ANSWER_MILLISECONDS).toISOString();

/**
 * Records how a CFE with a key was first answered, where that was not as it was taken: its request waited for the
 * verdict. What is recorded already stays; a CFE without a key has none.
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
