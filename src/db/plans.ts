import type { EntityManager } from '@mikro-orm/postgresql';
import { Plan } from './entities/Plan.ts';

/** What the plan costs at that frequency, or null when no such row is on sale. */
export function findPlan(em: EntityManager, planId: string, frequencyId: string): Promise<Plan | null> {
  return em.findOne(Plan, { planId, frequencyId });
}

/** All plans on sale. */
export function listPlans(em: EntityManager): Promise<Plan[]> {
  return em.find(Plan, {}, { orderBy: { planId: 'asc', frequencyId: 'asc' } });
}

/** Stores plans, in place of those of the same name and frequency. */
export async function putPlans(em: EntityManager, plans: readonly Omit<Plan, symbol>[]): Promise<void> {
  if (plans.length > 0)
    await em.upsertMany(Plan, [...plans], { onConflictFields: ['planId', 'frequencyId'] });
}
