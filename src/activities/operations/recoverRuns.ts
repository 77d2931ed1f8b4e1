import { cursorOfMessage, UNFINISHED } from '../../db/operations/unfinished.ts';
import type { Orm } from '../../db/orm.ts';
import { enqueue } from '../../db/outbox.ts';
import type { WorkflowMessage, WorkflowName } from '../../temporal.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';

/** Younger rows may not have started their first run yet. */
const OLDER_THAN = 1_800_000;
const PAGE = 1_000;
/** Workflows checked, and started, per second: new work comes first. */
const PER_SECOND = 20;

const WORKFLOW_NAMES = Object.keys(UNFINISHED) as WorkflowName[];

/**
 * Reads a page of unfinished rows, workflow after workflow, and starts those without a run, as after a
 * Terminate or a restore of Temporal. Starting a workflow that runs anyway changes nothing.
 */
export function createRecoverRuns({
  orm,
  clock,
  outbox,
  hasRun,
  page = PAGE,
}: {
  orm: Orm;
  clock: () => Date;
  outbox: { scheduleDispatch(): void };
  hasRun: (workflowId: string) => Promise<boolean>;
  page?: number;
}): Activity<'recoverRuns'> {
  async function startMissing(messages: readonly WorkflowMessage[]): Promise<number> {
    const checked = await Promise.all(
      messages.map(async (message) => ({ message, runs: await hasRun(message.workflowId) })),
    );
    const missing = checked.filter(({ runs }) => !runs).map(({ message }) => message);
    if (missing.length === 0) return 0;
    await orm.em.fork().transactional(async (em) => {
      // Without the signal, which is for a waiting run.
      for (const { signal: _, ...start } of missing) enqueue(em, start, clock());
    });
    outbox.scheduleDispatch();
    return missing.length;
  }
  return (from) =>
    withHeartbeat(async () => {
      const workflow = (from?.workflow ?? WORKFLOW_NAMES[0]) as WorkflowName;
      const before = new Date(clock().getTime() - OLDER_THAN);
      const messages = await UNFINISHED[workflow](orm.em.fork(), {
        page: { before, after: from?.key ?? '', limit: page },
      });
      const unique = [...new Map(messages.map((message) => [message.workflowId, message])).values()];
      let recovered = 0;
      for (let at = 0; at < unique.length; at += PER_SECOND) {
        if (at > 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
        recovered += await startMissing(unique.slice(at, at + PER_SECOND));
      }
      return { kind: 'looked', recovered, after: nextPage(workflow, unique, page) };
    });
}

/** Returns the next page of the same workflow if this page is full, else the first page of the next workflow. */
function nextPage(
  workflow: WorkflowName,
  messages: readonly WorkflowMessage[],
  page: number,
): { workflow: string; key: string } | null {
  const key = messages.length < page ? '' : messages.map(cursorOfMessage).reduce((a, b) => (a > b ? a : b));
  if (key !== '') return { workflow, key };
  const next = WORKFLOW_NAMES[WORKFLOW_NAMES.indexOf(workflow) + 1];
  return next === undefined ? null : { workflow: next, key: '' };
}
