import type { EntityManager } from '@mikro-orm/postgresql';
import { shareTransaction } from '../../db/orm.ts';
import {
  findKeptResult,
  type IdempotencyKey,
  type KeptResult,
  keepAnswer,
  lockIdempotencyKey,
  type RequestKey,
} from '../../db/people/idempotency.ts';
import { KeyTaken } from '../../db/receipts/issue.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { RequestRule } from '../../domain/requests/requestRules.ts';
import { Refusal } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import type { CommandDeps } from './deps.ts';

/**
 * How long a request waits for a concurrent request with the same key; `claim_idempotency_key` waits as long.
 */
const TWIN_MILLISECONDS = 2_000;

/** The Idempotency-Key of a request that may be a repetition. */
export interface ComparableKey extends RequestKey {
  /** Whether a stored hash, even under an older pepper, is of the same request. */
  isSame(stored: Uint8Array): boolean;
  /**
   * Returns the JSON Pointer of the first difference; '' when unknown, null when the key is of another
   * operation.
   */
  differsAt(kept: Pick<KeptResult, 'hash' | 'outline'>): string | null;
}

export type OnceRequest = IdempotencyKey & ComparableKey;

/** The value of the work, or the stored answer of the first request with the key. */
export type OnceOutcome<T> = { readonly kept: null; readonly value: T } | { readonly kept: KeptResult };

/**
 * Runs `work` once per key. One transaction stores both the change and the answer (`keep`), so a crash leaves both or
 * neither. Throws IDEMPOTENCY_IN_PROGRESS while a concurrent request with the key takes too long, IDEMPOTENCY_KEY_REUSED for
 * the key of another request.
 */
export async function runOnce<D extends CommandDeps, T>(
  deps: D,
  request: OnceRequest,
  { work, keep }: { work: (deps: D) => Promise<T>; keep: (value: T) => string },
): Promise<OnceOutcome<T>> {
  let dispatchAsked = false;
  const outbox = {
    scheduleDispatch: () => {
      dispatchAsked = true;
    },
  };
  const outcome = await deps.orm.em.fork().transactional(async (em): Promise<OnceOutcome<T>> => {
    const kept = await lockAndFindStored(em, request, deps.clock());
    if (kept) return { kept };
    const value = await work({ ...deps, orm: shareTransaction(em), outbox });
    const { hash, outline } = request;
    await keepAnswer(em, request, { hash, outline: outline(), answer: keep(value), now: deps.clock() });
    failpoint('request.written');
    return { kept: null, value };
  });
  failpoint('request.committed');
  if (dispatchAsked) deps.outbox.scheduleDispatch();
  return outcome;
}

/**
 * Runs `work` once per key; `work` itself stores the key in the statement of the change (issueCfe). Throws as `runOnce`
 * does.
 */
export async function runStoringKey<T>(
  deps: CommandDeps,
  request: OnceRequest,
  work: () => Promise<T>,
): Promise<OnceOutcome<T>> {
  for (;;) {
    const kept = await findFirstAnswer(deps, request);
    if (kept) return { kept };
    try {
      return { kept: null, value: await work() };
    } catch (error) {
      if (error instanceof KeyTaken) {
        if (error.inProgress) throw requestInProgress();
        continue;
      }
      // A concurrent repeat may have succeeded while this request waited, and left it invalid: return that result.
      const first =
        error instanceof Refusal && error.code === 'INVALID_INPUT'
          ? await findFirstAnswer(deps, request)
          : null;
      if (!first) throw error;
      return { kept: first };
    }
  }
}

export const requestInProgress = (): Refusal =>
  new Refusal(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still in progress; try again in a moment.',
    { retryAfterSeconds: 1 },
  );

async function lockAndFindStored(
  em: EntityManager,
  request: OnceRequest,
  now: Date,
): Promise<KeptResult | null> {
  if (!(await lockIdempotencyKey(em, request, TWIN_MILLISECONDS))) throw requestInProgress();
  return findStored(em, request, now);
}

/**
 * Returns the stored result of the first request with the key; null without one. Throws for the key of another request.
 */
export const findFirstAnswer = (deps: CommandDeps, request: OnceRequest): Promise<KeptResult | null> =>
  findStored(deps.orm.em.fork(), request, deps.clock());

async function findStored(em: EntityManager, request: OnceRequest, now: Date): Promise<KeptResult | null> {
  const kept = await findKeptResult(em, request, now);
  if (kept && !request.isSame(kept.hash)) throw keyReused(kept, request.differsAt(kept));
  return kept;
}

/** Returns the refusal of a reused key: the first request with it, and the first difference. */
function keyReused(kept: KeptResult, difference: string | null): Refusal {
  const code: RequestRule = 'idempotency_key.reused';
  const where =
    difference === null
      ? 'it is for another operation or enterprise'
      : difference === ''
        ? 'its content is different'
        : `the first difference is at ${difference}`;
  const fault = {
    path: difference ?? '',
    code,
    message: `The Idempotency-Key was used for another request: ${where}.`,
  };
  if (kept.kind === 'answer')
    return new Refusal(
      'IDEMPOTENCY_KEY_REUSED',
      `This Idempotency-Key was used for another request, which was executed. This request was not: ${where}. Read the result of the first request.`,
      { faults: [fault] },
    );
  const { rut } = kept.cfe;
  const cfeId = formatCfeId(kept.cfe);
  return new Refusal(
    'IDEMPOTENCY_KEY_REUSED',
    `This Idempotency-Key created the CFE ${cfeId} of ${rut}. This request is different and was not executed: ${where}. Read that CFE before anything else: it may be the sale that you mean.`,
    { about: { enterprise_rut: rut, cfe_id: cfeId }, faults: [fault] },
  );
}
