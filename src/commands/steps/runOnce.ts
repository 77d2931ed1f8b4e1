import type { EntityManager } from '@mikro-orm/postgresql';
import {
  findKeptResult,
  type KeptResult,
  type KeyScope,
  keepAnswer,
  lockIdempotencyKey,
  type RequestKey,
} from '../../db/idempotency.ts';
import { KeyTaken } from '../../db/issue.ts';
import { shareTransaction } from '../../db/orm.ts';
import { formatCfeId } from '../../domain/cfeId.ts';
import type { RequestRule } from '../../domain/requestRules.ts';
import { Refusal } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import type { CommandDeps } from './deps.ts';

/** How long a request waits for its twin to be done; `claim_idempotency_key` waits as long for that of a CFE. */
const TWIN_MILLISECONDS = 2_000;

/** The Idempotency-Key of a request that may be a repeated one. */
export interface AskedKey extends RequestKey {
  /** Whether a stored hash, also one under an older pepper, is that of the same request. */
  isSame(stored: Uint8Array): boolean;
  /** The JSON Pointer of its first difference; '' where none can be named, null where the key is of another operation. */
  differsAt(kept: Pick<KeptResult, 'hash' | 'outline'>): string | null;
}

/** A request that carries an Idempotency-Key, and whose key it is. */
export type OnceRequest = KeyScope & AskedKey;

/** What the work came to, or what is kept of the first request with that key. */
export type OnceOutcome<T> = { readonly kept: null; readonly value: T } | { readonly kept: KeptResult };

/**
 * Runs `work` unless it was done already for that key. It runs on `deps` within one transaction, whose commit stands
 * for the change and for the memory of the key alike: a crash leaves both or neither. `keep` gives the answer to be
 * kept. Work that throws leaves nothing. Refuses
 * while a twin takes too long (IDEMPOTENCY_IN_PROGRESS) and a key that stood for another request
 * (IDEMPOTENCY_KEY_REUSED).
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
    const kept = await keptFor(em, request, deps.clock());
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
 * Runs `work`, which keeps the key itself in the statement that makes the change (issueCfe), unless it was done already
 * for that key. Refuses like `runOnce`.
 */
export async function runKeepingKey<T>(
  deps: CommandDeps,
  request: OnceRequest,
  work: () => Promise<T>,
): Promise<OnceOutcome<T>> {
  for (;;) {
    const kept = await findFirst(deps, request);
    if (kept) return { kept };
    try {
      return { kept: null, value: await work() };
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      if (error.inProgress) throw inProgress();
    }
  }
}

/** The refusal of a request whose twin has not ended. */
export const inProgress = (): Refusal =>
  new Refusal(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still in progress; try again in a moment.',
    { retryAfterSeconds: 1 },
  );

async function keptFor(em: EntityManager, request: OnceRequest, now: Date): Promise<KeptResult | null> {
  if (!(await lockIdempotencyKey(em, request, TWIN_MILLISECONDS))) throw inProgress();
  return keptOf(em, request, now);
}

/** What is kept of the first request with that key, where one is done. Refuses a key that stood for another request. */
export const findFirst = (deps: CommandDeps, request: OnceRequest): Promise<KeptResult | null> =>
  keptOf(deps.orm.em.fork(), request, deps.clock());

async function keptOf(em: EntityManager, request: OnceRequest, now: Date): Promise<KeptResult | null> {
  const kept = await findKeptResult(em, request, now);
  if (kept && !request.isSame(kept.hash)) throw reused(kept, request.differsAt(kept));
  return kept;
}

/** The refusal of another request with a key: what the key stands for, and the first difference. */
function reused(kept: KeptResult, difference: string | null): Refusal {
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
