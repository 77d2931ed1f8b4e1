import { createHash } from 'node:crypto';
import type { ReportKey } from '../../db/dailyReports.ts';
import type { Orm } from '../../db/orm.ts';
import { readReportDay, type WaitsFor } from '../../db/reportDay.ts';
import type { RateAnswer, WantedRate } from '../../domain/exchangeRate.ts';
import { addDays, montevideoDate } from '../../domain/montevideo.ts';
import type { ReportSummary } from '../../domain/report/summary.ts';

export interface ContentDeps {
  orm: Orm;
  /** Finds out what is known of rates; the answers are in the order of what is wanted. */
  lookUpRates: (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;
}

/** What the report of a day tells, as things stand now. */
export interface ReportContent {
  readonly summary: ReportSummary;
  /** SHA-256 of it, hex. */
  readonly hash: string;
  readonly waitsFor: WaitsFor;
  /** How many rates the central bank has still to give; the last known ones stand in for them. */
  readonly ratesLacking: number;
  /** Nothing of the day can change any more, as far as is known. */
  readonly isComplete: boolean;
}

/** A transaction that began before midnight may commit after it: by then all have. */
const DAY_SETTLES_MILLISECONDS = 600_000;

/** When everything that belongs to a day is stored. */
export const dayIsOverAt = (date: string): Date =>
  new Date(Date.parse(`${addDays(date, 1)}T00:00:00-03:00`) + DAY_SETTLES_MILLISECONDS);

/** Reads a day and sums it up, by the rates that are known at `now`. Throws ReportTooLarge and NumberTwice. */
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
    wanted.map(({ currency, date }, index) => [`${currency} ${date}`, rateIn(answers[index])] as const),
  );
  const summary = sums.close({
    signedOn,
    rateOf: ({ currency, date }) => known.get(`${currency} ${date}`) ?? null,
  });
  const ratesLacking = answers.filter(({ kind }) => kind === 'awaited').length;
  const nothingWaits = waitsFor.verdicts + waitsFor.undecided + ratesLacking === 0;
  return {
    summary,
    hash: createHash('sha256').update(JSON.stringify(summary)).digest('hex'),
    waitsFor,
    ratesLacking,
    isComplete: nothingWaits && now >= dayIsOverAt(key.date),
  };
}

/** Pesos of one unit; null where each receipt's own rate counts. */
function rateIn(answer: RateAnswer | undefined): string | null {
  if (answer?.kind === 'known') return answer.rate;
  return answer?.kind === 'awaited' ? (answer.lastKnown?.rate ?? null) : null;
}
