import type { Orm } from '../../db/orm.ts';
import { findLastRate, findRates, insertMissingRates } from '../../db/receipts/rates.ts';
import { type CentralBank, CentralBankUnavailable, isQuoted } from '../../dgi/centralBank.ts';
import {
  closingDay,
  type KnownRate,
  type RateAnswer,
  type WantedRate,
} from '../../domain/receipts/exchangeRate.ts';
import { addDays } from '../../domain/values/montevideo.ts';

/** Longer than banks are ever closed: the week of Tourism with its weekends has nine days. */
const LONGEST_PAUSE_DAYS = 14;

/** Dependencies of a rate lookup. */
export interface RateDeps {
  readonly orm: Orm;
  readonly centralBank: CentralBank;
}

/** Looks up rates; the answers are in the order of `wanted`. */
export type RateLookup = (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;

/**
 * Creates a lookup of the closing rates of days (docs/authority/reports.md#which-rate). Rates that are not
 * stored are asked of the central bank, in two calls at most, and stored; concurrent lookups of the same
 * rates share those calls. Never rejects because of the bank: a missing answer is `awaited`.
 */
export function createRateLookup(deps: RateDeps): RateLookup {
  const underWay = new Map<string, Promise<RateAnswer[]>>();
  return async (wanted) => {
    const days = wanted.map((day) => ({ day, closing: { ...day, date: closingDay(day.date) } }));
    const stored = byKey(
      await findRates(
        deps.orm.em.fork(),
        days.flatMap(({ day, closing }) => [day, closing]),
      ),
    );
    // An operator may have loaded the rate of a Sunday.
    const storedFor = ({ day, closing }: (typeof days)[number]) =>
      stored.get(keyOf(day)) ?? stored.get(keyOf(closing));
    const unknown = days.filter((row) => isQuoted(row.day.currency) && !storedFor(row));
    const missing = [...byKey(unknown.map(({ closing }) => closing)).values()].toSorted((a, b) =>
      keyOf(a) < keyOf(b) ? -1 : 1,
    );
    const answers = new Map<string, RateAnswer>();
    if (missing.length > 0) {
      const key = missing.map(keyOf).join(',');
      const asking = underWay.get(key) ?? askCentralBank(deps, missing).finally(() => underWay.delete(key));
      underWay.set(key, asking);
      for (const [index, answer] of (await asking).entries()) {
        const day = missing[index];
        if (day) answers.set(keyOf(day), answer);
      }
    }
    return days.map((row) => {
      const rate = storedFor(row);
      return rate ? { kind: 'known', ...rate } : (answers.get(keyOf(row.closing)) ?? { kind: 'unquoted' });
    });
  };
}

const keyOf = ({ currency, date }: WantedRate): string => `${currency} ${date}`;
const byKey = <T extends WantedRate>(rates: readonly T[]): Map<string, T> =>
  new Map(rates.map((rate) => [keyOf(rate), rate]));

/** Asks the central bank for the rates of days, each once, and stores them. */
async function askCentralBank(
  { orm, centralBank }: RateDeps,
  missing: readonly WantedRate[],
): Promise<RateAnswer[]> {
  const dates = missing.map(({ date }) => date).toSorted();
  const [first = '', last = ''] = [dates[0], dates.at(-1)];
  try {
    const quoted = await centralBank.closingRates({
      currencies: [...new Set(missing.map(({ currency }) => currency))],
      from: addDays(first, -LONGEST_PAUSE_DAYS),
      to: last,
    });
    const rates = byKey(quoted);
    // A day without a quotation is a holiday once this or a later day is closed; before, it may still be quoted.
    const isComplete = missing.every((day) => rates.has(keyOf(day)));
    const closedUpTo = isComplete ? last : await centralBank.lastClosing();
    const answers = missing.map((day) => rates.get(keyOf(day)) ?? rateBeforeHoliday(quoted, day, closedUpTo));
    const known = answers.filter((answer) => answer !== 'unquoted' && answer !== 'not_closed');
    await insertMissingRates(orm.em.fork(), [...byKey([...quoted, ...known]).values()]);
    return await Promise.all(
      answers.map(async (answer, index): Promise<RateAnswer> => {
        if (answer === 'unquoted') return { kind: 'unquoted' };
        if (answer === 'not_closed') return toAwaited(orm, 'not_closed', missing[index]);
        return { kind: 'known', ...answer };
      }),
    );
  } catch (error) {
    if (!(error instanceof CentralBankUnavailable)) throw error;
    return Promise.all(missing.map((day) => toAwaited(orm, 'unreachable', day)));
  }
}

/** Returns the rate of the last working day before a holiday, once the day is known to be one. */
function rateBeforeHoliday(
  quoted: readonly KnownRate[],
  { currency, date }: WantedRate,
  closedUpTo: string,
): KnownRate | 'unquoted' | 'not_closed' {
  if (closedUpTo < date) return 'not_closed';
  const earlier = quoted
    .filter((rate) => rate.currency === currency && rate.date < date)
    .toSorted((a, b) => (a.date < b.date ? -1 : 1))
    .at(-1);
  return earlier ? { ...earlier, date, source: `${earlier.source}, closing of ${earlier.date}` } : 'unquoted';
}

async function toAwaited(
  orm: Orm,
  why: 'unreachable' | 'not_closed',
  day: WantedRate | undefined,
): Promise<RateAnswer> {
  return { kind: 'awaited', why, lastKnown: day ? await findLastRate(orm.em.fork(), day) : null };
}
