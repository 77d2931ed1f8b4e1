import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { MemberRole, OperatorRole, SignInMethod } from '../../domain/people.ts';

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

const SavedFilterSchema = defineEntity({
  name: 'SavedFilter',
  properties: {
    id: p.uuid().primary(),
    personId: p.uuid(),
    /** Of the list that it narrows. */
    path: p.text(),
    /** What its person calls it. */
    name: p.text(),
    /** As it stands in an address. */
    query: p.text(),
    createdAt: p.datetime(),
  },
});

/** A filter of a list of the console that somebody keeps for themselves. */
export class SavedFilter extends SavedFilterSchema.class {}
SavedFilterSchema.setClass(SavedFilter);
