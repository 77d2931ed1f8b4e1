import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  findActiveTestRun,
  findLastTestRun,
  findPassedTestRun,
  insertTestRun,
  isDeveloperAccount,
  lockTestRun,
  moveTestRun,
  readTestRunState,
  type TestRunState,
  testRunMessage,
} from '../../db/enterprises/homologations.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { enqueue } from '../../db/outbox.ts';
import { takeAdvisoryLock } from '../../db/sql.ts';
import type { ApplicationFacts } from '../../domain/enterprises/application.ts';
import {
  isActiveTestRun,
  TEST_RUN_SIZE,
  TESTING_TYPES,
  type TestSet,
} from '../../domain/enterprises/homologation.ts';
import { originalTypeOf } from '../../domain/enterprises/testRunPlan.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { type Fault, invalidInput, Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import { requireKnownEnterprise } from '../steps/requireEnterprise.ts';
import { requireEnterpriseRole } from '../steps/requireEnterpriseRole.ts';
import { type EquipSandboxDeps, equipSandbox } from './equipSandbox.ts';

export interface StartTestRunInput {
  rut: string;
  set: TestSet;
  /** All types of the set when omitted. */
  types?: readonly CfeType[] | undefined;
  /** Receipts of each type; for the set TESTING only. */
  each?: number | undefined;
  /** The caller's account, which must be a developer account; null for an operator, who acts for the owner's account. */
  accountId: string | null;
  reason?: string | undefined;
}

/**
 * Starts a test run of an enterprise in the sandbox, after obtaining a missing certificate or CAE; returns the active run
 * if there is one. Throws NOT_FOUND for an unknown RUT, FORBIDDEN for an account without the sandbox, INVALID_INPUT for
 * notes without the type that they correct and for `each` in a SIMULATION, and UNAVAILABLE as `equipSandbox` does.
 */
export async function startTestRun(deps: EquipSandboxDeps, input: StartTestRunInput): Promise<TestRunState> {
  const { rut, set } = input;
  const faults = findFaults(input);
  if (faults.length > 0) throw invalidInput(faults);
  const types = inOrder(input.types ?? (set === 'TESTING' ? TESTING_TYPES : CFE_TYPE_NAMES));
  const em = deps.orm.em.fork();
  const { accountId } = await requireAccount(em, input);
  const active = await findActiveTestRun(em, rut);
  if (active) return readTestRunState(em, active);
  for (const type of types) await equipSandbox(deps, { rut, body: { cfe_type: type } });
  const state = await deps.orm.em.fork().transactional(async (em) => {
    // Of two concurrent requests only one starts a run.
    await takeAdvisoryLock(em, `homologation of ${rut}`);
    await requireEnterpriseRole(deps, em, rut);
    const now = deps.clock();
    const running = await findActiveTestRun(em, rut);
    if (running) return readTestRunState(em, running);
    const run = await insertTestRun(
      em,
      {
        id: randomUUID(),
        rut,
        accountId,
        actor: deps.actor ?? 'service',
        testSet: set,
        day: montevideoDate(now),
      },
      { types, each: set === 'TESTING' ? (input.each ?? TEST_RUN_SIZE.usual) : 1 },
      now,
    );
    auditAct(deps, em, { action: 'homologation.start', subject: run.id, rut, ...reasonOf(input) }, now);
    enqueue(em, testRunMessage(run), now);
    return readTestRunState(em, run);
  });
  deps.outbox.scheduleDispatch();
  return state;
}

/**
 * Stops the active run of an enterprise; leaves an ended run as it is. Issued receipts still get their verdicts, and their
 * numbers stay used. Throws NOT_FOUND for an enterprise without a run. The caller checks permissions.
 */
export async function stopTestRun(
  deps: Pick<EquipSandboxDeps, 'orm' | 'clock' | 'outbox' | 'actor' | 'origin'>,
  input: { rut: string; reason?: string | undefined },
): Promise<TestRunState> {
  const { rut } = input;
  const state = await deps.orm.em.fork().transactional(async (em) => {
    const last = await requireLastTestRun(em, rut);
    const run = await lockTestRun(em, last.run.id);
    if (!isActiveTestRun(run.status)) return readTestRunState(em, run);
    const now = deps.clock();
    await moveTestRun(em, run, 'STOPPED', now);
    auditAct(deps, em, { action: 'homologation.stop', subject: run.id, rut, ...reasonOf(input) }, now);
    // Its workflow ends at once.
    enqueue(em, testRunMessage(run), now);
    return readTestRunState(em, run);
  });
  deps.outbox.scheduleDispatch();
  return state;
}

/** Returns the last run of an enterprise. Throws NOT_FOUND without one. */
export async function requireLastTestRun(em: EntityManager, rut: string): Promise<TestRunState> {
  const run = await findLastTestRun(em, rut);
  if (!run) throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no test run.`);
  return readTestRunState(em, run);
}

/** Returns the facts on the application sheet (postulación). Throws NOT_FOUND for an unknown RUT. */
export async function readApplicationFacts(
  em: EntityManager,
  rut: string,
): Promise<Omit<ApplicationFacts, 'provider' | 'publicUrl'>> {
  const enterprise = await requireKnownEnterprise(em, rut);
  const passed = await findPassedTestRun(em, rut);
  const types: readonly CfeType[] = TESTING_TYPES;
  return {
    enterprise,
    typeCodes: types.map((type) => CFE_TYPES[type].code),
    testDate: passed?.day ?? null,
  };
}

const reasonOf = ({ reason }: { reason?: string | undefined }) => (reason === undefined ? {} : { reason });

async function requireAccount(
  em: EntityManager,
  { rut, accountId }: StartTestRunInput,
): Promise<{ enterprise: Enterprise; accountId: string }> {
  const enterprise = await requireKnownEnterprise(em, rut);
  if (accountId !== null && !(await isDeveloperAccount(em, accountId)))
    throw new Refusal('FORBIDDEN', 'Only developer accounts may use the sandbox.');
  return { enterprise, accountId: accountId ?? enterprise.ownerAccountId };
}

const inOrder = (types: readonly CfeType[]): CfeType[] =>
  CFE_TYPE_NAMES.filter((type) => types.includes(type));

function findFaults({ set, types, each }: StartTestRunInput): Fault[] {
  const faults: Fault[] = [];
  if (set === 'SIMULATION' && each !== undefined) {
    const message = 'each: must be omitted for SIMULATION, which issues one of each type.';
    faults.push({ path: '/each', code: 'homologation.each', message });
  }
  for (const [at, type] of (types ?? []).entries()) {
    const original = originalTypeOf(type);
    if (original === null || types?.includes(original)) continue;
    const message = `cfe_types[${at}]: ${type} corrects receipts of type ${original}: add ${original} to the run.`;
    faults.push({ path: `/cfe_types/${at}`, code: 'homologation.original_missing', message });
  }
  return faults;
}
