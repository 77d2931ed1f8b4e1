import type * as z from 'zod';
import type { UiValue } from '../../db/entities/operations.ts';
import { listRates, listUiValues, putRates, putUiValues } from '../../db/receipts/rates.ts';
import { ExchangeRateList, readRows, UiValueList } from '../../domain/operations/operatorFiles.ts';
import type { KnownRate, RateAnswer, WantedRate } from '../../domain/receipts/exchangeRate.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Loads exchange rates from a JSON list of {currency, date, rate, source}, each replacing that day's.
 * Operators only. Returns all known rates. Throws INVALID_INPUT with all faults of the file.
 */
export async function loadExchangeRates(deps: CommandDeps, input: { file: string }): Promise<KnownRate[]> {
  const rates = readRows(ExchangeRateList, input.file);
  return deps.orm.em.fork().transactional(async (em) => {
    await putRates(em, rates);
    const days = rates.map(({ date }) => date).toSorted();
    const currencies = [...new Set(rates.map(({ currency }) => currency))].join(' ');
    const subject = `${currencies} ${days[0]} ${days.at(-1)}`;
    auditAct(deps, em, { action: 'exchange_rate.load', subject }, deps.clock());
    return listRates(em);
  });
}

/** Loads UI values from a JSON list of {year, value, source, estimate}; otherwise as `setUiValues`. */
export const loadUiValues = (deps: CommandDeps, input: { file: string }): Promise<UiValue[]> =>
  setUiValues(deps, readRows(UiValueList, input.file));

/** Sets UI values, each replacing that of its year. Operators only. Returns all known values. */
export function setUiValues(deps: CommandDeps, rows: z.infer<typeof UiValueList>): Promise<UiValue[]> {
  return deps.orm.em.fork().transactional(async (em) => {
    await putUiValues(
      em,
      rows.map(({ year, value, source, estimate }) => ({ year, value: value.toFixed(4), source, estimate })),
    );
    const subject = rows.map(({ year }) => year).join(' ');
    auditAct(deps, em, { action: 'ui_value.load', subject }, deps.clock());
    return listUiValues(em);
  });
}

export interface FetchExchangeRateDeps extends CommandDeps {
  /** Returns the known rates; fetches missing ones from the central bank and stores them. */
  readonly lookUpRates: (wanted: readonly WantedRate[]) => Promise<RateAnswer[]>;
}

const AWAITED_MESSAGES = {
  unreachable: 'The central bank is not responding; load the rate with exchange-rate load.',
  not_closed: 'The central bank has not closed that day yet.',
} as const;

/**
 * Returns the rate that applies on a day, fetched from the central bank when it is not stored. Operators
 * only. Throws UNAVAILABLE when there is no rate yet, NOT_FOUND when the bank does not quote the currency.
 */
export async function fetchExchangeRate(deps: FetchExchangeRateDeps, wanted: WantedRate): Promise<KnownRate> {
  const [answer] = await deps.lookUpRates([wanted]);
  if (answer?.kind === 'awaited') throw new Refusal('UNAVAILABLE', AWAITED_MESSAGES[answer.why]);
  if (answer?.kind !== 'known')
    throw new Refusal('NOT_FOUND', `The central bank does not quote ${wanted.currency}.`);
  const { currency, date } = answer;
  await deps.orm.em.fork().transactional(async (em) => {
    auditAct(deps, em, { action: 'exchange_rate.fetch', subject: `${currency} ${date}` }, deps.clock());
  });
  return answer;
}
