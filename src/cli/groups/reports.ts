import * as z from 'zod';
import { changeReportingObligation } from '../../commands/changeReportingObligation.ts';
import { sendReport } from '../../commands/sendReport.ts';
import { requireReport, supportReport } from '../../commands/supportReport.ts';
import {
  findLastSubmission,
  listReports,
  listSubmissions,
  listUnsettledCfes,
} from '../../db/dailyReports.ts';
import type { DailyReport } from '../../db/entities/reports.ts';
import { dateSchema } from '../../domain/dates.ts';
import { REPORT_STATUSES } from '../../domain/reportStatus.ts';
import { Refusal } from '../../errors.ts';
import { dailyReportView } from '../../views/dailyReport.ts';
import { day, InEnvironment, limit, OfRut, onlyRut, optional, Reason } from '../inputs.ts';
import { act, group, query, type Row } from '../verb.ts';

const ONE = { rut: OfRut, date: dateSchema().describe('the day, YYYY-MM-DD'), environment: InEnvironment };
const EXAMPLES = ['219999830019 2026-11-20', '219999830019 2026-11-20 --environment sandbox'];
const MOST_WAITING = 100;

const rowOf = (one: DailyReport): Row => ({
  rut: one.rut,
  environment: one.environment,
  date: one.date,
  status: one.status,
  sequence: one.sequence,
  due_at: one.dueAt.toISOString(),
  is_complete: one.isComplete,
  needs_support: one.stuckReason !== null,
  stuck_reason: one.stuckReason,
  workflow_id: one.workflowId,
});

/** `start` and `stop` differ in the day that they name. */
const dutyVerb = (name: 'start' | 'stop', summary: string, about: string) =>
  act({
    summary,
    takes: {
      rut: OfRut,
      from: dateSchema().meta({ description: about, placeholder: 'date' }),
      reason: Reason,
    },
    examples: ['219999830019 --from 2026-12-01 --reason "agreed with the company"'],
    async run(deps, input) {
      const { rut, fromDate, untilDate } = await changeReportingObligation(deps, { act: name, ...input });
      return { rut, from_date: fromDate, until_date: untilDate };
    },
  });

export const report = group('report', 'The reports of days: their status, and support', {
  list: query({
    summary: 'List daily reports, the latest day first',
    takes: {
      rut: onlyRut('only of this enterprise'),
      environment: InEnvironment,
      status: optional(z.enum(REPORT_STATUSES), 'only with this status'),
      from: day('only from this day on'),
      to: day('only until this day'),
      limit: limit(1_000, 50),
    },
    examples: ['--rut 219999830019', '--status DIFFERS --from 2026-11-01 --json'],
    columns: 'rut date status sequence due_at is_complete stuck_reason',
    run: async ({ orm }, { limit: most, ...filter }) =>
      (await listReports(orm.em.fork(), filter, { skip: 0, limit: most })).map(rowOf),
  }),
  'show RUT DATE': query({
    summary: 'Show one daily report: what it tells, what was sent, what it waits for',
    takes: ONE,
    examples: EXAMPLES,
    async run(deps, input) {
      const found = await requireReport(deps, input);
      const em = deps.orm.em.fork();
      const submissions = await listSubmissions(em, found, { populate: ['types'] });
      const waiting = await listUnsettledCfes(em, found, MOST_WAITING);
      return { ...rowOf(found), ...dailyReportView(found, submissions, waiting) };
    },
  }),
  'xml RUT DATE': query({
    summary: 'Print the signed XML of the last submission, byte for byte as it is sent',
    takes: ONE,
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
  'send RUT DATE': act({
    summary: 'Send the report of today or an earlier day with what is known; what comes later corrects it',
    takes: {
      ...ONE,
      reason: Reason,
      overrideOtherSystem: optional(
        Reason,
        'why the day is sent although the enterprise has no duty here on it: the report takes the place of that of another system; kept in the audit',
        'text',
      ),
    },
    examples: [
      '219999830019 2026-11-20 --reason "asked for by the company"',
      '219999830019 2026-11-20 --reason "asked for by the company" --override-other-system "agreed with who ran the other system"',
    ],
    run: async (deps, input) => rowOf(await sendReport(deps, input)),
  }),
  'retry RUT DATE': act({
    summary: 'Retry or settle a daily report that waits for support',
    takes: {
      ...ONE,
      action: z
        .enum(['retry', 'settle'])
        .default('retry')
        .describe(
          'retry (default): look at the day again and go on; settle: leave the day as the authority has it, send nothing',
        ),
      reason: Reason,
    },
    examples: ['219999830019 2026-11-20 --reason "new certificate uploaded"'],
    async run(deps, { action, reason, ...key }) {
      const supported = await supportReport(deps, { key, action, reason });
      const { report: of, outcome, message } = supported;
      if (outcome === 'refused') throw new Refusal('INVALID_INPUT', message);
      return { ...rowOf(of), action, outcome, message };
    },
  }),
  'start RUT': dutyVerb(
    'start',
    'Report for an enterprise from a day on, in place of another system',
    'the first day that we report',
  ),
  'stop RUT': dutyVerb(
    'stop',
    'Report no more for an enterprise: another system does',
    'the first day that we do not report',
  ),
});
