import * as z from 'zod';
import type { DailyReport, ReportSubmission } from '../../db/entities/reports.ts';
import type { UnsettledCfe } from '../../db/reports/dailyReports.ts';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { TypeSummary } from '../../domain/reports/summary.ts';
import {
  CfeStatusName,
  CfeTypeName,
  ReportStatusName,
  SubmissionStatusName,
} from '../../domain/requests/enums.ts';
import { CFE_FIELD_WORDS, describeField } from '../../domain/requests/fieldWords.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { ExactNumberView } from '../exactNumber.ts';
import { countField, DateText, MomentText, TotalCount } from '../formats.ts';
import { ReasonView } from '../receipts/cfe.ts';

const Sequence = z
  .int()
  .min(1)
  .meta({
    description:
      'Number of the submission among those of the day, 1 to 99. Source: Formato Reporte CFE v13.2.',
    examples: [1],
  });

/** One report in a list (docs/contract.md#daily-reports). */
const ListedReportView = z
  .object({
    date: DateText.meta({ description: 'The day on which its CFEs were signed, in Montevideo.' }),
    status: ReportStatusName,
    sequence: Sequence.nullable().meta({
      description: 'Number of the last sent submission, 1 to 99; null before the first.',
      examples: [1],
    }),
    due_at: MomentText.meta({ description: 'The authority’s deadline, UTC.' }),
  })
  .meta({ id: 'ListedDailyReport', description: 'The report of a day, in short.' });

/** A page of reports and their total number. */
export const DailyReportListView = z
  .object({
    items: z.array(ListedReportView).meta({ description: 'The reports of this page.' }),
    total: TotalCount,
  })
  .meta({ id: 'DailyReportList', description: 'A page of daily reports.' });

const pesos = (what: string) =>
  ExactNumberView.meta({
    description: `${what}, in pesos. Source: Formato Reporte CFE v13.2, zone B.`,
    examples: [1000],
  });

const AmountsView = z
  .object({
    emission_date: DateText.meta({ description: 'Date of the receipts that are summed.' }),
    branch: z.int().min(0).meta(describeField(ENTERPRISE_FIELDS.branch.words)),
    third_party_payment: z.boolean().meta({
      description:
        'Whether the row is of expenses paid for others. Source: Formato Reporte CFE v13.2, zone B, field 11.1.',
      examples: [false],
    }),
    tax_free_amount: pesos('Exempt from VAT'),
    export_amount: pesos('Exported'),
    perceived_amount: pesos('With VAT perceived before'),
    suspended_amount: pesos('With VAT in suspense'),
    tax_minimum_net_amount: pesos('Base at the minimum rate'),
    tax_basic_net_amount: pesos('Base at the basic rate'),
    tax_minimum_amount: pesos('VAT at the minimum rate'),
    tax_basic_amount: pesos('VAT at the basic rate'),
    tax_other_net_amount: pesos('Base at another rate'),
    tax_other_amount: pesos('VAT at another rate'),
    total_amount: pesos('All of these together'),
  })
  .meta({
    id: 'DailyReportAmounts',
    description:
      'Sums of one type, emission date and branch; expenses paid for others have a row of their own.',
  });

/** One report with all its details. */
export const DailyReportView = ListedReportView.extend({
  types: z
    .array(
      z
        .object({
          cfe_type: CfeTypeName,
          used: countField('Numbers: issued and annulled together.', 3),
          issued: countField('Receipts that are valid.', 2),
          annulled: countField('Numbers that are annulled.', 1),
          above_ui_limit: z
            .int()
            .min(0)
            .nullable()
            .meta({
              description: 'Issued above 5,000 UI without VAT; null for types that do not report it.',
              examples: [0],
            }),
          amounts: z.array(AmountsView).meta({
            description: 'Sums in pesos, by day of emission and branch of the authority’s numbering.',
          }),
        })
        .meta({ id: 'DailyReportType', description: 'The part of a report about one type.' }),
    )
    .meta({
      description: 'The contents of the last submission; empty before the first, and for a day without CFEs.',
    }),
  submissions: z
    .array(
      z
        .object({
          sequence: Sequence,
          sent_at: MomentText.nullable().meta({ description: 'When it was sent, UTC; null before that.' }),
          status: SubmissionStatusName,
          reasons: z.array(ReasonView).meta({
            description: 'Why the authority refused it, or how it differs; empty without a reason.',
          }),
          authority_id: z
            .string()
            .nullable()
            .meta({
              description: 'The authority’s number of the submission; null until assigned.',
              examples: ['4711'],
            }),
        })
        .meta({ id: 'DailyReportSubmission', description: 'One submission of a report.' }),
    )
    .meta({ description: 'Every submission of the day, oldest first.' }),
  waits_for: z
    .array(
      z
        .object({
          cfe_id: z.string().meta(describeField(CFE_FIELD_WORDS.cfe_id)),
          cfe_type: CfeTypeName,
          serie: z.string().meta(describeField(CFE_FIELD_WORDS.serie)),
          numero: z.int().min(1).meta(describeField(CFE_FIELD_WORDS.numero)),
          cfe_status: CfeStatusName,
        })
        .meta({ id: 'AwaitedCfe', description: 'A CFE that a report waits for.' }),
    )
    .meta({ description: 'CFEs of the day that have no final status yet; at most 100.' }),
}).meta({ id: 'DailyReport', description: 'The report of a day, with all its details.' });

/** Returns a report as shown in a list. */
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

/** Returns a report with its submissions, oldest first, and the CFEs that it waits for. */
export function dailyReportView(
  report: DailyReport,
  submissions: readonly ReportSubmission[],
  waiting: readonly UnsettledCfe[],
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
    third_party_payment: row.thirdPartyPayment === true,
    tax_free_amount: exactNumber(row.exempt),
    export_amount: exactNumber(row.exported),
    perceived_amount: exactNumber(row.perceived),
    suspended_amount: exactNumber(row.suspended),
    tax_minimum_net_amount: exactNumber(row.minimumNet),
    tax_basic_net_amount: exactNumber(row.basicNet),
    tax_minimum_amount: exactNumber(row.minimumVat),
    tax_basic_amount: exactNumber(row.basicVat),
    tax_other_net_amount: exactNumber(row.otherNet),
    tax_other_amount: exactNumber(row.otherVat),
    total_amount: exactNumber(row.total),
  })),
});
