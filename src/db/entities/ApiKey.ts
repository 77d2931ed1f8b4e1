import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  properties: {
    id: p.uuid().primary(),
    /** The part of the key that finds its row; the rest is known by its hash alone. */
    publicId: p.text().unique(),
    accountId: p.uuid(),
    environment: p.text().$type<Environment>(),
    hash: p.blob(),
    label: p.text().strictNullable(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().strictNullable(),
    revokedAt: p.datetime().strictNullable(),
  },
});

/** An API key of one account for one environment; never stored itself. */
export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);
