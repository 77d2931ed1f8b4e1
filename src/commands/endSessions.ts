import { endSessionsOf } from '../db/consoleSessions.ts';
import { requirePerson } from '../db/people.ts';
import { isUuid } from '../domain/uuid.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Ends sessions of a user: all, all `but` one, or `only` one; answers how many. Of one that has ended, or is another's, none.
 * Refuses an unknown user (NOT_FOUND).
 */
export function endSessions(
  deps: CommandDeps,
  input: { email: string; only?: string; but?: string; reason?: string | undefined },
): Promise<number> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await requirePerson(em, input.email);
    if (input.only !== undefined && !isUuid(input.only)) return 0;
    const ended = await endSessionsOf(em, person.id, input, now);
    const why = input.reason === undefined ? {} : { reason: input.reason };
    audited(deps, em, { action: 'user.end_sessions', subject: person.email, ...why }, now);
    return ended;
  });
}
