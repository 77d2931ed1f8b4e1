import { markApiKeyUsed } from '../db/accounts.ts';
import type { CommandDeps } from './deps.ts';

/** How exact last_used_at is: a key in constant use writes it once a minute, not with every request. */
const EXACT_TO_MILLISECONDS = 60_000;

/** Writes down that an API key is in use now, where what stands there is older than a minute. */
export async function recordKeyUse(
  deps: CommandDeps,
  key: { readonly id: string; readonly lastUsedAt?: Date | null },
): Promise<void> {
  const now = deps.clock();
  if (key.lastUsedAt && now.getTime() - key.lastUsedAt.getTime() < EXACT_TO_MILLISECONDS) return;
  await markApiKeyUsed(deps.orm.em.fork(), key.id, now);
}
