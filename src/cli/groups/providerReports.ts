import * as z from 'zod';
import { buildProviderReport, receiveProviderReport } from '../../commands/reports/providerReport.ts';
import type { ProviderReportFile } from '../../db/entities/reports.ts';
import { listProviderReports } from '../../db/reports/providerReports.ts';
import { Period, providerReportFile } from '../../domain/reports/providerReport.ts';
import { actingVerb, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const reportRow = (report: ProviderReportFile): OutputRow => ({
  period: report.period,
  sequence: report.sequence,
  file: providerReportFile(report),
  built_at: report.builtAt.toISOString(),
  received_at: report.receivedAt?.toISOString() ?? null,
});

export const providerReportGroup = verbGroup(
  'provider-report',
  'The operator’s own monthly report to the authority: which enterprises began or ended',
  {
    build: actingVerb({
      summary: 'Write and sign the report of a past month; in a month without change nothing is written',
      takes: {
        period: Period.meta({ description: 'the month, YYYYMM', placeholder: 'period' }),
        out: z
          .string()
          .min(1)
          .default('.')
          .meta({ description: 'folder; default: this one', placeholder: 'folder' }),
      },
      examples: ['--period 202610', '--period 202610 --out reports'],
      async run(deps, { period, out }) {
        const provider = deps.provider();
        const built = await buildProviderReport(deps, { period, provider, sign: deps.signProviderReport });
        const message = 'No enterprise began or ended in this month: there is nothing to send.';
        if (built === null) return { period, file: null, message };
        const file = `${out}/${providerReportFile(built)}`;
        deps.writeFile(file, Buffer.from(built.xml));
        return { ...reportRow(built), file };
      },
    }),
    'received PERIOD': actingVerb({
      summary: 'Note that the authority has the last report of a month; only then it gets a next sequence',
      takes: { period: Period.describe('the month, YYYYMM') },
      examples: ['202610'],
      run: async (deps, input) => reportRow(await receiveProviderReport(deps, input)),
    }),
    list: readVerb({
      summary: 'List the reports that were built, the latest month first',
      takes: {},
      examples: [''],
      run: async ({ orm }) => (await listProviderReports(orm.em.fork())).map(reportRow),
    }),
  },
);
