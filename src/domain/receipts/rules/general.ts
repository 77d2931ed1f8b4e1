import Big from 'big.js';
import { addDays } from '../../values/montevideo.ts';
import { type CfeRule, rule } from '../cfeRule.ts';

/** A rate this many times as high or low as the last known one is a mistake. */
const IMPLAUSIBLE = 5;

/** The earliest and latest emission date, in days from today (docs/contract.md#dates-currencies-payment). */
export const DAYS_BACK = 60;
export const DAYS_AHEAD = 60;
/** Bounds of FchEmis in the schema. */
const FIRST_DATE = '2011-10-01';
const LAST_DATE = '2050-12-31';

const EMISSION_DATE = ['header', 'doc_id', 'emission_date'];
const EXCHANGE_RATE = ['header', 'totals', 'exchange_rate'];

const later = (a: string, b: string) => (a > b ? a : b);
const earlier = (a: string, b: string) => (a < b ? a : b);

/** Rules on dates and currency. */
export const generalRules: readonly CfeRule[] = [
  rule(
    {
      code: 'emission_date.too_early',
      checks: `The emission date is at most ${DAYS_BACK} days before today in Montevideo.`,
      source: 'docs/contract.md#dates-currencies-payment',
      example:
        'header.doc_id.emission_date: must be 2025-12-17 or later (60 days before today), found 2025-12-16.',
      needs: ['emission_date'],
    },
    ({ emission_date }, { today }) => {
      const earliest = later(addDays(today, -DAYS_BACK), FIRST_DATE);
      if (emission_date >= earliest) return undefined;
      const words = `must be ${earliest} or later (${DAYS_BACK} days before today), found ${emission_date}.`;
      return { at: EMISSION_DATE, words };
    },
  ),
  rule(
    {
      code: 'emission_date.too_late',
      checks: `The emission date is at most ${DAYS_AHEAD} days after today in Montevideo.`,
      source: 'Formato CFE v25.2, zone A, field 5',
      example:
        'header.doc_id.emission_date: must be 2026-04-16 or earlier (60 days after today), found 2026-04-17.',
      needs: ['emission_date'],
    },
    ({ emission_date }, { today }) => {
      const latest = earlier(addDays(today, DAYS_AHEAD), LAST_DATE);
      if (emission_date <= latest) return undefined;
      const words = `must be ${latest} or earlier (${DAYS_AHEAD} days after today), found ${emission_date}.`;
      return { at: EMISSION_DATE, words };
    },
  ),
  rule(
    {
      code: 'exchange_rate.not_one',
      checks: 'In UYU the exchange rate is 1.',
      source: 'docs/contract.md#dates-currencies-payment; Formato CFE v25.2, zone A, field 111',
      example: 'header.totals.exchange_rate: must be 1 when the currency is UYU, found 40.',
      needs: ['currency', 'exchange_rate'],
    },
    ({ currency, exchange_rate }) => {
      if (currency !== 'UYU' || exchange_rate.eq(1)) return undefined;
      return {
        at: EXCHANGE_RATE,
        words: `must be 1 when the currency is UYU, found ${exchange_rate.toFixed()}.`,
      };
    },
  ),
  rule(
    {
      code: 'exchange_rate.zero',
      checks: 'In another currency the exchange rate is above zero.',
      source: 'docs/contract.md#dates-currencies-payment; Formato CFE v25.2, zone A, field 111',
      example: 'header.totals.exchange_rate: must be above zero (pesos for one USD), found 0.',
      needs: ['currency', 'exchange_rate'],
    },
    ({ currency, exchange_rate }) => {
      if (currency === 'UYU' || exchange_rate.gt(0)) return undefined;
      return { at: EXCHANGE_RATE, words: `must be above zero (pesos for one ${currency}), found 0.` };
    },
  ),
  rule(
    {
      code: 'totals.exchange_rate_implausible',
      checks: `The exchange rate is between a fifth of the last rate known before the emission date and ${IMPLAUSIBLE} times it; none known, none compared.`,
      source: 'docs/contract.md#exchange-rates-of-receipts',
      example:
        'header.totals.exchange_rate: must be between a fifth of 39.85 and 5 times it, the last known rate of USD, of 2026-02-14, found 3985.',
      needs: ['currency', 'exchange_rate'],
    },
    ({ exchange_rate }, { lastRate }) => {
      // Zero has a rule of its own.
      if (!lastRate || exchange_rate.eq(0)) return undefined;
      const isBetween =
        exchange_rate.lte(Big(lastRate.rate).times(IMPLAUSIBLE)) &&
        exchange_rate.times(IMPLAUSIBLE).gte(lastRate.rate);
      if (isBetween) return undefined;
      const last = `${Big(lastRate.rate).toFixed()} and ${IMPLAUSIBLE} times it, the last known rate of ${lastRate.currency}, of ${lastRate.date}`;
      return {
        at: EXCHANGE_RATE,
        words: `must be between a fifth of ${last}, found ${exchange_rate.toFixed()}.`,
      };
    },
  ),
];
