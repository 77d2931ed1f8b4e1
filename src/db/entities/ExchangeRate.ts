import { defineEntity, p } from '@mikro-orm/core';

const ExchangeRateSchema = defineEntity({
  name: 'ExchangeRate',
  properties: {
    currency: p.text().primary(),
    /** The day whose closing counts, `YYYY-MM-DD`; a Monday to a Friday. */
    date: p.date().primary(),
    /** Pesos of one unit of the currency, decimal text with all its decimals. */
    rate: p.decimal(),
    /** Who quoted it, for whoever checks it. */
    source: p.text(),
  },
});

/** What one unit of a currency is worth at the closing of a day (docs/authority/rates.md). */
export class ExchangeRate extends ExchangeRateSchema.class {}
ExchangeRateSchema.setClass(ExchangeRate);
