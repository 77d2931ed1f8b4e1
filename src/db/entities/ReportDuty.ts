import { defineEntity, p } from '@mikro-orm/core';

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
