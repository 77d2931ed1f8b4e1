import { type EnterpriseScope, UNFINISHED } from '../../db/operations/unfinished.ts';
import { enqueue } from '../../db/outbox.ts';
import type { WorkflowName } from '../../temporal.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Messages stored in one transaction. */
const BATCH = 500;

export interface RequeueInput extends EnterpriseScope {
  reason: string;
  /** Counts without starting anything. */
  dryRun: boolean;
}

/** The number of unfinished items of a workflow. */
export interface Requeued {
  workflow: WorkflowName;
  unfinished: number;
}

/**
 * Restarts every workflow that our rows show as unfinished, after Temporal lost or restored its data or a run
 * was terminated. A running workflow continues; that of a waiting CFE checks again. Operators only.
 */
export async function requeue(deps: CommandDeps, { rut, reason, dryRun }: RequeueInput): Promise<Requeued[]> {
  // Before the batches, so that an aborted command is audited too.
  if (!dryRun) {
    await deps.orm.em.fork().transactional(async (em) => {
      const whose = rut === undefined ? {} : { rut };
      auditAct(
        deps,
        em,
        { action: 'recovery.requeue', subject: rut ?? 'all', ...whose, reason },
        deps.clock(),
      );
    });
  }
  const counts: Requeued[] = [];
  for (const workflow of Object.keys(UNFINISHED) as WorkflowName[]) {
    const messages = await UNFINISHED[workflow](deps.orm.em.fork(), { rut });
    const unfinished = new Set(messages.map(({ workflowId }) => workflowId)).size;
    counts.push({ workflow, unfinished });
    if (dryRun) continue;
    for (let start = 0; start < messages.length; start += BATCH) {
      await deps.orm.em.fork().transactional(async (em) => {
        for (const message of messages.slice(start, start + BATCH)) enqueue(em, message, deps.clock());
      });
    }
  }
  if (!dryRun) deps.outbox.scheduleDispatch();
  return counts;
}
