import { defineEntity, p } from '@mikro-orm/core';

const UiValueSchema = defineEntity({
  name: 'UiValue',
  properties: {
    /** The year in which the value counts; it is the UI of 31 December of the year before. */
    year: p.integer().primary(),
    value: p.decimal(),
    source: p.text(),
    estimate: p.boolean(),
  },
});

/** Pesos of one indexed unit (UI) for the 5,000 UI limit of e-Tickets, by year. */
export class UiValue extends UiValueSchema.class {}
UiValueSchema.setClass(UiValue);
