import { cfeInHand } from '../db/cfeInHand.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import type { Activity } from './activities.ts';
import { leaveToSupport } from './steps/leaveToSupport.ts';
import { type SignDeps, signOnce } from './steps/signOnce.ts';
import { takenUp } from './steps/takenUp.ts';

const KEY_LOST =
  'The CFE cannot be signed: the private key of its certificate cannot be opened (is its key-encryption key configured?). Nothing was sent to the authority.';

/**
 * Writes and signs the XML of a CFE and stores it, once: a second run finds it stored. The sobre of one that waits for
 * nobody is stored with it. Answers whether the CFE is a
 * note whose original has no verdict yet.
 */
export function createSignCfe(deps: SignDeps): Activity<'signCfe'> {
  return async (cfeUuid) => {
    const em = deps.orm.em.fork();
    const hand = await cfeInHand(em, cfeUuid);
    const { cfe, original } = hand;
    if (isFinal(cfe.status)) return { kind: 'signed' };
    await takenUp(em, cfe);
    const obstacle = cfe.digest === null ? await signOnce(deps, hand) : null;
    if (obstacle !== null) {
      const explanation = `${KEY_LOST} ${obstacle}`;
      return leaveToSupport(em, cfeUuid, { kind: 'stuck', reason: 'signing', explanation });
    }
    // Whoever stores that verdict later tells the note, so that it is always followed by the signal.
    if (original === null || isFinal(original.status)) return { kind: 'signed' };
    return { kind: 'waitsForOriginal', original: original.cfeId };
  };
}
