import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';

const RateLimitSchema = defineEntity({
  name: 'RateLimit',
  properties: {
    accountId: p.uuid().primary(),
    environment: p.text().$type<Environment>().primary(),
    perHour: p.integer(),
  },
});

/** Requests an hour that an account may make, where they are others than everyone's (docs/contract.md#limits). */
export class RateLimit extends RateLimitSchema.class {}
RateLimitSchema.setClass(RateLimit);
