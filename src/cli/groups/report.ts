import * as z from 'zod';
import { sendReport } from '../../commands/sendReport.ts';
import { setReportDuty } from '../../commands/setReportDuty.ts';
import { existingReport, supportReport } from '../../commands/supportReport.ts';
import { lastSubmission, listReports, submissionsOf, waitedFor } from '../../db/dailyReports.ts';
import type { DailyReport } from '../../db/entities/DailyReport.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { date } from '../../domain/dates.ts';
import { REPORT_STATUSES } from '../../domain/reportStatus.ts';
import { Rut } from '../../domain/rut.ts';
import { REASON_LENGTH } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { Refusal } from '../../errors.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise', DATE: 'the day, YYYY-MM-DD' };
const ENVIRONMENT = {
  flags: '--environment <environment>',
  about: 'default: production',
  choices: ENVIRONMENTS,
} as const;
const REASON = { flags: '--reason <text>', about: 'why; kept in the audit', required: true } as const;
const Reason = text(REASON_LENGTH);
const ONE = z.strictObject({ rut: Rut, date: date(), environment: z.enum(ENVIRONMENTS).optional() });
const EXAMPLES = ['219999830019 2026-11-20', '219999830019 2026-11-20 --environment sandbox'];
const MOST = 1_000;
const USUAL = 50;
const MOST_WAITING = 100;

const rowOf = (report: DailyReport): Row => ({
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
const COLUMNS = ['rut', 'date', 'status', 'sequence', 'due_at', 'is_complete', 'stuck_reason'];

const known = (deps: CliDeps, { rut, date, environment = 'production' }: z.output<typeof ONE>) =>
  existingReport(deps, { rut, date, environment });

const list = defineVerb({
  name: 'list',
  summary: 'List daily reports, the latest day first',
  reads: true,
  options: [
    { flags: '--rut <rut>', about: 'only of this enterprise' },
    ENVIRONMENT,
    { flags: '--status <status>', about: 'only with this status', choices: REPORT_STATUSES },
    { flags: '--from <date>', about: 'only from this day on' },
    { flags: '--to <date>', about: 'only until this day' },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: ['--rut 219999830019', '--status DIFFERS --from 2026-11-01 --json'],
  columns: COLUMNS,
  input: z.strictObject({
    rut: Rut.optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    status: z.enum(REPORT_STATUSES).optional(),
    from: date().optional(),
    to: date().optional(),
    limit: z.int().optional(),
  }),
  async run({ orm }, { environment = 'production', limit = USUAL, ...filter }) {
    const found = await listReports(orm.em.fork(), { ...filter, environment }, { skip: 0, limit });
    return found.map(rowOf);
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one daily report: what it tells, what was sent, what it waits for',
  reads: true,
  args: ARGS,
  options: [ENVIRONMENT],
  examples: EXAMPLES,
  input: ONE,
  async run(deps, input) {
    const report = await known(deps, input);
    const em = deps.orm.em.fork();
    const submissions = await submissionsOf(em, report, { populate: ['types'] });
    return {
      ...rowOf(report),
      ...deps.reportObject(report, submissions, await waitedFor(em, report, MOST_WAITING)),
    };
  },
});

const xml = defineVerb({
  name: 'xml',
  summary: 'Print the signed XML of the last submission, byte for byte as it is sent',
  reads: true,
  args: ARGS,
  options: [ENVIRONMENT],
  examples: EXAMPLES,
  input: ONE,
  async run(deps, input) {
    const em = deps.orm.em.fork();
    const last = await lastSubmission(em, await known(deps, input));
    if (!last) throw new Refusal('NOT_FOUND', `The report of ${input.date} is not written yet.`);
    await em.populate(last, ['xml']);
    return { xml: last.xml };
  },
  plain: 'xml',
});

const send = defineVerb({
  name: 'send',
  summary: 'Send the report of today or an earlier day with what is known; what comes later corrects it',
  args: ARGS,
  options: [REASON, ENVIRONMENT],
  examples: ['219999830019 2026-11-20 --reason "asked for by the company"'],
  input: ONE.extend({ reason: Reason }),
  run: async (deps, { environment = 'production', ...input }) =>
    rowOf(await sendReport(deps, { ...input, environment })),
});

const retry = defineVerb({
  name: 'retry',
  summary: 'Retry or settle a daily report that waits for support',
  args: ARGS,
  options: [
    {
      flags: '--action <action>',
      about:
        'retry (default): look at the day again and go on; settle: leave the day as the authority has it, send nothing',
      choices: ['retry', 'settle'],
    },
    REASON,
    ENVIRONMENT,
  ],
  examples: ['219999830019 2026-11-20 --reason "new certificate uploaded"'],
  input: ONE.extend({ reason: Reason, action: z.enum(['retry', 'settle']).optional() }),
  async run(deps, { action = 'retry', reason, environment = 'production', rut, date }) {
    const supported = await supportReport(deps, { key: { rut, date, environment }, action, reason });
    const { report, outcome, message } = supported;
    if (outcome === 'refused') throw new Refusal('INVALID_INPUT', message);
    return { ...rowOf(report), action, outcome, message };
  },
});

/** `start` and `stop` differ in the day that they name. */
const dutyVerb = (name: 'start' | 'stop', summary: string, about: string) =>
  defineVerb({
    name,
    summary,
    args: { RUT: ARGS.RUT },
    options: [{ flags: '--from <date>', about, required: true }, REASON],
    examples: ['219999830019 --from 2026-12-01 --reason "agreed with the company"'],
    input: z.strictObject({ rut: Rut, from: date(), reason: Reason }),
    async run(deps, input) {
      const { rut, fromDate, untilDate } = await setReportDuty(deps, { act: name, ...input });
      return { rut, from_date: fromDate, until_date: untilDate };
    },
  });

/** `cfe report`: what enterprises report to the authority of each day. */
export const report: Group = {
  name: 'report',
  summary: 'The reports of days: their status, and support',
  verbs: [
    list,
    show,
    xml,
    send,
    retry,
    dutyVerb(
      'start',
      'Report for an enterprise from a day on, in place of another system',
      'the first day that we report',
    ),
    dutyVerb(
      'stop',
      'Report no more for an enterprise: another system does',
      'the first day that we do not report',
    ),
  ],
};
