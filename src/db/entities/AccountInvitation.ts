import { defineEntity, p } from '@mikro-orm/core';
import type { MemberRole } from '../../domain/people.ts';

const AccountInvitationSchema = defineEntity({
  name: 'AccountInvitation',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    /** Whom, in lower case; nobody is stored for it until it is accepted. */
    email: p.text(),
    role: p.text().$type<MemberRole>(),
    /** SHA-256 of the token in the link. */
    tokenHash: p.blob().unique(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    /** When it was accepted, withdrawn, or replaced by a later one. */
    endedAt: p.datetime().strictNullable(),
  },
});

/** A link by which somebody becomes a member of an account, once. */
export class AccountInvitation extends AccountInvitationSchema.class {}
AccountInvitationSchema.setClass(AccountInvitation);
