import { createHash } from 'node:crypto';
import type { Orm } from '../../db/orm.ts';
import type { ReportKey } from '../../db/reports/dailyReports.ts';
import { type AwaitedSummary, readReportDay } from '../../db/reports/reportDay.ts';
import type { RateAnswer, WantedRate } from '../../domain/receipts/exchangeRate.ts';
import type { ReportSummary } from '../../domain/reports/summary.ts';
import { addDays, montevideoDate } from '../../domain/values/montevideo.ts';

export interface ContentDeps {
  orm: Orm;
  /** Looks up rates; the answers are in the order of `wanted`. */
  lookUpRates: (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;
}

/** The content of a day's report at present. */
export interface ReportContent {
  readonly summary: ReportSummary;
  /** SHA-256 of the summary, hex. */
  readonly hash: string;
  readonly waitsFor: AwaitedSummary;
  /** Rates that the central bank has yet to publish; the last known ones are used meanwhile. */
  readonly missingRates: number;
  /** As far as is known, nothing of the day can change any more. */
  readonly isComplete: boolean;
}

/** A transaction that started before midnight has committed after this time. */
const DAY_SETTLES_MILLISECONDS = 600_000;

/** Returns when all rows of a day are stored. */
export const dayIsOverAt = (date: string): Date =>
  new Date(Date.parse(`${addDays(date, 1)}T00:00:00-03:00`) + DAY_SETTLES_MILLISECONDS);

/** Reads a day and sums it up with the rates known at `now`. Throws ReportTooLarge and DuplicateNumber. */
export async function readReportContent(
  { orm, lookUpRates }: ContentDeps,
  key: ReportKey,
  now: Date,
): Promise<ReportContent> {
  const { sums, waitsFor } = await readReportDay(orm.em.fork(), key);
  const signedOn = montevideoDate(now);
  const wanted = sums.wantedRates(signedOn);
  const answers = await lookUpRates(wanted);
  const known = new Map(
    wanted.map(({ currency, date }, index) => [`${currency} ${date}`, toRate(answers[index])] as const),
  );
  const summary = sums.close({
    signedOn,
    rateOf: ({ currency, date }) => known.get(`${currency} ${date}`) ?? null,
  });
  const missingRates = answers.filter(({ kind }) => kind === 'awaited').length;
  const nothingWaits = waitsFor.verdicts + waitsFor.undecided + missingRates === 0;
  return {
    summary,
    hash: createHash('sha256').update(JSON.stringify(summary)).digest('hex'),
    waitsFor,
    missingRates,
    isComplete: nothingWaits && now >= dayIsOverAt(key.date),
  };
}

/** Returns the pesos of one unit; null if each receipt's own rate counts. */
function toRate(answer: RateAnswer | undefined): string | null {
  if (answer?.kind === 'known') return answer.rate;
  return answer?.kind === 'awaited' ? (answer.lastKnown?.rate ?? null) : null;
}
