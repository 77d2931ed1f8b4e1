import { log } from '@temporalio/activity';
import { cfeInHand } from '../db/cfeInHand.ts';
import type { SubmitResult } from '../domain/activityResults.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import { ORIGINAL_REJECTED } from '../domain/rejection.ts';
import { failpoint } from '../failpoints.ts';
import type { Activity } from './activities.ts';
import { afterUnclear, type Sending, storeReceipt } from './steps/afterSend.ts';
import { decided } from './steps/decided.ts';
import { untilProbe } from './steps/failures.ts';
import { notingAttempts } from './steps/noteAttempts.ts';
import { isOwnFault } from './steps/ownFaults.ts';
import { type PrepareDeps, prepareSobre } from './steps/prepareSobre.ts';
import { type SendDeps, sendSobre } from './steps/sendSobre.ts';
import { storeVerdict } from './steps/storeVerdict.ts';
import { takenUp } from './steps/takenUp.ts';
import { whileBeating } from './steps/whileBeating.ts';

export type SubmitDeps = PrepareDeps & SendDeps;

/**
 * Brings a signed CFE to the authority: the sobre is stored before it is sent, and once a send was begun the authority
 * is asked before the same bytes go out again. Where the authority is away, or others are before it, the CFE waits at
 * the gate; the step is taken again once it has been given a slot.
 */
export function createSubmitCfe(deps: SubmitDeps): Activity<'submitCfe'> {
  return (cfeUuid) => whileBeating(() => notingAttempts(deps, cfeUuid, () => givingWay(deps, cfeUuid)));
}

/**
 * A mistake of ours fails at every attempt: the CFE must not keep its slot from others meanwhile, still less the part of
 * the prober, without which nobody learns that the authority is back. It gets in line anew at its next attempt.
 */
async function givingWay(deps: SubmitDeps, cfeUuid: string): Promise<SubmitResult> {
  try {
    return await submit(deps, cfeUuid);
  } catch (error) {
    if (isOwnFault(error))
      await deps.gate
        .giveUp(cfeUuid)
        .catch((failure: unknown) => log.warn('a slot could not be given up', { error: failure }));
    throw error;
  }
}

async function submit(deps: SubmitDeps, cfeUuid: string): Promise<SubmitResult> {
  const em = deps.orm.em.fork();
  const hand = await cfeInHand(em, cfeUuid, { withSobreXml: true });
  const { cfe, current: certificate } = hand;
  if (isFinal(cfe.status)) return decided(cfe.status, cfe.rejection);
  if (cfe.status === 'RECEIVED') return { kind: 'received' };
  await takenUp(em, cfe);
  if (hand.original?.status === 'REJECTED') {
    await storeVerdict(deps, cfeUuid, { status: 'REJECTED', reasons: ORIGINAL_REJECTED });
    return decided('REJECTED', ORIGINAL_REJECTED);
  }
  const sobre = hand.sobre ?? (await prepareSobre(deps, cfe));
  failpoint('submit.sobreStored');
  const permit = await deps.gate.enter(cfe);
  failpoint('gate.entered');
  if (permit === 'waits') return { kind: 'waits' };
  if ('probeIn' in permit) throw untilProbe(permit.probeIn);
  const sending = { cfe, sobre, permit, certificate };
  const result = await (sobre.state === 'PREPARED' ? sendSobre(deps, sending) : askThenSend(deps, sending));
  return result === 'movedOn' ? submit(deps, cfeUuid) : result;
}

/** A send was begun earlier and nobody knows how it ended: the authority is asked; the same bytes go out if not found. */
async function askThenSend(deps: SubmitDeps, sending: Sending): Promise<SubmitResult | 'movedOn'> {
  const answer = await deps.authority.findSobre(sending.cfe, sending.sobre, sending.certificate);
  failpoint('submit.found');
  switch (answer.kind) {
    case 'received':
      return storeReceipt(deps, sending, answer);
    case 'absent':
      return sendSobre(deps, sending);
    case 'refused':
      // Its records hold no reasons: sending the same bytes again brings them, unless they are called a duplicate.
      return sendSobre(deps, sending, { listedAsRefused: true });
    case 'repeat':
    case 'stuck':
      return afterUnclear(deps, sending, answer);
  }
}
