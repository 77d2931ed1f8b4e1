/**
 * The test run with which an enterprise enters the regime (docs/contract.md#test-run): its sets, states and
 * results. Imports no values but tables: workflows use it.
 */
import type { CfeType } from '../receipts/cfeTypes.ts';
import type { ReportStatus } from '../reports/reportStatus.ts';

/** The authority's sets of tests (docs/authority/README.md#becoming-an-issuer). */
export const TEST_SETS = ['TESTING', 'SIMULATION'] as const;
export type TestSet = (typeof TEST_SETS)[number];

export const TEST_RUN_STATUSES = [
  /** Receipts are being issued, or await their verdicts. */
  'RUNNING',
  /** All receipts have their verdicts; the report of the day is being sent. */
  'REPORTING',
  /** The authority has the report; a person does the rest in the authority's portal. */
  'READY_TO_PROCESS',
  'FAILED',
  'STOPPED',
] as const;
export type TestRunStatus = (typeof TEST_RUN_STATUSES)[number];

export const ACTIVE_TEST_RUN_STATUSES = ['RUNNING', 'REPORTING'] as const satisfies readonly TestRunStatus[];

export const isActiveTestRun = (status: TestRunStatus): boolean =>
  ACTIVE_TEST_RUN_STATUSES.some((active) => active === status);

/** Why a run failed. */
export const TEST_RUN_FAILURES = [
  /** A receipt was refused before it got a number. */
  'homologation.receipt_refused',
  /** Some receipts were not issued by midnight; all must have the same signing day. */
  'homologation.day_over',
  /** The authority received fewer receipts than it requires. */
  'homologation.too_few',
  /** The authority rejected the report or found differences. */
  'homologation.report_failed',
] as const;
export type TestRunFailure = (typeof TEST_RUN_FAILURES)[number];

/** The types of the test in Testing (Instructivo Ingreso al Régimen v18, Testing III), in the order of the API. */
export const TESTING_TYPES = [
  'ETICKET',
  'ETICKET_NC',
  'ETICKET_ND',
  'EFACTURA',
  'EFACTURA_NC',
  'EFACTURA_ND',
] as const satisfies readonly CfeType[];

/** Receipts of each type in a run of the set TESTING; the usual number has a margin above the required minimum. */
export const TEST_RUN_SIZE = { least: 50, most: 200, usual: 52 } as const;

/** Returns how many of `wanted` receipts of one type must be received (Instructivo Ingreso al Régimen v18, Testing III). */
const requiredCount = (wanted: number): number => Math.min(wanted, TEST_RUN_SIZE.least);

/** The receipts of one type; `pending`: not issued yet, or without a verdict. */
export interface TypeCount {
  readonly type: CfeType;
  readonly wanted: number;
  readonly received: number;
  readonly rejected: number;
  readonly pending: number;
}

/** Returns whether enough receipts of every type were received. */
export const hasEnough = (counts: readonly TypeCount[]): boolean =>
  counts.every(({ wanted, received }) => received >= requiredCount(wanted));

/** The steps of each set, in order; the last ones are done by hand at the authority's portal. */
export const CHECKLISTS = {
  TESTING: ['receipts', 'report', 'process', 'user', 'application'],
  SIMULATION: ['receipts', 'annulment', 'report', 'declaration'],
} as const;
export type ChecklistCode = (typeof CHECKLISTS)[TestSet][number];

/** The facts that decide the checklist. */
export interface RunProgress {
  readonly set: TestSet;
  readonly counts: readonly TypeCount[];
  readonly hasAnnulled: boolean;
  /** The report of the day; null before it exists. */
  readonly report: { readonly status: ReportStatus } | null;
}

export interface ChecklistStep {
  readonly code: ChecklistCode;
  /** Always false for steps that only the authority's portal shows. */
  readonly done: boolean;
}

/** Returns the steps of a run. */
export function checklistOf({ set, counts, hasAnnulled, report }: RunProgress): ChecklistStep[] {
  const isReceived = report !== null && ['RECEIVED', 'CONSISTENT', 'DIFFERS'].includes(report.status);
  const done: Readonly<Record<ChecklistCode, boolean>> = {
    receipts: hasEnough(counts) && counts.every(({ pending }) => pending === 0),
    annulment: hasAnnulled,
    report: isReceived,
    process: report?.status === 'CONSISTENT',
    user: false,
    application: false,
    declaration: false,
  };
  return CHECKLISTS[set].map((code) => ({ code, done: done[code] }));
}
