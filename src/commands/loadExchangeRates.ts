import { listRates, putRates } from '../db/exchangeRates.ts';
import type { KnownRate } from '../domain/exchangeRate.ts';
import { ExchangeRateList, readRows } from '../domain/operatorFiles.ts';
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
