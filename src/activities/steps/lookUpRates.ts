import type { Orm } from '../../db/orm.ts';
import { findRates, keepRates, lastKnownRate } from '../../db/rates.ts';
import { type CentralBank, CentralBankUnavailable, isQuoted } from '../../dgi/centralBank.ts';
import { closingDay, type KnownRate, type RateAnswer, type WantedRate } from '../../domain/exchangeRate.ts';
import { addDays } from '../../domain/montevideo.ts';

/** Longer than the banks ever stay closed: the week of Tourism with its weekends has nine days. */
const LONGEST_PAUSE_DAYS = 14;

/** What rates are found with. */
export interface RateDeps {
  readonly orm: Orm;
  readonly centralBank: CentralBank;
}

/** Finds out what is known of rates; the answers are in the order of what is wanted. */
export type RateLookup = (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;

/**
 * The rates that count at the closings of days (docs/authority/reports.md#which-rate). Rows come first; what they lack
 * is asked of the central bank, in two calls at most, and stored, so that one day is asked about once. Whoever asks for
 * the same at the same time shares those calls. Never rejects because of the bank: what it does not answer is
 * `awaited`.
 */
export function createRateLookup(deps: RateDeps): RateLookup {
  const underWay = new Map<string, Promise<RateAnswer[]>>();
  return async (wanted) => {
    const days = wanted.map((day) => ({ asked: day, closing: { ...day, date: closingDay(day.date) } }));
    const stored = byKey(
      await findRates(
        deps.orm.em.fork(),
        days.flatMap(({ asked, closing }) => [asked, closing]),
      ),
    );
    // An operator may have loaded a Sunday's.
    const storedFor = ({ asked, closing }: (typeof days)[number]) =>
      stored.get(keyOf(asked)) ?? stored.get(keyOf(closing));
    const lacking = days.filter((day) => isQuoted(day.asked.currency) && !storedFor(day));
    const missing = [...byKey(lacking.map(({ closing }) => closing)).values()].toSorted((a, b) =>
      keyOf(a) < keyOf(b) ? -1 : 1,
    );
    const found = new Map<string, RateAnswer>();
    if (missing.length > 0) {
      const all = missing.map(keyOf).join(',');
      const asking = underWay.get(all) ?? ask(deps, missing).finally(() => underWay.delete(all));
      underWay.set(all, asking);
      for (const [index, answer] of (await asking).entries()) {
        const day = missing[index];
        if (day) found.set(keyOf(day), answer);
      }
    }
    return days.map((day) => {
      const rate = storedFor(day);
      return rate ? { kind: 'known', ...rate } : (found.get(keyOf(day.closing)) ?? { kind: 'unquoted' });
    });
  };
}

const keyOf = ({ currency, date }: WantedRate): string => `${currency} ${date}`;
const byKey = <T extends WantedRate>(rates: readonly T[]): Map<string, T> =>
  new Map(rates.map((rate) => [keyOf(rate), rate]));

/** Asks the central bank about days, each once, and stores what counts for them. */
async function ask({ orm, centralBank }: RateDeps, missing: readonly WantedRate[]): Promise<RateAnswer[]> {
  const dates = missing.map(({ date }) => date).toSorted();
  const [first = '', last = ''] = [dates[0], dates.at(-1)];
  try {
    const quoted = await centralBank.closingRates({
      currencies: [...new Set(missing.map(({ currency }) => currency))],
      from: addDays(first, -LONGEST_PAUSE_DAYS),
      to: last,
    });
    const rates = byKey(quoted);
    // A day without a quotation is a holiday once a later one, or itself, is closed; until then it may yet be quoted.
    const isComplete = missing.every((day) => rates.has(keyOf(day)));
    const closedUpTo = isComplete ? last : await centralBank.lastClosing();
    const answers = missing.map((day) => rates.get(keyOf(day)) ?? standIn(quoted, day, closedUpTo));
    const known = answers.filter((answer) => answer !== 'unquoted' && answer !== 'not_closed');
    await keepRates(orm.em.fork(), [...byKey([...quoted, ...known]).values()]);
    return await Promise.all(
      answers.map(async (answer, index): Promise<RateAnswer> => {
        if (answer === 'unquoted') return { kind: 'unquoted' };
        if (answer === 'not_closed') return awaited(orm, 'not_closed', missing[index]);
        return { kind: 'known', ...answer };
      }),
    );
  } catch (error) {
    if (!(error instanceof CentralBankUnavailable)) throw error;
    return Promise.all(missing.map((day) => awaited(orm, 'unreachable', day)));
  }
}

/** What counts for a day without a quotation: the last working day's rate before it, once it is sure that there is none. */
function standIn(
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

async function awaited(
  orm: Orm,
  why: 'unreachable' | 'not_closed',
  day: WantedRate | undefined,
): Promise<RateAnswer> {
  return { kind: 'awaited', why, lastKnown: day ? await lastKnownRate(orm.em.fork(), day) : null };
}
