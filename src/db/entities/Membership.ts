import { defineEntity, p } from '@mikro-orm/core';
import type { MemberRole } from '../../domain/people.ts';

const MembershipSchema = defineEntity({
  name: 'Membership',
  properties: {
    personId: p.uuid().primary(),
    accountId: p.uuid().primary(),
    role: p.text().$type<MemberRole>(),
    createdAt: p.datetime(),
  },
});

/** That a person belongs to an account, and as what. */
export class Membership extends MembershipSchema.class {}
MembershipSchema.setClass(Membership);
