import { defineEntity, p } from '@mikro-orm/core';
import type { SignInMethod } from '../../domain/people.ts';

const ConsoleSessionSchema = defineEntity({
  name: 'ConsoleSession',
  properties: {
    id: p.uuid().primary(),
    /** SHA-256 of the token in the cookie. */
    tokenHash: p.blob().unique(),
    personId: p.uuid(),
    method: p.text().$type<SignInMethod>(),
    /** False while the second factor is awaited: such a session opens nothing but that form. */
    complete: p.boolean(),
    /** From where it was begun, for its owner to recognise. */
    address: p.text(),
    browser: p.text(),
    createdAt: p.datetime(),
    seenAt: p.datetime(),
    endedAt: p.datetime().strictNullable(),
  },
});

/** A person signed in, in one browser. */
export class ConsoleSession extends ConsoleSessionSchema.class {}
ConsoleSessionSchema.setClass(ConsoleSession);
