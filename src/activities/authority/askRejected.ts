import { LockMode } from '@mikro-orm/postgresql';
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { Cfe } from '../../db/entities/receipts.ts';
import { listUndecidedCfes } from '../../db/numbers/numbers.ts';
import type { RejectedResult } from '../../domain/authority/activityResults.ts';
import { isPastAcceptance } from '../../domain/receipts/rejection.ts';
import { LEAST_UUID } from '../../domain/values/uuid.ts';
import type { Activity } from '../activities.ts';
import { recordStepCalls, withHeartbeat } from './attempt.ts';
import { type Authority, toAskedCfe } from './authority.ts';
import { settleRejected } from './settleRejected.ts';
import { afterMoves, type MoveDeps } from './storeMoves.ts';

/** CFEs read at a time. */
const PAGE = 100;

interface AskRejectedDeps extends MoveDeps {
  authority: Authority;
  /** Questions to the authority per second: no caller waits for them, and sobres are sent meanwhile. */
  questionsPerSecond: number;
  /** CFEs read at a time; default 100. */
  page?: number;
}

/**
 * Asks the authority about every CFE rejected for E06 alone whose number is undecided. An accepted one
 * becomes ACCEPTED; one not accepted within 60 days has its number annulled; one without an answer is asked
 * about the next day. A repeat continues after the last CFE asked about.
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
/** The progress, which the Temporal server keeps from attempt to attempt with the heartbeats. */
type Progress = Counts & { after: string };
const BEGINNING: Progress = { after: LEAST_UUID, accepted: 0, annulled: 0, undecided: 0, unanswered: 0 };

async function askAll(deps: AskRejectedDeps, progress: Progress): Promise<RejectedResult> {
  const { orm, questionsPerSecond, page = PAGE } = deps;
  for (;;) {
    const cfes = await listUndecidedCfes(orm.em.fork(), { after: progress.after, limit: page });
    for (const cfe of cfes) {
      const startedAt = performance.now();
      const what = await recordStepCalls(deps, cfe.id, () => askAbout(deps, cfe));
      if (what !== 'decided') progress[what] += 1;
      progress.after = cfe.id;
      heartbeat(progress);
      const wait = startedAt + 1_000 / questionsPerSecond - performance.now();
      if (wait > 0) await Context.current().sleep(wait);
    }
    if (cfes.length < page) break;
  }
  const { after: _, ...counts } = progress;
  return { kind: 'asked', ...counts };
}

/** Asks about one CFE; `decided` if another process decided it meanwhile. */
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
