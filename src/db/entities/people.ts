import { defineEntity, p } from '@mikro-orm/core';
import type { KeyScope } from '../../domain/people/keyScope.ts';
import type { MemberRole, OperatorRole, SignInMethod } from '../../domain/people/people.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';

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

/** A developer account: it has API keys and owns enterprises (docs/contract.md#keys-and-tokens). */
export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  properties: {
    id: p.uuid().primary(),
    /** The part of the key that finds its row; of the rest only the hash is stored. */
    publicId: p.text().unique(),
    accountId: p.uuid(),
    environment: p.text().$type<Environment>(),
    scope: p.text().$type<KeyScope>(),
    hash: p.blob(),
    label: p.text().strictNullable(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().strictNullable(),
    revokedAt: p.datetime().strictNullable(),
  },
});

/** An API key of one account for one environment; the key itself is never stored. */
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

/** An account's own rate limit, different from the default (docs/contract.md#limits). */
export class RateLimit extends RateLimitSchema.class {}
RateLimitSchema.setClass(RateLimit);

const PersonSchema = defineEntity({
  name: 'Person',
  properties: {
    id: p.uuid().primary(),
    /** In lower case. */
    email: p.text().unique(),
    /** Their role as an operator; null for people who only belong to accounts. */
    operatorRole: p.text().$type<OperatorRole>().strictNullable(),
    passwordHash: p.text().strictNullable(),
    /** The secret of their authenticator app, sealed. */
    sealedTotp: p.text().strictNullable(),
    /** The step of the last used code: no code is accepted twice. */
    totpStep: p.bigint('number').strictNullable(),
    /** Issuer and subject at the OpenID provider; once set, they sign in only there. */
    oidcSubject: p.text().strictNullable(),
    /**
     * Their password was set through a link from an account's OWNER: only that account knows whether the person owns
     * the address. An operator who vouches for more has it set again.
     */
    passwordByAccount: p.boolean().default(false),
    createdAt: p.datetime(),
    disabledAt: p.datetime().strictNullable(),
  },
});

/** A person who may sign in to the console (docs/console.md#people-and-roles). */
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

/** A person's role in an account. */
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

/** A one-time link with which a person sets their password. */
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);

const AccountInvitationSchema = defineEntity({
  name: 'AccountInvitation',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    /** The invited address, in lower case; no person is stored until it is accepted. */
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

/** A one-time link with which a person becomes a member of an account. */
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
    /** False while the second factor is missing: such a session opens only that form. */
    complete: p.boolean(),
    /** Where it started, for its owner to recognise. */
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
    /** The path of its list. */
    path: p.text(),
    /** The name chosen by the person. */
    name: p.text(),
    /** The query string, as in the URL. */
    query: p.text(),
    createdAt: p.datetime(),
  },
});

/** A person's saved filter of a list of the console. */
export class SavedFilter extends SavedFilterSchema.class {}
SavedFilterSchema.setClass(SavedFilter);
