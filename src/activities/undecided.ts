import type { EntityManager } from '@mikro-orm/postgresql';
import { activityInfo } from '@temporalio/activity';
import { markStuck } from '../db/cfes.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import type { Orm } from '../db/orm.ts';
import type { Unsettled } from '../dgi/outcomes.ts';
import { type Stuck, unreachable } from './failures.ts';

export interface UndecidedDeps {
  orm: Orm;
  clock: () => Date;
  /** How long a reachable authority may be undecided before a person is asked to look, seconds. */
  patienceSeconds: number;
}

export const UNDECIDED =
  'The authority answers, but has not settled this CFE for longer than CFE_PATIENCE. Ask the authority what became of it; then settle by asking, or retry.';

/**
 * Whether the authority has answered without settling anything for longer than our patience. Counted while it can be
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

/** Sets since when the authority answers without settling anything; null starts the count anew. */
export async function countUndecided(
  { orm }: UndecidedDeps,
  sobreId: string,
  undecidedSince: Date | null,
): Promise<void> {
  await orm.em.fork().nativeUpdate(Sobre, { id: sobreId }, { undecidedSince });
}

/** What becomes of an answer that settles nothing: the step is tried again by itself, or left to a person. */
export async function unsettledStep(deps: UndecidedDeps, sobre: Sobre, answer: Unsettled): Promise<Stuck> {
  const em = deps.orm.em.fork();
  if (answer.kind === 'stuck') return stuck(em, sobre.cfeId, answer.reason, answer.explanation);
  if (!answer.reached && sobre.undecidedSince !== null) await countUndecided(deps, sobre.id, null);
  if (answer.reached && (await undecidedForTooLong(deps, sobre)))
    return stuck(em, sobre.cfeId, 'undecided', UNDECIDED);
  throw unreachable(activityInfo().attempt, answer.what);
}

/** Leaves a CFE to a person. */
export async function stuck(
  em: EntityManager,
  cfeId: string,
  reason: string,
  explanation: string,
): Promise<Stuck> {
  await markStuck(em, cfeId, reason);
  return { stuck: reason, explanation };
}
