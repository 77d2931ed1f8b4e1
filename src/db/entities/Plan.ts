import { defineEntity, p } from '@mikro-orm/core';

const PlanSchema = defineEntity({
  name: 'Plan',
  properties: {
    planId: p.text().primary(),
    frequencyId: p.text().primary(),
    amount: p.decimal(),
    currency: p.text(),
  },
});

/** What a plan costs at one frequency of payment. */
export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan);
