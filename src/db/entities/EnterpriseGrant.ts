import { defineEntity, p } from '@mikro-orm/core';
import type { GrantedRole } from '../../domain/grantedRole.ts';

const EnterpriseGrantSchema = defineEntity({
  name: 'EnterpriseGrant',
  properties: {
    accountId: p.uuid().primary(),
    rut: p.text().primary(),
    role: p.text().$type<GrantedRole>(),
  },
});

/** What an operator lets an account do at an enterprise of another account (docs/contract.md#roles). */
export class EnterpriseGrant extends EnterpriseGrantSchema.class {}
EnterpriseGrantSchema.setClass(EnterpriseGrant);
