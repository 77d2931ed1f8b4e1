import { activityInfo } from '@temporalio/activity';
import { Sobre } from '../../db/entities/authority.ts';
import type { Orm } from '../../db/orm.ts';
import type { FateUnknown } from '../../dgi/client.ts';
import { type Unclear, unclear } from '../../dgi/outcomes.ts';
import type { Stuck } from '../../domain/activityResults.ts';
import { unreachable } from './failures.ts';
import { leaveToSupport } from './leaveToSupport.ts';

export interface UndecidedDeps {
  orm: Orm;
  clock: () => Date;
  /** How long a reachable authority may be undecided before a person is asked to look, seconds. */
  patienceSeconds: number;
}

/**
 * Whether the authority has answered, and nothing came of it, for longer than our patience. Counted while it can be
 * reached: an outage starts the count anew, and so does support's retry.
 */
export async function undecidedForTooLong(
  deps: UndecidedDeps,
  { id, undecidedSince }: Sobre,
): Promise<boolean> {
  const now = deps.clock();
  const since = undecidedSince ?? now;
  const tooLong = now.getTime() - since.getTime() > deps.patienceSeconds * 1_000;
  if (tooLong || undecidedSince === null) await countUndecided(deps, id, tooLong ? null : since);
  return tooLong;
}

/** Sets since when the authority answers and nothing comes of it; null starts the count anew. */
export async function countUndecided(
  { orm }: UndecidedDeps,
  sobreId: string,
  undecidedSince: Date | null,
): Promise<void> {
  await orm.em.fork().nativeUpdate(Sobre, { id: sobreId }, { undecidedSince });
}

/** What becomes of an answer of which nothing comes: the step is tried again by itself, or left to a person. */
export async function repeatOrLeave(
  deps: UndecidedDeps,
  sobre: Sobre,
  answer: Unclear | FateUnknown,
): Promise<Stuck> {
  if (answer.kind === 'stuck') return leaveToSupport(deps.orm.em.fork(), sobre.cfeUuid, answer);
  if (answer.kind === 'repeat' && !answer.reached) {
    if (sobre.undecidedSince !== null) await countUndecided(deps, sobre.id, null);
    throw unreachable(activityInfo().attempt, answer.what);
  }
  if (await undecidedForTooLong(deps, sobre)) return leaveUndecided(deps, sobre);
  const what =
    answer.kind === 'fateUnknown' ? `${answer.what}; it is asked before it is sent again` : answer.what;
  throw unreachable(activityInfo().attempt, what);
}

/** Leaves a CFE to a person, for the authority has not decided it within our patience. */
export function leaveUndecided({ orm }: UndecidedDeps, { cfeUuid }: Sobre): Promise<Stuck> {
  return leaveToSupport(orm.em.fork(), cfeUuid, unclear('ask', 'undecided'));
}
