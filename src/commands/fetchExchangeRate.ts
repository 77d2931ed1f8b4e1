import type { KnownRate, RateAnswer, WantedRate } from '../domain/exchangeRate.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

export interface FetchExchangeRateDeps extends CommandDeps {
  /** Finds out what is known of rates, asks the central bank for those that lack, and stores them. */
  readonly ratesFor: (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;
}

/** Why there is no rate, in words. */
const WHY = {
  unreachable: 'The central bank does not answer; load the rate with exchange-rate load.',
  not_closed: 'The central bank has not closed that day yet.',
} as const;

/**
 * The rate that counts for a day, from our rows or, where they lack it, from the central bank, stored. An operator's act.
 * Refuses where there is none yet (UNAVAILABLE) and where the bank does not quote the currency (NOT_FOUND).
 */
export async function fetchExchangeRate(deps: FetchExchangeRateDeps, wanted: WantedRate): Promise<KnownRate> {
  const [answer] = await deps.ratesFor([wanted]);
  if (answer?.kind === 'awaited') throw new Refusal('UNAVAILABLE', WHY[answer.why]);
  if (answer?.kind !== 'known')
    throw new Refusal('NOT_FOUND', `The central bank does not quote ${wanted.currency}.`);
  const { currency, date } = answer;
  await deps.orm.em.fork().transactional(async (em) => {
    audited(deps, em, { action: 'exchange_rate.fetch', subject: `${currency} ${date}` }, deps.clock());
  });
  return answer;
}
