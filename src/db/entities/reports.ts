import { defineEntity, p } from '@mikro-orm/core';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';
import type { ReportStatus, SubmissionStatus } from '../../domain/reports/reportStatus.ts';
import type { TypeSummary } from '../../domain/reports/summary.ts';

const ReportingObligationSchema = defineEntity({
  name: 'ReportingObligation',
  properties: {
    rut: p.text().primary(),
    /** The first day that we report. */
    fromDate: p.date(),
    /** The first day that we no longer report; null while reporting is not limited. */
    untilDate: p.date().strictNullable(),
    /** The first day without a row of daily_report. */
    nextDate: p.date(),
  },
});

/** The reporting obligation of an enterprise: the days that we report. At most one other system reports at a time. */
export class ReportingObligation extends ReportingObligationSchema.class {}
ReportingObligationSchema.setClass(ReportingObligation);

const DailyReportSchema = defineEntity({
  name: 'DailyReport',
  properties: {
    rut: p.text().primary(),
    environment: p.text().$type<Environment>().primary(),
    /** The day, in Montevideo, on which its CFEs were signed and its numbers annulled. */
    date: p.date().primary(),
    status: p.text().$type<ReportStatus>(),
    /** Sequence of the last sent submission; null before the first. */
    sequence: p.integer().strictNullable(),
    /** The authority's deadline. */
    dueAt: p.datetime(),
    /** Id of its workflow. */
    workflowId: p.text(),
    /** When its workflow first started; null while it waits for the day before. */
    startedAt: p.datetime().strictNullable(),
    /** Send it with the known data, without waiting for open results. */
    sendNow: p.boolean(),
    /** As of the last check, the day can no longer change. */
    isComplete: p.boolean(),
    /** Whether a person has accepted the report although the authority's comparison shows a difference. */
    acceptedAsIs: p.boolean(),
    /** The lowest sequence that the authority accepts, if its list shows one; null: derived from our submissions. */
    nextSequence: p.integer().strictNullable(),
    /** When its content was last computed. */
    lookedAt: p.datetime().strictNullable(),
    /** Why its workflow waits for support; null while it runs normally. */
    stuckReason: p.text().$type<StuckReason>().strictNullable(),
    /** Since when the authority answers without deciding. */
    undecidedSince: p.datetime().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** An enterprise's report of one day to the authority, and its state (docs/daily-report.md). */
export class DailyReport extends DailyReportSchema.class {}
DailyReportSchema.setClass(DailyReport);

const ReportSubmissionSchema = defineEntity({
  name: 'ReportSubmission',
  properties: {
    /** In the order of creation. */
    id: p.bigint().primary().autoincrement(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    date: p.date(),
    /** SecEnvio, 1 to 99. */
    sequence: p.integer(),
    /** IDEmisor: our own numbering, independent of other systems of the company. */
    idEmisor: p.bigint(),
    status: p.text().$type<SubmissionStatus>(),
    /** The signed report, byte for byte as sent at every attempt. */
    xml: p.text().lazy(),
    /** SHA-256 of its content, hex: equal for two that differ only in sequence, number and signature. */
    contentHash: p.text(),
    /** Its content by type. */
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

/** One file that was, or will be, sent as the report of a day. */
export class ReportSubmission extends ReportSubmissionSchema.class {}
ReportSubmissionSchema.setClass(ReportSubmission);

const ServiceTimeSchema = defineEntity({
  name: 'ServiceTime',
  properties: {
    rut: p.text().primary(),
    /** The day on which it became READY, or was resumed after an end. */
    beganOn: p.date().primary(),
    /** The day of `enterprise end`; null while it is a customer. */
    endedOn: p.date().strictNullable(),
  },
});

/** A time in which an enterprise is a customer of the service (docs/contract.md#end). */
export class ServiceTime extends ServiceTimeSchema.class {}
ServiceTimeSchema.setClass(ServiceTime);

const ProviderReportFileSchema = defineEntity({
  name: 'ProviderReportFile',
  tableName: 'provider_report',
  properties: {
    /** `YYYYMM`. */
    period: p.text().primary(),
    /** 1 to 99. */
    sequence: p.integer().primary(),
    rut: p.text(),
    product: p.text(),
    /** The signed report. */
    xml: p.text(),
    builtAt: p.datetime(),
    /** When an operator recorded that the authority has the report. */
    receivedAt: p.datetime().strictNullable(),
  },
});

/** A monthly report of the operator to the authority (docs/authority/provider-report.md). */
export class ProviderReportFile extends ProviderReportFileSchema.class {}
ProviderReportFileSchema.setClass(ProviderReportFile);
