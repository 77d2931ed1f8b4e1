import type { EntityManager } from '@mikro-orm/postgresql';
import { wasCfeInSobre } from '../../db/authority/sobres.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { annulUndecidedNumber, isNumberUndecided } from '../../db/numbers/numbers.ts';
import type { FindStateAnswer } from './authority.ts';
import { type MoveDeps, writeMoves } from './storeMoves.ts';

/** The authority's state of a number. */
type NumberState = Extract<FindStateAnswer, { kind: 'found' | 'absent' }>;

/** The result; `others`: the authority accepted a CFE of another sobre under the number. */
type Settled =
  | { kind: 'accepted'; stored: Awaited<ReturnType<typeof writeMoves>> }
  | { kind: 'annulled' | 'undecided' | 'others' | 'decided'; stored?: never };

/**
 * Settles a CFE rejected for E06 alone by the authority's record (docs/contract.md#rejected-for-e06):
 * moves a CFE that was accepted since to ACCEPTED; otherwise `annul` annuls its number. The caller's transaction holds
 * the lock of the CFE; a decided CFE stays as it is.
 */
export async function settleRejected(
  deps: MoveDeps,
  em: EntityManager,
  cfe: Cfe,
  { state, annul }: { state: NumberState; annul: boolean },
): Promise<Settled> {
  if (!(await isNumberUndecided(em, cfe.id))) return { kind: 'decided' };
  if (state.kind === 'found' && state.state === 'AE') {
    if (!(await wasCfeInSobre(em, cfe.id, state.idemisor, { refused: true }))) return { kind: 'others' };
    const move = { cfe, to: 'ACCEPTED', reasons: [], withdraws: true } as const;
    return { kind: 'accepted', stored: await writeMoves(deps, em, [move], { sobreId: null }) };
  }
  const isRejected = state.kind === 'absent' || state.state === 'BE';
  if (!annul || !isRejected) return { kind: 'undecided' };
  await annulUndecidedNumber(em, cfe, deps.clock());
  return { kind: 'annulled' };
}
