import type { EntityManager } from '@mikro-orm/postgresql';
import { wasCfeInSobre } from '../../db/authority/sobres.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { annulUndecidedNumber, isNumberUndecided } from '../../db/numbers/numbers.ts';
import type { FindStateAnswer } from './authority.ts';
import { type MoveDeps, writeMoves } from './storeMoves.ts';

/** The authority's record of a number. */
type Held = Extract<FindStateAnswer, { kind: 'found' | 'absent' }>;

/** The result; `others`: the authority accepted a CFE of another sobre under the number. */
type Settled =
  | { what: 'accepted'; stored: Awaited<ReturnType<typeof writeMoves>> }
  | { what: 'annulled' | 'undecided' | 'others' | 'decided'; stored?: never };

/**
 * Settles a CFE rejected for E06 alone by the authority's record (docs/contract.md#rejected-for-e06):
 * accepted since, it becomes ACCEPTED; otherwise `annul` annuls its number. The caller's transaction holds
 * the lock of the CFE; a decided one stays as it is.
 */
export async function settleRejected(
  deps: MoveDeps,
  em: EntityManager,
  cfe: Cfe,
  { held, annul }: { held: Held; annul: boolean },
): Promise<Settled> {
  if (!(await isNumberUndecided(em, cfe.id))) return { what: 'decided' };
  if (held.kind === 'found' && held.state === 'AE') {
    if (!(await wasCfeInSobre(em, cfe.id, held.idemisor, { refused: true }))) return { what: 'others' };
    const move = { cfe, to: 'ACCEPTED', reasons: [], withdraws: true } as const;
    return { what: 'accepted', stored: await writeMoves(deps, em, [move], { sobreId: null }) };
  }
  const isRejected = held.kind === 'absent' || held.state === 'BE';
  if (!annul || !isRejected) return { what: 'undecided' };
  await annulUndecidedNumber(em, cfe, deps.clock());
  return { what: 'annulled' };
}
