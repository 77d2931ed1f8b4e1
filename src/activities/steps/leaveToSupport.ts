import type { EntityManager } from '@mikro-orm/postgresql';
import { markStuck } from '../../db/cfes.ts';
import type { Unclear } from '../../dgi/outcomes.ts';
import type { Stuck } from '../../domain/activityResults.ts';

/** Leaves a CFE to a person; its row says why from now on. Throws for an answer that goes on by itself. */
export async function leaveToSupport(em: EntityManager, cfeUuid: string, answer: Unclear): Promise<Stuck> {
  if (answer.kind !== 'stuck') throw new RangeError(`${answer.what} goes on by itself`);
  await markStuck(em, cfeUuid, answer.reason);
  return { kind: 'stuck', reason: answer.reason, explanation: answer.explanation };
}
