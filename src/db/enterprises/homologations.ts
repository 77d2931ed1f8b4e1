/** Test runs and their receipts (docs/contract.md#test-run). */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import {
  ACTIVE_TEST_RUN_STATUSES,
  type TestRunFailure,
  type TestRunStatus,
  type TypeCount,
} from '../../domain/enterprises/homologation.ts';
import { countItems, type TestItem } from '../../domain/enterprises/testRunPlan.ts';
import type { CfeType } from '../../domain/receipts/cfeTypes.ts';
import { homologationUpdated } from '../../domain/webhooks/webhookEvents.ts';
import { homologationWorkflowId, SIGNALS, type WorkflowMessage } from '../../temporal.ts';
import { Homologation, HomologationItem } from '../entities/enterprises.ts';
import type { DailyReport } from '../entities/reports.ts';
import { findReport } from '../reports/dailyReports.ts';
import { givenConditions } from '../sql.ts';
import { recordEvent } from '../webhooks/events.ts';

/** An enterprise's test runs of one day in Montevideo, `YYYY-MM-DD`; at most one is active. */
export interface TestRunKey {
  readonly rut: string;
  readonly date: string;
}

const ACTIVE = { status: { $in: [...ACTIVE_TEST_RUN_STATUSES] } };

/**
 * Returns the message that starts the workflow of a test run. The signal is for the workflow of an earlier run of the
 * day that has not ended yet: it continues with this run.
 */
export const testRunMessage = ({ rut, day }: Pick<Homologation, 'rut' | 'day'>): WorkflowMessage => ({
  workflow: 'homologation',
  workflowId: homologationWorkflowId({ rut, date: day }),
  input: { rut, date: day },
  signal: SIGNALS.lookAgain,
  searchAttributes: { EnterpriseRut: rut, Environment: 'sandbox' },
});

/** Stores a run and its receipts-to-be: `each` of every type, in turn. */
export async function insertTestRun(
  em: EntityManager,
  values: Pick<Homologation, 'id' | 'rut' | 'accountId' | 'actor' | 'testSet' | 'day'>,
  { types, each }: { types: readonly CfeType[]; each: number },
  now: Date,
): Promise<Homologation> {
  const run = em.create(Homologation, {
    ...values,
    workflowId: homologationWorkflowId({ rut: values.rut, date: values.day }),
    status: 'RUNNING',
    annulledAt: null,
    reportAskedAt: null,
    failureCode: null,
    failureDetail: null,
    createdAt: now,
    movedAt: now,
  });
  await em.flush();
  await em.execute(
    `insert into homologation_item (homologation_id, place, type)
     select ?::uuid, row_number() over (order by series.n, types.place), types.type
     from unnest(?::text[]) with ordinality as types(type, place), generate_series(1, ?::int) as series(n)`,
    [run.id, `{${types.join(',')}}`, each],
  );
  return run;
}

/** Returns the active run of an enterprise, or null. */
export const findActiveTestRun = (em: EntityManager, rut: string): Promise<Homologation | null> =>
  em.findOne(Homologation, { rut, ...ACTIVE }, { refresh: true });

/** Returns the last run of an enterprise, or null. */
export const findLastTestRun = (em: EntityManager, rut: string): Promise<Homologation | null> =>
  em.findOne(Homologation, { rut }, { orderBy: { createdAt: 'desc', id: 'desc' }, refresh: true });

/** Returns the last run in Testing whose report the authority has, or null. */
export const findPassedTestRun = (em: EntityManager, rut: string): Promise<Homologation | null> =>
  em.findOne(
    Homologation,
    { rut, testSet: 'TESTING', status: 'READY_TO_PROCESS' },
    { orderBy: { createdAt: 'desc' } },
  );

/** Returns the active run of a day, or else the last one. Throws if there is none, which is a bug. */
export async function requireTestRun(em: EntityManager, { rut, date }: TestRunKey): Promise<Homologation> {
  const active = await em.findOne(Homologation, { rut, day: date, ...ACTIVE }, { refresh: true });
  return active ?? em.findOneOrFail(Homologation, { rut, day: date }, { orderBy: { createdAt: 'desc' } });
}

/** Returns the active runs, of one enterprise or of all. */
export const listActiveTestRuns = (em: EntityManager, rut: string | undefined): Promise<Homologation[]> =>
  em.find(Homologation, { ...ACTIVE, ...givenConditions({ rut }) }, { orderBy: { createdAt: 'asc' } });

/** Returns a run, locked until the open transaction ends. */
export const lockTestRun = (em: EntityManager, id: string): Promise<Homologation> =>
  em.findOneOrFail(Homologation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

/** Changes the status of a locked active run, and records the event. */
export async function moveTestRun(
  em: EntityManager,
  run: Homologation,
  to: TestRunStatus,
  now: Date,
  failure: { code: TestRunFailure; detail: string | null } | null = null,
): Promise<void> {
  const from = run.status;
  run.status = to;
  run.movedAt = now;
  if (failure) Object.assign(run, { failureCode: failure.code, failureDetail: failure.detail });
  await em.flush();
  await recordEvent(em, { rut: run.rut, environment: 'sandbox' }, homologationUpdated(run, from), now);
}

/** Returns the receipts of a run, in order. */
export function listTestItems(em: EntityManager, runId: string): Promise<TestItem[]> {
  return em.execute<TestItem[]>(
    `select item.place, item.type, cfe.sequence, cfe.status
     from homologation_item item left join cfe on cfe.id = item.cfe_uuid
     where item.homologation_id = ? order by item.place`,
    [runId],
  );
}

/** Returns one receipt-to-be, locked until the open transaction ends; null if it has been issued. */
export const lockOpenTestItem = (
  em: EntityManager,
  { runId, place }: { runId: string; place: number },
): Promise<HomologationItem | null> =>
  em.findOne(
    HomologationItem,
    { homologationId: runId, place, cfeUuid: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );

/** A run, with the counts and the report that are shown. */
export interface TestRunState {
  readonly run: Homologation;
  readonly counts: readonly TypeCount[];
  /** The report of its day, once the run has asked for it. */
  readonly report: DailyReport | null;
}

/** Returns the state of a run. */
export async function readTestRunState(em: EntityManager, run: Homologation): Promise<TestRunState> {
  const counts = countItems(await listTestItems(em, run.id));
  const { rut, day: date } = run;
  const report = run.reportAskedAt ? await findReport(em, { rut, environment: 'sandbox', date }) : null;
  return { run, counts, report };
}

/** Returns whether an account may use the sandbox. */
export async function isDeveloperAccount(em: EntityManager, accountId: string): Promise<boolean> {
  const [row] = await em.execute<{ is: boolean }[]>('select is_developer as is from account where id = ?', [
    accountId,
  ]);
  return row?.is === true;
}
