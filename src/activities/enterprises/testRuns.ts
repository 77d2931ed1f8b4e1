/** Shared by the activities of test runs. */
import {
  lockTestRun,
  moveTestRun,
  requireTestRun,
  type TestRunKey,
} from '../../db/enterprises/homologations.ts';
import type { Homologation } from '../../db/entities/enterprises.ts';
import type { Database } from '../../db/orm.ts';
import type { TestRunEnd } from '../../domain/authority/activityResults.ts';
import type { TestRunFailure, TestRunStatus } from '../../domain/enterprises/homologation.ts';

export interface TestRunDeps {
  readonly orm: Database;
  readonly clock: () => Date;
  readonly outbox: { scheduleDispatch(): void };
}

/** Moves a run to another status, unless the run has left its status meanwhile. Returns whether it has moved. */
export async function moveFrom(
  { orm, clock, outbox }: TestRunDeps,
  { id, status: from }: Pick<Homologation, 'id' | 'status'>,
  to: TestRunStatus,
  failure: { code: TestRunFailure; detail: string | null } | null = null,
): Promise<boolean> {
  const hasMoved = await orm.em.fork().transactional(async (em) => {
    const run = await lockTestRun(em, id);
    if (run.status !== from) return false;
    await moveTestRun(em, run, to, clock(), failure);
    return true;
  });
  outbox.scheduleDispatch();
  return hasMoved;
}

/** Fails a run, unless the run has left its status meanwhile. Returns the end of the last run of the day. */
export async function failTestRun(
  deps: TestRunDeps,
  run: Homologation,
  code: TestRunFailure,
  detail: string | null = null,
): Promise<TestRunEnd> {
  await moveFrom(deps, run, 'FAILED', { code, detail });
  return readEnd(deps, { rut: run.rut, date: run.day });
}

/** Returns the end of the last run of the day. */
export async function readEnd({ orm }: TestRunDeps, key: TestRunKey): Promise<TestRunEnd> {
  return { kind: 'ended', status: (await requireTestRun(orm.em.fork(), key)).status };
}
