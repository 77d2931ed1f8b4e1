import { enqueue } from '../db/outbox.ts';
import { type EnterpriseScope, UNFINISHED } from '../db/unfinished.ts';
import type { WorkflowName } from '../temporal.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Messages stored in one transaction. */
const BATCH = 500;

export interface RequeueInput extends EnterpriseScope {
  reason: string;
  /** Only looks. */
  dryRun: boolean;
}

/** How many of one workflow's things have not come to their end. */
export interface Requeued {
  workflow: WorkflowName;
  unfinished: number;
}

/**
 * Starts again every workflow that is unfinished by our own rows: for when Temporal's data was lost
 * or restored, or a run was terminated. One that still runs goes on; a CFE's that waits looks once more. An operator's
 * act.
 */
export async function requeue(deps: CommandDeps, { rut, reason, dryRun }: RequeueInput): Promise<Requeued[]> {
  // Before the batches: one that is broken off halfway has its row all the same.
  if (!dryRun) {
    await deps.orm.em.fork().transactional(async (em) => {
      const whose = rut === undefined ? {} : { rut };
      audited(
        deps,
        em,
        { action: 'recovery.requeue', subject: rut ?? 'all', ...whose, reason },
        deps.clock(),
      );
    });
  }
  const found: Requeued[] = [];
  for (const workflow of Object.keys(UNFINISHED) as WorkflowName[]) {
    const messages = await UNFINISHED[workflow](deps.orm.em.fork(), { rut });
    const unfinished = new Set(messages.map(({ workflowId }) => workflowId)).size;
    found.push({ workflow, unfinished });
    if (dryRun) continue;
    for (let from = 0; from < messages.length; from += BATCH) {
      await deps.orm.em.fork().transactional(async (em) => {
        for (const message of messages.slice(from, from + BATCH)) enqueue(em, message, deps.clock());
      });
    }
  }
  if (!dryRun) deps.outbox.scheduleDispatch();
  return found;
}
