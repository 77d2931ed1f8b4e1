import type { EntityManager } from '@mikro-orm/postgresql';
import { RateLimit } from './entities/RateLimit.ts';

/** Stores how many requests an hour an account may make in an environment; `keep`: unless a number is there already. */
export async function putRateLimit(
  em: EntityManager,
  limit: Omit<RateLimit, symbol>,
  { keep = false }: { keep?: boolean } = {},
): Promise<void> {
  await em.upsert(RateLimit, limit, {
    onConflictFields: ['accountId', 'environment'],
    onConflictAction: keep ? 'ignore' : 'merge',
  });
}
