import { z } from 'zod';
import { inTransaction } from '../state/database.ts';
import { closingRate, putRate, QUOTED_CURRENCIES } from '../state/rates.ts';
import { day, read } from './input.ts';
import type { PortalRoute } from './route.ts';

const Rate = z
  .union([z.string(), z.number().transform(String)])
  .refine((text) => /^\d{1,6}(\.\d{1,6})?$/.test(text) && Number(text) > 0, 'must be a number above 0');
const Rates = z.partialRecord(z.enum(QUOTED_CURRENCIES), Rate.nullable());

/** Sets what the central bank quotes at the closing of a day; null: it does not quote the currency that day. */
export const putRates: PortalRoute = {
  method: 'PUT',
  path: '/portal/rates/{date}',
  handle({ path, body }, { state, clock }) {
    const date = read(day, path['date'], '/path/date');
    const rates = Object.entries(read(Rates, body));
    inTransaction(state, () => {
      for (const [currency, rate] of rates) putRate(state, date, currency, rate ?? null);
    });
    const now = clock();
    const all = QUOTED_CURRENCIES.map((currency) => [currency, closingRate(state, currency, date, now)]);
    return { status: 200, json: { date, rates: Object.fromEntries(all) } };
  },
};
