/** Texts of test runs. */
import type {
  ChecklistCode,
  TestRunFailure,
  TestRunStatus,
  TestSet,
} from '../../domain/enterprises/homologation.ts';

export interface HomologationWords {
  readonly title: string;
  readonly about: string;
  readonly set: string;
  readonly sets: Readonly<Record<TestSet, string>>;
  readonly status: Readonly<Record<TestRunStatus, { readonly label: string; readonly means: string }>>;
  readonly none: string;
  readonly start: string;
  readonly startAbout: string;
  readonly started: string;
  readonly each: string;
  readonly stop: string;
  readonly stopAbout: string;
  readonly stopped: string;
  readonly receipts: string;
  readonly type: string;
  readonly wanted: string;
  readonly received: string;
  readonly rejected: string;
  readonly pending: string;
  readonly report: string;
  readonly noReport: string;
  readonly left: string;
  readonly done: string;
  readonly open: string;
  readonly day: string;
  readonly why: string;
  readonly noSandbox: string;
  /** `day`: the signing day, `YYYY-MM-DD`. */
  readonly checklist: Readonly<Record<ChecklistCode, (day: string) => string>>;
  readonly failure: Readonly<Record<TestRunFailure, string>>;
}

export const homologationEn: HomologationWords = {
  title: 'Test run',
  about:
    'The receipts with which the company passes the tests at DGI, all in the test environment. Nothing here is a real receipt.',
  set: 'Set',
  sets: {
    TESTING: 'Testing: at least 50 received of each of six types',
    SIMULATION: 'Simulation of a provider: one of each type',
  },
  status: {
    RUNNING: { label: 'Running', means: 'Receipts are issued, and DGI’s verdicts awaited.' },
    REPORTING: {
      label: 'Sending the report',
      means: 'All receipts have their verdicts; the report of the day is on its way.',
    },
    READY_TO_PROCESS: {
      label: 'One click left',
      means: 'DGI has the report. The rest is done at its portal.',
    },
    FAILED: {
      label: 'Failed',
      means: 'It ended without the result that DGI requires. Another run may be started.',
    },
    STOPPED: { label: 'Stopped', means: 'It was stopped. Issued receipts still get their verdicts.' },
  },
  none: 'There has been no test run yet.',
  start: 'Start a test run',
  startAbout:
    'It takes some minutes and issues real test receipts at DGI. Start it on a day without other test receipts, well before midnight: all must be signed on one day.',
  started: 'The test run has started.',
  each: 'Receipts of each type (Testing)',
  stop: 'Stop the run',
  stopAbout: 'No further receipt is issued. Numbers already used stay used.',
  stopped: 'The test run was stopped.',
  receipts: 'Receipts',
  type: 'Type',
  wanted: 'Wanted',
  received: 'Received',
  rejected: 'Rejected',
  pending: 'Pending',
  report: 'Report of the day',
  noReport: 'It follows the last verdict.',
  left: 'What is left',
  done: 'done',
  open: 'to do',
  day: 'Signing day',
  why: 'Reason',
  noSandbox: 'This account does not use the test environment; ask the operator of the service.',
  checklist: {
    receipts: () => 'Enough receipts of every type received',
    annulment: () => 'One number annulled',
    report: (day) => `Report of ${day} received by DGI`,
    process: (day) =>
      `At DGI’s Testing portal: Consultas → Envíos realizados → the report of ${day}, in state Recibido → «Procesar Reporte»; it must become «Reporte Procesado»`,
    user: (day) => `Ask for the user of Homologación; date of the passed test: ${day}`,
    application: () => 'Fill in the Postulación; the sheet has every field',
    declaration: () => 'At the Proveedor Habilitado portal: «Firmar Declaración»',
  },
  failure: {
    'homologation.receipt_refused': 'A receipt did not get a number',
    'homologation.day_over': 'Midnight came before all receipts were issued; all must be signed on one day',
    'homologation.too_few': 'DGI received fewer receipts of a type than it asks for',
    'homologation.report_failed': 'DGI did not take the report of the day',
  },
};
