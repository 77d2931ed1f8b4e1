import * as z from 'zod';
import type { Lookups } from '../../../src/api/authenticate.ts';
import type { ApiDeps } from '../../../src/api/deps.ts';
import { defineRoute, type Route } from '../../../src/api/route.ts';
import type { ApiKeys } from '../../../src/crypto/apiKeys.ts';
import type { Enterprise } from '../../../src/db/entities/enterprises.ts';
import type { ApiKey } from '../../../src/db/entities/people.ts';
import type { KnownApiKey } from '../../../src/db/people/accounts.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { integerSchema } from '../../../src/domain/values/decimal.ts';
import { Rut } from '../../../src/domain/values/rut.ts';

/** Routes of every make, whose handlers answer what they were handed. */
export const FAKE_ROUTES: readonly Route[] = [
  defineRoute({
    name: 'makeToken',
    method: 'POST',
    path: '/tokens',
    summary: 'as POST /tokens',
    about: 'For tests.',
    auth: 'key',
    sandbox: true,
    role: null,
    body: { schema: z.strictObject({}), limitBytes: 1024, optional: true },
    success: { status: 200, description: '', schema: z.unknown() },
    handle: async ({ caller }) => caller,
  }),
  defineRoute({
    name: 'readThing',
    method: 'GET',
    path: '/enterprises/{rut}/things',
    summary: 'a read with query parameters',
    about: 'For tests.',
    auth: 'token',
    role: 'VIEWER',
    params: { rut: Rut },
    query: z.strictObject({ limit: z.string().regex(/^\d+$/).transform(Number).optional() }),
    success: { status: 200, description: '', schema: z.unknown() },
    handle: async ({ params, query, role, enterprise, body }) => ({
      params,
      query,
      role,
      name: enterprise.legalName,
      body,
    }),
  }),
  defineRoute({
    name: 'makeThing',
    method: 'POST',
    path: '/enterprises/{rut}/things',
    summary: 'a write with a body',
    about: 'For tests.',
    auth: 'token',
    sandbox: true,
    role: 'MEMBER',
    params: { rut: Rut },
    body: {
      schema: z.strictObject({ count: integerSchema({ minimum: 1, maximum: 9 }) }),
      limitBytes: 1024,
      hints: { amount: 'use count' },
    },
    success: { status: 201, description: '', schema: z.unknown() },
    handle: async ({ body, rawBody, caller }) => ({
      body,
      bytes: rawBody.length,
      environment: caller.environment,
    }),
  }),
  defineRoute({
    name: 'breakThing',
    method: 'PUT',
    path: '/things',
    summary: 'a handler that fails',
    about: 'For tests.',
    auth: 'token',
    role: null,
    body: { schema: z.unknown(), limitBytes: 1024, checkedBy: 'command' },
    success: { status: 200, description: '', schema: z.unknown() },
    handle: async ({ body }) => {
      throw new Error(`broken by ${JSON.stringify(body)}`);
    },
  }),
];

/** RUTs that the fake lookups know: owned by account-1, owned by another. */
export const OWN_RUT = '219999830019';
export const FOREIGN_RUT = '214844360018';
/** A RUT in order that nobody registered. */
export const UNKNOWN_RUT = '211003420017';

const enterprise = (rut: string, ownerAccountId: string) =>
  ({ rut, ownerAccountId, legalName: `Empresa ${rut}` }) as unknown as Enterprise;

/** Lookups on a handful of facts, and the keys of account-1 (a developer) and account-2 (none) that go with them. */
export function fakeLookups(apiKeys: ApiKeys) {
  const known = new Map<string, KnownApiKey>();
  const used: string[] = [];
  const aKey = (
    id: string,
    environment: Environment,
    more: { accountId?: string; revoked?: boolean } = {},
  ): string => {
    const { text, publicId, hash } = apiKeys.create(environment);
    const { accountId = 'account-1', revoked = false } = more;
    const key = {
      id,
      publicId,
      accountId,
      environment,
      hash,
      revokedAt: revoked ? new Date() : null,
    } as unknown as ApiKey;
    known.set(publicId, { key, isDeveloper: accountId === 'account-1' });
    return text;
  };
  const keys = {
    live: aKey('live', 'production'),
    otherLive: aKey('otherLive', 'production'),
    test: aKey('test', 'sandbox'),
    revoked: aKey('revoked', 'production', { revoked: true }),
    plainTest: aKey('plainTest', 'sandbox', { accountId: 'account-2' }),
  };
  const lookups: Lookups = {
    apiKey: async (publicId) => known.get(publicId) ?? null,
    admit: async (_, rut) => ({
      usage: { limit: { most: 1_000, seconds: 3_600 }, used: 1, resetsAt: new Date(0) },
      enterprise:
        rut === OWN_RUT
          ? enterprise(rut, 'account-1')
          : rut === FOREIGN_RUT
            ? enterprise(rut, 'account-9')
            : null,
      granted: null,
    }),
    countFailedAuthentication: async () => ({
      limit: { most: 100, seconds: 600 },
      used: 1,
      resetsAt: new Date(0),
    }),
    liveKeys: async () => new Map(),
    recordKeyUse: async ({ id }) => void used.push(id),
  };
  return { lookups, keys, used };
}

/** A token for one of those keys. */
export function tokenFor(
  deps: ApiDeps,
  keyId: string,
  environment: Environment = 'production',
  accountId = 'account-1',
) {
  return deps.tokens.issue({ accountId, keyId, environment }, deps.clock());
}
