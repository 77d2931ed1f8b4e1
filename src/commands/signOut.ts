import { endSession, type LiveSession } from '../db/consoleSessions.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Ends a session; once it has ended nothing happens. */
export async function signOut(
  deps: CommandDeps,
  { id, email }: Pick<LiveSession, 'id' | 'email'>,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    if (!(await endSession(em, id, now))) return;
    audited(deps, em, { action: 'user.sign_out', subject: email }, now);
  });
}
