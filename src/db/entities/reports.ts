import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import type { TypeSummary } from '../../domain/report/summary.ts';
import type { ReportStatus, SubmissionStatus } from '../../domain/reportStatus.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';

const ReportDutySchema = defineEntity({
  name: 'ReportDuty',
  properties: {
    rut: p.text().primary(),
    /** The first day that we report. */
    fromDate: p.date(),
    /** The first day that we report no more; null while there is none. */
    untilDate: p.date().strictNullable(),
    /** The first day for which no row of daily_report was stored yet. */
    nextDate: p.date(),
  },
});

/** From when on, and until when, we report for an enterprise: at most one other system does at a time. */
export class ReportDuty extends ReportDutySchema.class {}
ReportDutySchema.setClass(ReportDuty);

const DailyReportSchema = defineEntity({
  name: 'DailyReport',
  properties: {
    rut: p.text().primary(),
    environment: p.text().$type<Environment>().primary(),
    /** The day, in Montevideo, on which what it tells of was signed or annulled. */
    date: p.date().primary(),
    status: p.text().$type<ReportStatus>(),
    /** That of the last submission that was sent; null before the first. */
    sequence: p.integer().strictNullable(),
    /** Until when the authority wants it. */
    dueAt: p.datetime(),
    /** Under which its workflow runs. */
    workflowId: p.text(),
    /** When its workflow was started first; null while it waits for the day before. */
    startedAt: p.datetime().strictNullable(),
    /** Sent with what is known, whatever is still to come. */
    sendNow: p.boolean(),
    /** Nothing of the day can change any more, as far as was known at the last look. */
    isComplete: p.boolean(),
    /** A person has settled it: where the authority's comparison differs, it stays so. */
    acceptedAsIs: p.boolean(),
    /** The least sequence that the authority takes, where its list told; null: what follows from our submissions. */
    nextSequence: p.integer().strictNullable(),
    /** When what it would tell was last put together. */
    lookedAt: p.datetime().strictNullable(),
    /** Why its workflow waits for support; null while all goes by itself. */
    stuckReason: p.text().$type<StuckReason>().strictNullable(),
    /** Since when the authority answers and yet decides nothing. */
    undecidedSince: p.datetime().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** What an enterprise reports to the authority of one day, and where that stands (docs/daily-report.md). */
export class DailyReport extends DailyReportSchema.class {}
DailyReportSchema.setClass(DailyReport);

const ReportSubmissionSchema = defineEntity({
  name: 'ReportSubmission',
  properties: {
    /** In the order in which they were made. */
    id: p.bigint().primary().autoincrement(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    date: p.date(),
    /** SecEnvio, 1 to 99. */
    sequence: p.integer(),
    /** IDEmisor: ours alone, whatever other systems the company has. */
    idEmisor: p.bigint(),
    status: p.text().$type<SubmissionStatus>(),
    /** The signed report, byte for byte as it is sent at every attempt. */
    xml: p.text().lazy(),
    /** SHA-256 of what it tells, hex: equal for two that differ in sequence, number and signature only. */
    contentHash: p.text(),
    /** What it tells of each type. */
    types: p.json().$type<TypeSummary[]>().lazy(),
    sentAt: p.datetime().strictNullable(),
    /** When the authority's first answer was stored. */
    answeredAt: p.datetime().strictNullable(),
    /** IDReceptor, the authority's number of it. */
    authorityId: p.text().strictNullable(),
    reasons: p.json().$type<RejectionReason[]>().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** One file that was, or is to be, sent as the report of a day. */
export class ReportSubmission extends ReportSubmissionSchema.class {}
ReportSubmissionSchema.setClass(ReportSubmission);
