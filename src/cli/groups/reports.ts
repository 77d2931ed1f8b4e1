import * as z from 'zod';
import { changeReportingObligation } from '../../commands/reports/changeReportingObligation.ts';
import { sendReport } from '../../commands/reports/sendReport.ts';
import { requireReport, supportReport } from '../../commands/reports/supportReport.ts';
import type { DailyReport } from '../../db/entities/reports.ts';
import { findLastSubmission, listSubmissions, listUnsettledCfes } from '../../db/reports/dailyReports.ts';
import { dateSchema } from '../../domain/values/dates.ts';
import { Refusal } from '../../errors.ts';
import { REPORTS } from '../../lists/reports.ts';
import { dailyReportView } from '../../views/reports/dailyReport.ts';
import { EnvironmentInput, optionalInput, ReasonInput, RutInput } from '../inputs.ts';
import { listVerb } from '../listVerb.ts';
import { actingVerb, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const REPORT_INPUTS = {
  rut: RutInput,
  date: dateSchema().describe('the day, YYYY-MM-DD'),
  environment: EnvironmentInput,
};
const EXAMPLES = ['219999830019 2026-11-20', '219999830019 2026-11-20 --environment sandbox'];
const MAX_WAITING = 100;

const reportRow = (report: DailyReport): OutputRow => ({
  rut: report.rut,
  environment: report.environment,
  date: report.date,
  status: report.status,
  sequence: report.sequence,
  due_at: report.dueAt.toISOString(),
  is_complete: report.isComplete,
  needs_support: report.stuckReason !== null,
  stuck_reason: report.stuckReason,
  workflow_id: report.workflowId,
});

const obligationVerb = (name: 'start' | 'stop', summary: string, about: string) =>
  actingVerb({
    summary,
    takes: {
      rut: RutInput,
      from: dateSchema().meta({ description: about, placeholder: 'date' }),
      reason: ReasonInput,
    },
    examples: ['219999830019 --from 2026-12-01 --reason "agreed with the company"'],
    async run(deps, input) {
      const { rut, fromDate, untilDate } = await changeReportingObligation(deps, { act: name, ...input });
      return { rut, from_date: fromDate, until_date: untilDate };
    },
  });

export const reportGroup = verbGroup('report', 'Daily reports: their status, and support', {
  list: listVerb(REPORTS, {
    summary: 'List daily reports: first those that need support, then the latest day',
    limit: [1_000, 50],
    takes: { environment: EnvironmentInput },
    examples: ['--rut 219999830019', '--status DIFFERS --from 2026-11-01 --json'],
    columns: 'rut date status sequence due_at is_complete stuck_reason',
    search: (_, filter) => ({ ...filter, accounts: null }),
  }),
  'show RUT DATE': readVerb({
    summary: 'Show one daily report: its sums, its submissions, and the CFEs it waits for',
    takes: REPORT_INPUTS,
    examples: EXAMPLES,
    async run(deps, input) {
      const report = await requireReport(deps, input);
      const em = deps.orm.em.fork();
      const submissions = await listSubmissions(em, report, { populate: ['types'] });
      const waiting = await listUnsettledCfes(em, report, MAX_WAITING);
      return { ...reportRow(report), ...dailyReportView(report, submissions, waiting) };
    },
  }),
  'xml RUT DATE': readVerb({
    summary: 'Print the signed XML of the last submission, byte for byte as it is sent',
    takes: REPORT_INPUTS,
    examples: EXAMPLES,
    async run(deps, input) {
      const em = deps.orm.em.fork();
      const last = await findLastSubmission(em, await requireReport(deps, input));
      if (!last) throw new Refusal('NOT_FOUND', `The report of ${input.date} is not written yet.`);
      await em.populate(last, ['xml']);
      return { xml: last.xml };
    },
    plain: 'xml',
  }),
  'send RUT DATE': actingVerb({
    summary: 'Send the report of today or an earlier day with the known data; later data corrects it',
    takes: {
      ...REPORT_INPUTS,
      reason: ReasonInput,
      overrideOtherSystem: optionalInput(
        ReasonInput,
        'why to send a day without a reporting obligation here: the report replaces that of another system; kept in the audit',
        'text',
      ),
    },
    examples: [
      '219999830019 2026-11-20 --reason "asked for by the company"',
      '219999830019 2026-11-20 --reason "asked for by the company" --override-other-system "agreed with the operator of the other system"',
    ],
    run: async (deps, input) => reportRow(await sendReport(deps, input)),
  }),
  'retry RUT DATE': actingVerb({
    summary: 'Retry or settle a daily report that needs support',
    takes: {
      ...REPORT_INPUTS,
      action: z
        .enum(['retry', 'settle'])
        .default('retry')
        .describe(
          'retry (default): check the day again and continue; settle: keep the day as the authority has it, send nothing',
        ),
      reason: ReasonInput,
    },
    examples: ['219999830019 2026-11-20 --reason "new certificate uploaded"'],
    async run(deps, { action, reason, ...key }) {
      const { report, outcome, message } = await supportReport(deps, { key, action, reason });
      if (outcome === 'refused') throw new Refusal('INVALID_INPUT', message);
      return { ...reportRow(report), action, outcome, message };
    },
  }),
  'start RUT': obligationVerb(
    'start',
    'Start reporting for an enterprise on a day, instead of another system',
    'the first day to report',
  ),
  'stop RUT': obligationVerb(
    'stop',
    'Stop reporting for an enterprise, because another system does',
    'the first day not to report',
  ),
});
