import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { ReportStatus } from '../../domain/reportStatus.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';

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
