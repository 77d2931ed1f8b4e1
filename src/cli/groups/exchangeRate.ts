import * as z from 'zod';
import { fetchExchangeRate } from '../../commands/fetchExchangeRate.ts';
import { loadExchangeRates } from '../../commands/loadExchangeRates.ts';
import { listRates } from '../../db/exchangeRates.ts';
import { date } from '../../domain/dates.ts';
import { CURRENCIES } from '../../domain/enums.ts';
import type { KnownRate } from '../../domain/exchangeRate.ts';
import { defineVerb, type Group } from '../verb.ts';

const row = ({ currency, date, rate, source }: KnownRate) => ({ currency, date, rate, source });

const list = defineVerb({
  name: 'list',
  summary: 'List all rates that are stored, the latest first',
  reads: true,
  examples: ['', '--json'],
  input: z.strictObject({}),
  run: async ({ orm }) => (await listRates(orm.em.fork())).map(row),
});

const load = defineVerb({
  name: 'load',
  summary: 'Set the rates of one or more days, where the central bank cannot be asked',
  args: {
    FILE: 'JSON: [{"currency", "date", "rate", "source"}]; the rate is text: pesos at the closing of that day',
  },
  examples: ['rates.json'],
  input: z.strictObject({ file: z.string() }),
  run: async (deps, { file }) => (await loadExchangeRates(deps, { file: deps.readFile(file) })).map(row),
});

const fetch = defineVerb({
  name: 'fetch',
  summary: 'Ask the central bank for the rate of a day, unless it is stored, and store it',
  args: { CURRENCY: 'USD or EUR', DATE: 'the day whose closing counts, YYYY-MM-DD' },
  examples: ['USD 2026-03-09'],
  input: z.strictObject({ currency: z.enum(CURRENCIES).exclude(['UYU']), date: date() }),
  run: async (deps, wanted) => row(await fetchExchangeRate({ ...deps, ratesFor: deps.ratesFor() }, wanted)),
});

/** `cfe exchange-rate`: pesos of one unit of a foreign currency at the closing of a day, for the daily report. */
export const exchangeRate: Group = {
  name: 'exchange-rate',
  summary: 'Rates of foreign currencies, by day',
  verbs: [list, load, fetch],
};
