import * as z from 'zod';
import type { WaitedFor } from '../../db/dailyReports.ts';
import type { DailyReport } from '../../db/entities/DailyReport.ts';
import type { ReportSubmission } from '../../db/entities/ReportSubmission.ts';
import { formatCfeId } from '../../domain/cfeId.ts';
import { CFE_STATUSES } from '../../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES } from '../../domain/cfeTypes.ts';
import { exactNumber } from '../../domain/exactNumber.ts';
import type { TypeSummary } from '../../domain/report/summary.ts';
import { REPORT_STATUSES } from '../../domain/reportStatus.ts';
import { ExactNumber } from './exactNumber.ts';
import { DateText, MomentText } from './formats.ts';

/** One report in a list (docs/contract.md#daily-reports). */
const ListedReportView = z
  .object({
    date: DateText.meta({ description: 'The day on which what it tells of was signed, in Montevideo' }),
    status: z.enum(REPORT_STATUSES),
    sequence: z
      .int()
      .nullable()
      .meta({ description: 'Of the last one that was sent; null before the first' }),
    due_at: MomentText.meta({ description: 'Until when the authority wants it' }),
  })
  .meta({ id: 'ListedDailyReport' });

/** Some reports, and how many there are in all. */
export const DailyReportListView = z
  .object({ items: z.array(ListedReportView), total: z.int() })
  .meta({ id: 'DailyReportList' });

const AmountsView = z.object({
  emission_date: DateText,
  branch: z.int(),
  tax_free_amount: ExactNumber,
  export_amount: ExactNumber,
  tax_minimum_net_amount: ExactNumber,
  tax_basic_net_amount: ExactNumber,
  tax_minimum_amount: ExactNumber,
  tax_basic_amount: ExactNumber,
  total_amount: ExactNumber,
});

/** One report with all that is known of it. */
export const DailyReportView = ListedReportView.extend({
  types: z
    .array(
      z.object({
        cfe_type: z.enum(CFE_TYPE_NAMES),
        used: z.int().meta({ description: 'Numbers: issued and annulled together' }),
        issued: z.int(),
        annulled: z.int(),
        above_ui_limit: z
          .int()
          .nullable()
          .meta({ description: 'Issued above 5,000 UI without VAT; null where the type does not tell' }),
        amounts: z
          .array(AmountsView)
          .meta({ description: 'Sums in pesos, by day of emission and branch of the authority’s numbering' }),
      }),
    )
    .meta({
      description: 'What the last submission tells; empty before the first, and of a day without CFEs',
    }),
  submissions: z.array(
    z.object({
      sequence: z.int(),
      sent_at: MomentText.nullable(),
      status: z.enum(['PREPARED', ...REPORT_STATUSES]).exclude(['OPEN']),
      reasons: z.array(z.object({ code: z.string(), message: z.string(), detail: z.string().nullable() })),
      authority_id: z.string().nullable().meta({ description: 'The authority’s number of it' }),
    }),
  ),
  waits_for: z
    .array(
      z.object({
        cfe_id: z.string(),
        cfe_type: z.enum(CFE_TYPE_NAMES),
        serie: z.string(),
        numero: z.int(),
        cfe_status: z.enum(CFE_STATUSES),
      }),
    )
    .meta({ description: 'CFEs of the day of which it is not known yet what became of them; at most 100' }),
}).meta({ id: 'DailyReport' });

/** A report as a list shows it. */
export const listedReportView = ({
  date,
  status,
  sequence,
  dueAt,
}: DailyReport): z.input<typeof ListedReportView> => ({
  date,
  status,
  sequence,
  due_at: dueAt.toISOString(),
});

/** A report with its submissions, the first one first, and what it waits for. */
export function dailyReportView(
  report: DailyReport,
  submissions: readonly ReportSubmission[],
  waiting: readonly WaitedFor[],
): z.input<typeof DailyReportView> {
  return {
    ...listedReportView(report),
    types: (submissions.at(-1)?.types ?? []).map(typeView),
    submissions: submissions.map(({ sequence, sentAt, status, reasons, authorityId }) => ({
      sequence,
      sent_at: sentAt?.toISOString() ?? null,
      status,
      reasons: reasons ?? [],
      authority_id: authorityId,
    })),
    waits_for: waiting.map(({ type, sequence, serie, numero, status }) => ({
      cfe_id: formatCfeId({ type, sequence }),
      cfe_type: type,
      serie,
      numero,
      cfe_status: status,
    })),
  };
}

const typeView = ({ type, used, issued, annulled, aboveUiLimit, rows }: TypeSummary) => ({
  cfe_type: type,
  used,
  issued,
  annulled,
  above_ui_limit: aboveUiLimit,
  amounts: rows.map((row) => ({
    emission_date: row.emissionDate,
    branch: row.branch,
    tax_free_amount: exactNumber(row.exempt),
    export_amount: exactNumber(row.exported),
    tax_minimum_net_amount: exactNumber(row.minimumNet),
    tax_basic_net_amount: exactNumber(row.basicNet),
    tax_minimum_amount: exactNumber(row.minimumVat),
    tax_basic_amount: exactNumber(row.basicVat),
    total_amount: exactNumber(row.total),
  })),
});
