import { requireTestRun } from '../../db/enterprises/homologations.ts';
import type { Homologation } from '../../db/entities/enterprises.ts';
import { findLastSubmission, findReport } from '../../db/reports/dailyReports.ts';
import { Refusal } from '../../errors.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import { failTestRun, moveFrom, readEnd, type TestRunDeps } from './testRuns.ts';

export interface TestReportDeps extends TestRunDeps {
  /** Asks for the report of a run's day, once. Throws a Refusal when it cannot be sent. */
  readonly requestReport: (runId: string) => Promise<void>;
}

/**
 * Sends the report of a run's day, once, and waits until the authority has it; the report contains all that was
 * signed on it. Ends the run as READY_TO_PROCESS, or as FAILED when the report is refused or differs.
 */
export function createReportTestRun(deps: TestReportDeps): Activity<'reportTestRun'> {
  return (key) =>
    withHeartbeat(async () => {
      const run = await requireTestRun(deps.orm.em.fork(), key);
      if (run.status !== 'REPORTING') return { kind: 'ended', status: run.status };
      if (run.reportAskedAt === null) {
        const refused = await askForReport(deps, run);
        if (refused !== null) return failTestRun(deps, run, 'homologation.report_failed', refused);
        return { kind: 'waits' };
      }
      const result = await readResult(deps, run);
      if (result === 'waits') return { kind: 'waits' };
      if (result !== 'received') return failTestRun(deps, run, 'homologation.report_failed', result.detail);
      await moveFrom(deps, run, 'READY_TO_PROCESS');
      return readEnd(deps, key);
    });
}

/** Asks for the report; returns why it cannot be sent, or null. */
async function askForReport({ requestReport }: TestReportDeps, run: Homologation): Promise<string | null> {
  try {
    await requestReport(run.id);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'UNAVAILABLE') throw error;
    return error.code;
  }
}

async function readResult(
  { orm }: TestReportDeps,
  run: Homologation,
): Promise<'waits' | 'received' | { detail: string }> {
  const key = { rut: run.rut, environment: 'sandbox', date: run.day } as const;
  const em = orm.em.fork();
  const report = await findReport(em, key);
  const last = await findLastSubmission(em, key);
  if (report && report.stuckReason !== null) {
    const codes = (last?.reasons ?? []).map(({ code }) => code);
    return { detail: [report.stuckReason, ...codes].join(', ') };
  }
  // A later submission may be prepared while the report still has the status of the previous one.
  if (!report || report.sendNow || !last || last.status === 'PREPARED' || last.status === 'SENT')
    return 'waits';
  if (last.status === 'RECEIVED' || last.status === 'CONSISTENT') return 'received';
  return { detail: last.status };
}
