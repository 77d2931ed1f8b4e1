import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { activityInfo } from '@temporalio/activity';
import { markStuck } from '../db/cfes.ts';
import { Cfe, type RejectionReason } from '../db/entities/Cfe.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import type { SobreTicket } from '../dgi/client.ts';
import type { Unsettled } from '../dgi/outcomes.ts';
import { type FinalStatus, isFinal } from '../domain/cfeStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { failpoint } from '../failpoints.ts';
import type { Gate, Turn } from '../gate/gate.ts';
import type { Authority } from './authority.ts';
import { beginSend } from './beginSend.ts';
import { notYet, pollPause, type Stuck, untilProbe } from './failures.ts';
import { prepareSobre } from './prepareSobre.ts';
import { type SettleDeps, settleCfe } from './settleCfe.ts';
import { storeReceived } from './storeReceived.ts';
import {
  countUndecided,
  stuck,
  UNDECIDED,
  type UndecidedDeps,
  undecidedForTooLong,
  unsettledStep,
} from './undecided.ts';

export interface SubmitDeps extends SettleDeps, UndecidedDeps {
  authority: Authority;
  /** Says when a sobre may be sent. */
  gate: Gate;
  /** The authority's own RUT, to which sobres are addressed. */
  authorityRut: Readonly<Record<Environment, string>>;
  /** Longest pause between two questions for a verdict, seconds. */
  pollLongestSeconds: number;
}

export type Submitted = { status: 'RECEIVED' } | { status: FinalStatus };
/** The CFE waits for its turn to be sent; the signal `turnCame` says that it has come. */
export type Waits = { status: 'WAITS' };

const ORIGINAL_REJECTED: RejectionReason = {
  code: 'reference.rejected',
  message:
    'The CFE that this note corrects was rejected; the note was never sent and its number is to be annulled.',
  detail: null,
};
const NUMBER_TAKEN: RejectionReason = {
  code: 'S08',
  message:
    'At its first send the authority had a sobre of this number already: from another system of the company, or from before the database was restored.',
  detail: null,
};
const WAITS: Waits = { status: 'WAITS' };
const REFUSED_WITHOUT_REASONS =
  'The authority lists the sobre as refused but gives no reasons. Ask the authority for them; then retry, or abandon the CFE.';

/** What `submitCfe` does (dgi.ts). */
export async function submit(deps: SubmitDeps, cfeId: string): Promise<Submitted | Waits | Stuck> {
  const em = deps.orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { id: cfeId });
  if (isFinal(cfe.status)) return { status: cfe.status };
  if (cfe.status === 'RECEIVED') return { status: 'RECEIVED' };
  if (cfe.stuckReason !== null) await markStuck(em, cfeId, null);
  if (await originalWasRejected(em, cfe)) {
    await settleCfe(deps, cfeId, 'REJECTED', [ORIGINAL_REJECTED]);
    return { status: 'REJECTED' };
  }
  const sobre = await prepareSobre(deps, cfe);
  failpoint('submit.sobreStored');
  const turn = await deps.gate.enter(cfe);
  failpoint('gate.entered');
  if (turn === 'waits') return WAITS;
  if ('probeAt' in turn) throw untilProbe(turn.probeAt, deps.clock());
  return sobre.state === 'PREPARED' ? send(deps, cfe, sobre, turn) : askThenSend(deps, cfe, sobre, turn);
}

async function originalWasRejected(em: EntityManager, { referenceId }: Cfe): Promise<boolean> {
  if (referenceId === null) return false;
  const original = await em.findOneOrFail(Cfe, { id: referenceId });
  return original.status === 'REJECTED';
}

/** A send was begun earlier and nobody knows how it ended: the authority is asked; the same bytes go out if not found. */
async function askThenSend(
  deps: SubmitDeps,
  cfe: Cfe,
  sobre: Sobre,
  turn: Turn,
): Promise<Submitted | Waits | Stuck> {
  const answer = await deps.authority.findSobre(cfe, sobre);
  failpoint('submit.found');
  switch (answer.kind) {
    case 'received':
      return received(deps, cfe, sobre, turn, answer);
    case 'absent':
      return send(deps, cfe, sobre, turn);
    case 'refused':
      // Its records hold no reasons: sending the same bytes again brings them, unless they are called a duplicate.
      return send(deps, cfe, sobre, turn, { listedAsRefused: true });
    case 'repeat':
    case 'stuck':
      return notSent(deps, cfe, sobre, turn, answer);
  }
}

async function send(
  deps: SubmitDeps,
  cfe: Cfe,
  sobre: Sobre,
  turn: Turn,
  { listedAsRefused } = { listedAsRefused: false },
): Promise<Submitted | Waits | Stuck> {
  const em = deps.orm.em.fork();
  const begun = await beginSend(deps, sobre);
  if (begun === 'over') {
    await deps.gate.leave(em, cfe, turn);
    return submit(deps, cfe.id);
  }
  if (begun === 'elsewhere') throw notYet('Another try has this sobre in hand.', 1_000);
  const { sendingAt, leaveBy } = begun;
  failpoint('submit.sendingStored');
  let hasSlot = true;
  const ready = async (): Promise<boolean> => (hasSlot = await deps.gate.untilSlot(cfe, turn));
  const answer = await deps.authority.sendSobre(cfe, sobre, { leaveBy, ready, isProbe: turn.isProbe });
  if (!hasSlot) {
    await deps.gate.wait(cfe);
    return WAITS;
  }
  failpoint('submit.answered');
  switch (answer.kind) {
    case 'received':
      return received(deps, cfe, sobre, turn, answer);
    case 'refused':
      await em.nativeUpdate(Sobre, { id: sobre.id }, { state: 'REFUSED', refusal: [...answer.reasons] });
      failpoint('submit.refusalStored');
      await deps.gate.leave(em, cfe, turn);
      await settleCfe(deps, cfe.id, 'REJECTED', [...answer.reasons]);
      return { status: 'REJECTED' };
    case 'duplicate':
      if (listedAsRefused) {
        await deps.gate.leave(em, cfe, turn);
        return stuck(em, cfe.id, 'sobre.refused_without_reasons', REFUSED_WITHOUT_REASONS);
      }
      if (sobre.state === 'PREPARED' && (await numberIsTaken(em, sobre, sendingAt)))
        throw notYet('The number of the sobre was used before, by none that we know; the next is taken.', 1);
      if (await undecidedForTooLong(deps, sobre)) {
        await deps.gate.leave(em, cfe, turn);
        return stuck(em, cfe.id, 'undecided', UNDECIDED);
      }
      throw notYet(
        'The authority has this sobre already; it is asked for its receipt.',
        pollPause(activityInfo().attempt, deps.pollLongestSeconds),
      );
    case 'repeat':
    case 'stuck':
      return notSent(deps, cfe, sobre, turn, answer);
  }
}

/**
 * A sobre that is called a duplicate at its very first send: its number belongs to another, and the CFE goes out in a
 * new one. False where another try has sent it meanwhile.
 */
async function numberIsTaken(em: EntityManager, { id }: Sobre, sendingAt: Date): Promise<boolean> {
  const alone = { id, state: 'SENDING', sendingAt } as const;
  return (await em.nativeUpdate(Sobre, alone, { state: 'REFUSED', refusal: [NUMBER_TAKEN] })) > 0;
}

/** Stores that the authority has the sobre, with what it gave for asking about it. */
async function received(
  deps: SubmitDeps,
  cfe: Cfe,
  sobre: Sobre,
  turn: Turn,
  ticket: SobreTicket,
): Promise<Submitted> {
  await deps.orm.em.fork().transactional(async (em) => {
    const row = await em.findOneOrFail(Cfe, { id: cfe.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await storeReceived(em, row, sobre, ticket, deps.clock());
    await deps.gate.leave(em, cfe, turn);
  });
  failpoint('submit.receivedStored');
  deps.outbox.dispatchSoon();
  return { status: 'RECEIVED' };
}

/**
 * A send, or the question before it, that settled nothing. While the authority is away the CFE waits for its turn, or
 * tries again as the probe; nothing then counts as being undecided, error pages neither.
 */
async function notSent(
  deps: SubmitDeps,
  cfe: Cfe,
  sobre: Sobre,
  turn: Turn,
  answer: Unsettled,
): Promise<Waits | Stuck> {
  const next = answer.kind === 'stuck' ? 'tryAgain' : await deps.gate.afterFailure(cfe);
  failpoint('gate.failed');
  if (next === 'tryAgain') {
    const left = await unsettledStep(deps, sobre, answer);
    await deps.gate.leave(deps.orm.em.fork(), cfe, turn);
    return left;
  }
  if (sobre.undecidedSince !== null) await countUndecided(deps, sobre.id, null);
  if (next === 'waits') return WAITS;
  throw untilProbe(next.probeAt, deps.clock());
}
