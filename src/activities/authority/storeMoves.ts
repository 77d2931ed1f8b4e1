import type { EntityManager } from '@mikro-orm/postgresql';
import type { Orm } from '../../db/orm.ts';
import { type Move, type MovedCfe, type MoveEffects, moveCfes } from '../../db/receipts/moves.ts';
import { type FinalStatus, isFinal } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { failpoint } from '../../failpoints.ts';
import { takeCalls } from './attempt.ts';

/** A verdict just stored; for the metrics. */
export interface StoredVerdict {
  environment: Environment;
  type: CfeType;
  status: FinalStatus;
  /** Seconds since the CFE was issued. */
  seconds: number;
}

/** Dependencies of storing moves. */
export interface MoveDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { scheduleDispatch(): void };
  /** Notified when a waiting sobre or CFE may go. */
  gatekeeper: { scheduleLook(): void };
  /** The only addresses that receive e-mails of the sandbox; default none. */
  sandboxMails?: readonly string[] | undefined;
  onVerdict?: ((verdict: StoredVerdict) => void) | undefined;
}

type SobreEffects = Pick<MoveEffects, 'sobreId' | 'received'>;
type Stored = Awaited<ReturnType<typeof moveCfes>> & { readonly now: Date };

/** Moves CFEs in one statement, which also stores the calls of the step; returns the moved CFEs. */
export async function storeMoves(
  deps: MoveDeps,
  moves: readonly Move[],
  sobreEffects: SobreEffects,
): Promise<readonly MovedCfe[]> {
  const stored = await writeMoves(deps, deps.orm.em.fork(), moves, sobreEffects);
  failpoint('moves.stored');
  afterMoves(deps, stored);
  return stored.moved;
}

/** Moves CFEs in the caller's transaction; call `afterMoves` after its commit. */
export async function writeMoves(
  { clock, sandboxMails = [] }: Pick<MoveDeps, 'clock' | 'sandboxMails'>,
  em: EntityManager,
  moves: readonly Move[],
  sobreEffects: SobreEffects,
): Promise<Stored> {
  const now = clock();
  return { now, ...(await moveCfes(em, moves, { ...sobreEffects, now, sandboxMails, calls: takeCalls() })) };
}

/** After the commit: dispatches enqueued messages, wakes the gatekeeper, and counts the verdicts. */
export function afterMoves(deps: MoveDeps, { moved, startsWorkflows, releasesNotes, now }: Stored): void {
  for (const { environment, type, status, createdAt } of moved) {
    if (isFinal(status))
      deps.onVerdict?.({ environment, type, status, seconds: (now.getTime() - createdAt.getTime()) / 1_000 });
  }
  if (startsWorkflows) deps.outbox.scheduleDispatch();
  if (releasesNotes || moved.some(({ status }) => status === 'RECEIVED')) deps.gatekeeper.scheduleLook();
}
