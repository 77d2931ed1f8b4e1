import type { Logger } from '../../logger.ts';
import { ensureSearchAttributes } from '../../searchAttributes.ts';
import type { TemporalServer } from '../../temporal.ts';

const AGAIN_MILLISECONDS = 5_000;

/**
 * Creates a check that adds missing search attributes to a namespace. Without the attributes every workflow task fails, so
 * the check retries until they exist; until then `missing` explains the problem.
 */
export function createSearchAttributeCheck(logger: Logger) {
  let problem: string | null = null;
  return {
    /** The problem at the last check; null without one. */
    missing: (): string | null => problem,
    async areThere(server: TemporalServer, namespace: string): Promise<void> {
      for (;;) {
        try {
          const missing = await ensureSearchAttributes(server, namespace);
          problem =
            missing.length > 0 ? `Temporal is missing the search attributes ${missing.join(', ')}` : null;
          if (problem === null) return;
          logger.error(
            { namespace, missing },
            'Temporal is missing search attributes, which cannot be added',
          );
        } catch (err) {
          problem = 'The search attributes in Temporal cannot be read';
          logger.warn({ err, namespace }, problem);
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MILLISECONDS));
      }
    },
  };
}
