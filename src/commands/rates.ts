import type { UiValue } from '../db/entities/operations.ts';
import { listRates, listUiValues, putRates, putUiValues } from '../db/rates.ts';
import type { KnownRate, RateAnswer, WantedRate } from '../domain/exchangeRate.ts';
import { ExchangeRateList, readRows, UiValueList } from '../domain/operatorFiles.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Takes exchange rates from a file: a JSON list of {currency, date, rate, source}, each in place of that day's one. An
 * operator's act. Answers all that are known. Refuses a file with faults, all at once (INVALID_INPUT).
 */
export async function loadExchangeRates(deps: CommandDeps, input: { file: string }): Promise<KnownRate[]> {
  const rates = readRows(ExchangeRateList, input.file);
  return deps.orm.em.fork().transactional(async (em) => {
    await putRates(em, rates);
    const days = rates.map(({ date }) => date).toSorted();
    const currencies = [...new Set(rates.map(({ currency }) => currency))].join(' ');
    const subject = `${currencies} ${days[0]} ${days.at(-1)}`;
    audited(deps, em, { action: 'exchange_rate.load', subject }, deps.clock());
    return listRates(em);
  });
}

/**
 * Takes UI values from a file: a JSON list of {year, value, source, estimate}, each in place of that year's one. An
 * operator's act. Answers all that are known. Refuses a file with faults, all at once (INVALID_INPUT).
 */
export async function loadUiValues(deps: CommandDeps, input: { file: string }): Promise<UiValue[]> {
  const rows = readRows(UiValueList, input.file);
  return deps.orm.em.fork().transactional(async (em) => {
    await putUiValues(
      em,
      rows.map(({ year, value, source, estimate }) => ({ year, value: value.toFixed(4), source, estimate })),
    );
    const subject = rows.map(({ year }) => year).join(' ');
    audited(deps, em, { action: 'ui_value.load', subject }, deps.clock());
    return listUiValues(em);
  });
}

export interface FetchExchangeRateDeps extends CommandDeps {
  /** Finds out what is known of rates, asks the central bank for those that lack, and stores them. */
  readonly lookUpRates: (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;
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
  const [answer] = await deps.lookUpRates([wanted]);
  if (answer?.kind === 'awaited') throw new Refusal('UNAVAILABLE', WHY[answer.why]);
  if (answer?.kind !== 'known')
    throw new Refusal('NOT_FOUND', `The central bank does not quote ${wanted.currency}.`);
  const { currency, date } = answer;
  await deps.orm.em.fork().transactional(async (em) => {
    audited(deps, em, { action: 'exchange_rate.fetch', subject: `${currency} ${date}` }, deps.clock());
  });
  return answer;
}
