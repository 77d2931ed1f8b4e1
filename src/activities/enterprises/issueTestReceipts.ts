import { listTestItems, requireTestRun, type TestRunKey } from '../../db/enterprises/homologations.ts';
import type { Homologation } from '../../db/entities/enterprises.ts';
import type { TestReceiptsResult } from '../../domain/authority/activityResults.ts';
import { hasEnough } from '../../domain/enterprises/homologation.ts';
import { countItems, planNext, sumOfCounts, type TestItem } from '../../domain/enterprises/testRunPlan.ts';
import type { CfeType } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import { failTestRun, moveFrom, readEnd, type TestRunDeps } from './testRuns.ts';

/** Receipts issued in one attempt, one after the other: a second or so, in which others are served as well. */
const BATCH = 26;

export interface TestReceiptsDeps extends TestRunDeps {
  /** Issues one receipt unless it was issued before; returns false once the run no longer issues. */
  readonly issue: (runId: string, place: number) => Promise<boolean>;
  /** Annuls a number of this type, unless the run has annulled one. */
  readonly annul: (runId: string, type: CfeType) => Promise<void>;
}

/**
 * Issues the next receipts of the active run of a day: first all but notes; then, once these have their verdicts, notes on
 * received receipts. Ends the run when a receipt is refused, the day is over, or too few receipts were received.
 */
export function createIssueTestReceipts(deps: TestReceiptsDeps): Activity<'issueTestReceipts'> {
  return (key) => withHeartbeat(() => issueNext(deps, key));
}

async function issueNext(deps: TestReceiptsDeps, key: TestRunKey): Promise<TestReceiptsResult> {
  const run = await requireTestRun(deps.orm.em.fork(), key);
  const items = await listTestItems(deps.orm.em.fork(), run.id);
  if (run.status === 'REPORTING') return toReportsResult(items);
  if (run.status !== 'RUNNING') return { kind: 'ended', status: run.status };
  const { next, isWaiting } = planNext(items);
  if (next.length === 0) return isWaiting ? toProgress(items) : finish(deps, run, items);
  if (montevideoDate(deps.clock()) !== run.day) return failTestRun(deps, run, 'homologation.day_over');
  const refused = await issueBatch(deps, run, next.slice(0, BATCH));
  if (refused !== null) return failTestRun(deps, run, 'homologation.receipt_refused', refused);
  return toProgress(await listTestItems(deps.orm.em.fork(), run.id));
}

/** Returns the codes of the faults of a refused receipt; null when none is refused. */
async function issueBatch(
  { issue }: TestReceiptsDeps,
  run: Homologation,
  batch: readonly TestItem[],
): Promise<string | null> {
  for (const { place } of batch) {
    try {
      if (!(await issue(run.id, place))) return null;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'UNAVAILABLE') throw error;
      return [...new Set(error.faults.map(({ code }) => code))].join(', ') || error.code;
    }
    failpoint('homologation.issued');
  }
  return null;
}

/** Ends a run whose receipts all have verdicts: annuls a number in a SIMULATION; the report follows. */
async function finish(
  deps: TestReceiptsDeps,
  run: Homologation,
  items: readonly TestItem[],
): Promise<TestReceiptsResult> {
  if (!hasEnough(countItems(items))) return failTestRun(deps, run, 'homologation.too_few');
  const [first] = items;
  if (run.testSet === 'SIMULATION' && first) await deps.annul(run.id, first.type);
  if (await moveFrom(deps, run, 'REPORTING')) return toReportsResult(items);
  return readEnd(deps, { rut: run.rut, date: run.day });
}

function toProgress(items: readonly TestItem[]): TestReceiptsResult {
  const { wanted, received, rejected } = sumOfCounts(countItems(items));
  const { next, isWaiting } = planNext(items);
  return { kind: 'goesOn', wanted, received, rejected, canIssue: next.length > 0 || !isWaiting };
}

function toReportsResult(items: readonly TestItem[]): TestReceiptsResult {
  const { received, rejected } = sumOfCounts(countItems(items));
  return { kind: 'reports', received, rejected };
}
