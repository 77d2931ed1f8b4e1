import { LockMode } from '@mikro-orm/postgresql';
import { receiveUnheard } from '../../db/cfes.ts';
import type { Sobre } from '../../db/entities/authority.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import type { FateUnknown, SobreTicket } from '../../dgi/client.ts';
import type { Unclear } from '../../dgi/outcomes.ts';
import type { SubmitResult } from '../../domain/activityResults.ts';
import { failpoint } from '../../failpoints.ts';
import type { Gate, Permit } from '../../gate/gate.ts';
import { untilProbe } from './failures.ts';
import { takeAttempts } from './noteAttempts.ts';
import { storeReceived } from './storeReceived.ts';
import { countUndecided, repeatOrLeave, type UndecidedDeps } from './undecided.ts';

export interface AfterSendDeps extends UndecidedDeps {
  /** Says when a sobre may be sent. */
  gate: Gate;
  outbox: { dispatchSoon(): void };
}

/** A CFE that the gate let through, with its sobre. */
export interface Sending {
  cfe: Cfe;
  sobre: Sobre;
  permit: Permit;
  /** What signs requests about it. */
  certificate: Certificate;
}

/** Stores that the authority has the sobre, with what it gave for asking about it. */
export async function storeReceipt(
  deps: AfterSendDeps,
  { cfe, sobre, permit }: Sending,
  ticket: SobreTicket,
): Promise<SubmitResult> {
  const now = deps.clock();
  const isQuiet = !permit.hasEntry && !permit.isProbe;
  const stored = () => receiveUnheard(deps.orm.em.fork(), sobre, ticket, { now, attempts: takeAttempts() });
  if (isQuiet && (await stored())) {
    failpoint('submit.receivedStored');
    return { kind: 'received' };
  }
  await deps.orm.em.fork().transactional(async (em) => {
    const row = await em.findOneOrFail(Cfe, { id: cfe.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await storeReceived(em, row, sobre, ticket, now);
    await deps.gate.leave(em, cfe, permit);
  });
  failpoint('submit.receivedStored');
  deps.outbox.dispatchSoon();
  return { kind: 'received' };
}

/**
 * A send, or the question before it, of which nothing came. While the authority is away the CFE waits at the gate, or
 * tries again as the prober; nothing then counts as being undecided, error pages neither.
 */
export async function afterUnclear(
  deps: AfterSendDeps,
  { cfe, sobre, permit }: Sending,
  answer: Unclear | FateUnknown,
): Promise<SubmitResult> {
  const next = answer.kind === 'stuck' ? 'tryAgain' : await deps.gate.afterFailure(cfe);
  failpoint('gate.failed');
  if (next === 'tryAgain') {
    const stuck = await repeatOrLeave(deps, sobre, answer);
    await deps.gate.leave(deps.orm.em.fork(), cfe, permit);
    return stuck;
  }
  if (sobre.undecidedSince !== null) await countUndecided(deps, sobre.id, null);
  if (next === 'waits') return { kind: 'waits' };
  throw untilProbe(next.probeIn);
}
