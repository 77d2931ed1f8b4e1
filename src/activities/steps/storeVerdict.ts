import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { decideUnheard, tellNotes } from '../../db/cfes.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import { recordEvent } from '../../db/events.ts';
import { recordVerdictExchange } from '../../db/exchange.ts';
import { recordVerdictMails, type VerdictMails } from '../../db/mails.ts';
import type { Orm } from '../../db/orm.ts';
import { canBecome, type FinalStatus, WITHDRAWN_REJECTION } from '../../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/cfeTypes.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import { cfeUpdated } from '../../domain/webhookEvents.ts';
import { failpoint } from '../../failpoints.ts';
import { takeAttempts } from './noteAttempts.ts';

/** A verdict that was stored just now; for the metrics. */
export interface StoredVerdict {
  environment: Environment;
  type: CfeType;
  status: FinalStatus;
  /** From the moment the CFE was taken. */
  seconds: number;
}

/** What storing a verdict needs. */
export interface VerdictDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { dispatchSoon(): void };
  /** The only addresses that e-mails of the sandbox go to; none where it is left out. */
  sandboxMails?: readonly string[] | undefined;
  onVerdict?: ((verdict: StoredVerdict) => void) | undefined;
}

/** What a CFE ends as, and why. */
interface Verdict {
  status: FinalStatus;
  reasons: readonly RejectionReason[];
  /** The authority has withdrawn a rejection: the one move out of a final status. */
  withdraws?: true;
}

/**
 * Stores the verdict on a CFE and, in the same transaction, what follows from it: customers' servers and notes that wait
 * for it are told, and its receiver gets it by e-mail. A CFE that has a verdict keeps it.
 */
export async function storeVerdict(deps: VerdictDeps, cfeUuid: string, verdict: Verdict): Promise<void> {
  const now = deps.clock();
  const rejection = verdict.reasons.length > 0 ? verdict.reasons : null;
  const { status } = verdict;
  const mails = { now, sandboxMails: deps.sandboxMails ?? [] };
  const decided = await decideUnheard(
    deps.orm.em.fork(),
    cfeUuid,
    { status, rejection },
    { ...mails, attempts: takeAttempts() },
  );
  if (decided) {
    failpoint('verdict.storedAlone');
    deps.onVerdict?.(verdictStored(decided, status, now));
    if (decided.begun > 0) deps.outbox.dispatchSoon();
    return;
  }
  const stored = await deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const written = await storeVerdictOfLocked(em, cfe, verdict, mails);
    failpoint('verdict.written');
    return written;
  });
  failpoint('verdict.committed');
  afterVerdict(deps, stored);
}

/** `storeVerdict` in the open transaction, which holds the lock of the CFE; null where it has its verdict already. */
export async function storeVerdictOfLocked(
  em: EntityManager,
  cfe: Cfe,
  { status, reasons, withdraws }: Verdict,
  mails: VerdictMails,
): Promise<StoredVerdict | null> {
  const { now } = mails;
  const from = cfe.status;
  const { from: rejected, to: accepted } = WITHDRAWN_REJECTION;
  const isMove = withdraws ? from === rejected && status === accepted : canBecome(from, status);
  if (!isMove) return null;
  cfe.status = status;
  cfe.rejection = reasons.length > 0 ? [...reasons] : null;
  cfe.stuckReason = null;
  cfe.settledAt = now;
  await recordEvent(em, cfe, cfeUpdated(cfe, from, withdraws && 'rejection.withdrawn'), now);
  await tellNotes(em, cfe.id, now);
  if (status !== 'REJECTED') {
    await recordVerdictMails(em, cfe, mails);
    recordVerdictExchange(em, cfe, now);
  }
  return verdictStored(cfe, status, now);
}

const verdictStored = (
  { environment, type, createdAt }: Pick<Cfe, 'environment' | 'type' | 'createdAt'>,
  status: FinalStatus,
  now: Date,
): StoredVerdict => ({ environment, type, status, seconds: (now.getTime() - createdAt.getTime()) / 1_000 });

/** After the commit: what was enqueued goes out at once, and the metrics learn of the verdict. */
export function afterVerdict(deps: VerdictDeps, verdict: StoredVerdict | null): void {
  if (verdict) deps.onVerdict?.(verdict);
  deps.outbox.dispatchSoon();
}
