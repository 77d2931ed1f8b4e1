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
  /** Queries to the authority per second: no caller waits for them, and sobres are sent meanwhile. */
  questionsPerSecond: number;
  /** CFEs read at a time; default 100. */
  page?: number;
}

/**
 * Asks the authority about every CFE rejected for E06 alone whose number is undecided. Moves an accepted CFE to ACCEPTED, and
 * annuls the number of a CFE not accepted within 60 days. A repeat continues after the last CFE.
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
/** The progress, which the heartbeats pass from attempt to attempt. */
type Progress = Counts & { after: string };
const BEGINNING: Progress = { after: LEAST_UUID, accepted: 0, annulled: 0, undecided: 0, unanswered: 0 };

async function askAll(deps: AskRejectedDeps, progress: Progress): Promise<RejectedResult> {
  const { orm, questionsPerSecond, page = PAGE } = deps;
  for (;;) {
    const cfes = await listUndecidedCfes(orm.em.fork(), { after: progress.after, limit: page });
    for (const cfe of cfes) {
      const startedAt = performance.now();
      const result = await recordStepCalls(deps, cfe.id, () => askAbout(deps, cfe));
      if (result !== 'decided') progress[result] += 1;
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
  const state = await deps.authority.findState(toAskedCfe(cfe));
  if (state.kind === 'repeat' || state.kind === 'stuck') return 'unanswered';
  const { kind, stored } = await deps.orm.em.fork().transactional(async (em) => {
    const locked = await em.findOneOrFail(Cfe, { id: cfe.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const annul = isPastAcceptance(locked, deps.clock());
    return settleRejected(deps, em, locked, { state, annul });
  });
  if (stored) afterMoves(deps, stored);
  return kind === 'others' ? 'undecided' : kind;
}
