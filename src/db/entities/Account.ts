import { defineEntity, p } from '@mikro-orm/core';

const AccountSchema = defineEntity({
  name: 'Account',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    email: p.text(),
    isDeveloper: p.boolean(),
    createdAt: p.datetime(),
  },
});

/** A developer account: it holds API keys and owns enterprises (docs/contract.md#keys-and-tokens). */
export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);
