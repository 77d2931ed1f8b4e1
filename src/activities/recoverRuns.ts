import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { pageKey, UNFINISHED } from '../db/unfinished.ts';
import type { WorkflowMessage, WorkflowName } from '../temporal.ts';
import type { Activity } from './activities.ts';
import { withHeartbeat } from './steps/attempt.ts';

/** What is younger may still be on its way to its first run. */
const OLDER_THAN = 1_800_000;
/** Rows read at a time. */
const PAGE = 1_000;
/** Temporal is asked about so many in a second, and what has no run is started no faster: new work comes first. */
const PER_SECOND = 20;

const WORKFLOW_NAMES = Object.keys(UNFINISHED) as WorkflowName[];

/**
 * Looks at a page of what our rows say is not ended, workflow after workflow, and starts again what has no run: it was
 * terminated, or Temporal was restored. To start one that runs after all would change nothing.
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
  async function startLacking(messages: readonly WorkflowMessage[]): Promise<number> {
    const found = await Promise.all(
      messages.map(async (message) => ({ message, runs: await hasRun(message.workflowId) })),
    );
    const lacking = found.filter(({ runs }) => !runs).map(({ message }) => message);
    if (lacking.length === 0) return 0;
    await orm.em.fork().transactional(async (em) => {
      // A start alone: a signal is for a run that waits.
      for (const { signal: _, ...start } of lacking) enqueue(em, start, clock());
    });
    outbox.scheduleDispatch();
    return lacking.length;
  }
  return (from) =>
    withHeartbeat(async () => {
      const workflow = (from?.workflow ?? WORKFLOW_NAMES[0]) as WorkflowName;
      const before = new Date(clock().getTime() - OLDER_THAN);
      const messages = await UNFINISHED[workflow](orm.em.fork(), {
        page: { before, after: from?.key ?? '', limit: page },
      });
      const each = [...new Map(messages.map((message) => [message.workflowId, message])).values()];
      let recovered = 0;
      for (let at = 0; at < each.length; at += PER_SECOND) {
        if (at > 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
        recovered += await startLacking(each.slice(at, at + PER_SECOND));
      }
      return { kind: 'looked', recovered, after: nextPage(workflow, each, page) };
    });
}

/** The next page of the same workflow where this one is full, else the first of the workflow behind it. */
function nextPage(
  workflow: WorkflowName,
  messages: readonly WorkflowMessage[],
  page: number,
): { workflow: string; key: string } | null {
  const key = messages.length < page ? '' : messages.map(pageKey).reduce((a, b) => (a > b ? a : b));
  if (key !== '') return { workflow, key };
  const next = WORKFLOW_NAMES[WORKFLOW_NAMES.indexOf(workflow) + 1];
  return next === undefined ? null : { workflow: next, key: '' };
}
