import { defineEntity, p } from '@mikro-orm/core';

const InvitationSchema = defineEntity({
  name: 'Invitation',
  properties: {
    id: p.uuid().primary(),
    personId: p.uuid(),
    /** SHA-256 of the token in the link. */
    tokenHash: p.blob().unique(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    /** When it was accepted, or withdrawn by a later one. */
    endedAt: p.datetime().strictNullable(),
  },
});

/** A link by which a person sets their password, once. */
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);
