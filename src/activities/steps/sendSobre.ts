import type { EntityManager } from '@mikro-orm/postgresql';
import { activityInfo } from '@temporalio/activity';
import { Sobre } from '../../db/entities/authority.ts';
import { outcomeOf, unclear } from '../../dgi/outcomes.ts';
import type { Stuck, SubmitResult } from '../../domain/activityResults.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import { failpoint } from '../../failpoints.ts';
import { type AfterSendDeps, afterUnclear, type Sending, storeReceipt } from './afterSend.ts';
import type { Authority } from './authority.ts';
import { beginSend } from './beginSend.ts';
import { decided } from './decided.ts';
import { notYet, pollPause } from './failures.ts';
import { leaveToSupport } from './leaveToSupport.ts';
import { storeVerdict, type VerdictDeps } from './storeVerdict.ts';
import { leaveUndecided, undecidedForTooLong } from './undecided.ts';

export interface SendDeps extends AfterSendDeps, VerdictDeps {
  authority: Authority;
  /** Longest pause between two questions for a verdict, seconds. */
  pollLongestSeconds: number;
}

const NUMBER_TAKEN: RejectionReason = {
  code: 'S08',
  message:
    'At its first send the authority had a sobre of this number already: from another system of the company, or from before the database was restored.',
  detail: null,
};

/**
 * Sends a sobre in its slot and stores what the authority answers. 'movedOn': the CFE's row says meanwhile that nothing
 * is to be sent any more.
 */
export async function sendSobre(
  deps: SendDeps,
  sending: Sending,
  { listedAsRefused } = { listedAsRefused: false },
): Promise<SubmitResult | 'movedOn'> {
  const { cfe, sobre, permit, certificate } = sending;
  const em = deps.orm.em.fork();
  const begun = await beginSend(deps, sobre);
  if (begun === 'movedOn') {
    await deps.gate.leave(em, cfe, permit);
    return begun;
  }
  if (begun === 'elsewhere') throw notYet('Another attempt has this sobre in hand.', 1_000);
  const { sendingAt, leaveBy } = begun;
  failpoint('submit.sendingStored');
  let hasSlot = true;
  const ready = async (): Promise<boolean> => (hasSlot = await deps.gate.untilSlot(cfe, permit));
  const departure = { leaveBy, ready, isProbe: permit.isProbe };
  const answer = await deps.authority.sendSobre(cfe, sobre, departure, certificate);
  if (!hasSlot) {
    await deps.gate.wait(cfe);
    return { kind: 'waits' };
  }
  failpoint('submit.answered');
  switch (answer.kind) {
    case 'received':
      return storeReceipt(deps, sending, answer);
    case 'refused':
      await em.nativeUpdate(Sobre, { id: sobre.id }, { state: 'REFUSED', refusal: [...answer.reasons] });
      failpoint('submit.refusalStored');
      await deps.gate.leave(em, cfe, permit);
      await storeVerdict(deps, cfe.id, { status: 'REJECTED', reasons: answer.reasons });
      return decided('REJECTED', answer.reasons);
    case 'duplicate':
      return afterDuplicate(deps, sending, { sendingAt, listedAsRefused });
    case 'fateUnknown': // the sobre stays SENDING, so that the next attempt asks first
    case 'repeat':
    case 'stuck':
      return afterUnclear(deps, sending, answer);
  }
}

/** The authority calls the sobre a duplicate: what follows depends on which of our sends it is answering. */
async function afterDuplicate(
  deps: SendDeps,
  { cfe, sobre, permit }: Sending,
  { sendingAt, listedAsRefused }: { sendingAt: Date; listedAsRefused: boolean },
): Promise<Stuck> {
  const em = deps.orm.em.fork();
  const sent = sobre.state === 'PREPARED' ? 'at the first send' : 'at a later send';
  const answer = listedAsRefused ? 'though listed as refused' : sent;
  const { reaction } = outcomeOf('duplicate', answer);
  if (reaction === 'stuck') {
    await deps.gate.leave(em, cfe, permit);
    return leaveToSupport(em, cfe.id, unclear('duplicate', answer));
  }
  if (reaction === 'renumber' && (await numberIsTaken(em, sobre, sendingAt)))
    throw notYet('The number of the sobre was used before, by none that we know; the next is taken.', 1);
  if (await undecidedForTooLong(deps, sobre)) {
    await deps.gate.leave(em, cfe, permit);
    return leaveUndecided(deps, sobre);
  }
  throw notYet(
    'The authority has this sobre already; it is asked for its receipt.',
    pollPause(activityInfo().attempt, deps.pollLongestSeconds),
  );
}

/**
 * A sobre that is called a duplicate at its very first send: its number belongs to another, and the CFE goes out in a
 * new one. False where another attempt has sent it meanwhile.
 */
async function numberIsTaken(em: EntityManager, { id }: Sobre, sendingAt: Date): Promise<boolean> {
  const alone = { id, state: 'SENDING', sendingAt } as const;
  return (await em.nativeUpdate(Sobre, alone, { state: 'REFUSED', refusal: [NUMBER_TAKEN] })) > 0;
}
