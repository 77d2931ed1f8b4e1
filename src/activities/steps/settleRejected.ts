import type { EntityManager } from '@mikro-orm/postgresql';
import { Sobre } from '../../db/entities/authority.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import type { VerdictMails } from '../../db/mails.ts';
import { annulUndecided, isNumberUndecided } from '../../db/numbers.ts';
import type { FindStateAnswer } from './authority.ts';
import { storeVerdictOfLocked } from './storeVerdict.ts';

/** What the authority has under a number, when it says so. */
type Held = Extract<FindStateAnswer, { kind: 'found' | 'absent' }>;

/** What came of asking: `others`, the authority accepted a CFE of another sobre under the number. */
type Settled = 'accepted' | 'annulled' | 'undecided' | 'others' | 'decided';

/**
 * Stores what follows from what the authority has of a CFE that it rejected for E06 alone (docs/contract.md#rejected-for-e06):
 * accepted since, it becomes ACCEPTED; otherwise its number is annulled where `annul` says so. The open transaction holds the
 * lock of the CFE; one that is decided already is left alone.
 */
export async function settleRejected(
  em: EntityManager,
  cfe: Cfe,
  held: Held,
  { annul, ...mails }: { annul: boolean } & VerdictMails,
): Promise<Settled> {
  if (!(await isNumberUndecided(em, cfe.id))) return 'decided';
  if (held.kind === 'found' && held.state === 'AE') {
    const isOurs = /^\d{1,10}$/.test(held.idemisor)
      ? (await em.count(Sobre, { cfeUuid: cfe.id, idemisor: BigInt(held.idemisor) })) > 0
      : false;
    if (!isOurs) return 'others';
    await storeVerdictOfLocked(em, cfe, { status: 'ACCEPTED', reasons: [], withdraws: true }, mails);
    return 'accepted';
  }
  const isRejected = held.kind === 'absent' || held.state === 'BE';
  if (!annul || !isRejected) return 'undecided';
  await annulUndecided(em, cfe, mails.now);
  return 'annulled';
}
