import { LockMode } from '@mikro-orm/postgresql';
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { Cfe } from '../db/entities/receipts.ts';
import { undecidedNumbers } from '../db/numbers.ts';
import type { RejectedResult } from '../domain/activityResults.ts';
import { isPastAcceptance } from '../domain/rejection.ts';
import { LEAST_UUID } from '../domain/uuid.ts';
import type { Activity } from './activities.ts';
import { recordAttempts, withHeartbeat } from './steps/attempt.ts';
import { type Authority, toAskedCfe } from './steps/authority.ts';
import { settleRejected } from './steps/settleRejected.ts';
import { afterMoves, type MoveDeps } from './steps/storeMoves.ts';

/** CFEs looked up at a time. */
const PAGE = 100;

interface AskRejectedDeps extends MoveDeps {
  authority: Authority;
  /** Questions to the authority in a second: nobody waits for them, and CFEs are sent meanwhile. */
  questionsPerSecond: number;
  /** CFEs looked up at a time; 100 unless told. */
  page?: number;
}

/**
 * Asks the authority about every CFE that it rejected for E06 alone and whose number is undecided: one that it has accepted
 * since becomes ACCEPTED, one that it has not accepted for 60 days has its number annulled. Where it gives no answer, the
 * next day's run asks again. Its repeat goes on behind the last one that was asked about: however many there are, an hour
 * of them at a time, it comes to the end.
 */
export function createAskRejected(deps: AskRejectedDeps): Activity<'askRejected'> {
  return () => {
    const progress = { ...BEGINNING, ...(activityInfo().heartbeatDetails as Progress | undefined) };
    return withHeartbeat(
      () => askAll(deps, progress),
      () => progress,
    );
  };
}

type Counts = Omit<RejectedResult, 'kind'>;
/** How far it is, as the server keeps it from attempt to attempt with the heartbeats. */
type Progress = Counts & { after: string };
const BEGINNING: Progress = { after: LEAST_UUID, accepted: 0, annulled: 0, undecided: 0, unanswered: 0 };

async function askAll(deps: AskRejectedDeps, progress: Progress): Promise<RejectedResult> {
  const { orm, questionsPerSecond, page = PAGE } = deps;
  for (;;) {
    const cfes = await undecidedNumbers(orm.em.fork(), { after: progress.after, limit: page });
    for (const cfe of cfes) {
      const began = performance.now();
      const what = await recordAttempts(deps, cfe.id, () => askAbout(deps, cfe));
      if (what !== 'decided') progress[what] += 1;
      progress.after = cfe.id;
      heartbeat(progress);
      const early = began + 1_000 / questionsPerSecond - performance.now();
      if (early > 0) await Context.current().sleep(early);
    }
    if (cfes.length < page) break;
  }
  const { after: _, ...counts } = progress;
  return { kind: 'asked', ...counts };
}

/** Asks about one; `decided` where somebody else did meanwhile. */
async function askAbout(deps: AskRejectedDeps, cfe: Cfe): Promise<keyof Counts | 'decided'> {
  const held = await deps.authority.findState(toAskedCfe(cfe));
  if (held.kind === 'repeat' || held.kind === 'stuck') return 'unanswered';
  const { what, stored } = await deps.orm.em.fork().transactional(async (em) => {
    const locked = await em.findOneOrFail(Cfe, { id: cfe.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const annul = isPastAcceptance(locked, deps.clock());
    return settleRejected(deps, em, locked, { held, annul });
  });
  if (stored) afterMoves(deps, stored);
  return what === 'others' ? 'undecided' : what;
}
