import { defineEntity, p } from '@mikro-orm/core';
import type { OperatorRole } from '../../domain/people.ts';

const PersonSchema = defineEntity({
  name: 'Person',
  properties: {
    id: p.uuid().primary(),
    /** In lower case. */
    email: p.text().unique(),
    /** What they are among the operators; null for who only belongs to accounts. */
    operatorRole: p.text().$type<OperatorRole>().strictNullable(),
    passwordHash: p.text().strictNullable(),
    /** The secret of their authenticator app, sealed. */
    sealedTotp: p.text().strictNullable(),
    /** The step of the last code that was taken: no code is taken twice. */
    totpStep: p.bigint('number').strictNullable(),
    /** Issuer and subject at the OpenID provider, once they came by it; from then on they come by it alone. */
    oidcSubject: p.text().strictNullable(),
    /**
     * Their password was set by a link that an account's OWNER passed on: only that account knows whether they are who the
     * address says. Who vouches for more (an operator) has it set anew.
     */
    passwordByAccount: p.boolean().default(false),
    createdAt: p.datetime(),
    disabledAt: p.datetime().strictNullable(),
  },
});

/** Somebody who may sign in to the console (docs/console.md#people-and-roles). */
export class Person extends PersonSchema.class {}
PersonSchema.setClass(Person);
