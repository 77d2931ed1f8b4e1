import type { Logger } from '../logger.ts';
import { ensureSearchAttributes } from '../searchAttributes.ts';
import type { TemporalServer } from '../temporal.ts';

const AGAIN_MILLISECONDS = 5_000;

/**
 * Waits until a namespace has the search attributes, and adds missing ones. Without them every workflow task
 * fails, so on failure the process keeps running, `lacks` names the missing ones, and it retries until they
 * exist.
 */
export function createSearchAttributeCheck(logger: Logger) {
  let lacking: string | null = null;
  return {
    /** The attributes missing at the last check; null: none. */
    lacks: (): string | null => lacking,
    async areThere(server: TemporalServer, namespace: string): Promise<void> {
      for (;;) {
        try {
          const missing = await ensureSearchAttributes(server, namespace);
          lacking = missing.length > 0 ? `Temporal lacks the search attributes ${missing.join(', ')}` : null;
          if (lacking === null) return;
          logger.error({ namespace, missing }, 'Temporal lacks search attributes, and they cannot be added');
        } catch (err) {
          lacking = 'Temporal does not say which search attributes it has';
          logger.warn({ err, namespace }, lacking);
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MILLISECONDS));
      }
    },
  };
}
