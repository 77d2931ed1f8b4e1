import type { EntityManager } from '@mikro-orm/postgresql';
import { Cfe } from '../db/entities/Cfe.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import type { Activity } from './activities.ts';
import { leaveToSupport } from './steps/leaveToSupport.ts';
import { type SignDeps, signOnce } from './steps/signOnce.ts';

const KEY_LOST =
  'The CFE cannot be signed: the private key of its certificate cannot be opened (is its key-encryption key configured?). Nothing was sent to the authority.';

/**
 * Writes and signs the XML of a CFE and stores it, once: a second run finds it stored. Answers whether the CFE is a
 * note whose original has no verdict yet.
 */
export function createSignCfe(deps: SignDeps): Activity<'signCfe'> {
  return async (cfeUuid) => {
    const em = deps.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { id: cfeUuid });
    if (isFinal(cfe.status)) return { kind: 'signed' };
    const obstacle = cfe.digest === null ? await signOnce(deps, cfe) : null;
    if (obstacle !== null) {
      const explanation = `${KEY_LOST} ${obstacle}`;
      return leaveToSupport(em, cfeUuid, { kind: 'stuck', reason: 'signing', explanation });
    }
    return { kind: (await waitsForOriginal(em, cfe)) ? 'waitsForOriginal' : 'signed' };
  };
}

/**
 * Whether the CFE that this one corrects is still without verdict. Whoever stores that verdict later tells the note
 * (its row exists by then), so a "yes" is always followed by the signal.
 */
async function waitsForOriginal(em: EntityManager, { referenceId }: Cfe): Promise<boolean> {
  if (referenceId === null) return false;
  const original = await em.findOneOrFail(Cfe, { id: referenceId });
  return !isFinal(original.status);
}
