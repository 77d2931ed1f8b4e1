/** Authentication (docs/contract.md#keys-and-tokens). Unknown and revoked keys get the same answer. */
import type { IncomingHttpHeaders } from 'node:http';
import { parseApiKey } from '../crypto/apiKeys.ts';
import {
  findApiKey,
  type KnownApiKey,
  type LiveKey,
  listLiveApiKeys,
  recordKeyUse,
} from '../db/people/accounts.ts';
import { admitRequest, countFailedAuthentication, type RequestAdmission } from '../db/people/counts.ts';
import type { RateLimitUsage } from '../domain/people/rateLimits.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { Refusal, type RefusalCode } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { ApiCaller, Route } from './route.ts';

/** Database queries of the checks before a handler. */
export interface Lookups {
  /** Returns the key with this public id, revoked or not. */
  apiKey(publicId: string): Promise<KnownApiKey | null>;
  recordKeyUse(key: KnownApiKey['key']): Promise<void>;
  /** Counts a request against its account's rate limit and finds its enterprise, if any. */
  admit(
    caller: { accountId: string; environment: Environment },
    rut: string | null,
  ): Promise<RequestAdmission>;
  /** Counts a failed authentication from a network. */
  countFailedAuthentication(network: string): Promise<RateLimitUsage>;
  /** Returns all keys that are not revoked, by their public ids. */
  liveKeys(): Promise<ReadonlyMap<string, LiveKey>>;
}

/** Returns the lookups on the real database. Counting uses separate connections. */
export function databaseLookups({
  orm,
  counters,
  realClock,
}: Pick<ApiDeps, 'orm' | 'counters' | 'realClock'>): Lookups {
  return {
    apiKey: shareLookups((publicId: string) => findApiKey(orm.em.fork(), publicId)),
    recordKeyUse: (key) => recordKeyUse(orm.em.fork(), key, realClock()),
    admit: (caller, rut) => admitRequest(counters.em.fork(), caller, rut, realClock()),
    countFailedAuthentication: (network) =>
      countFailedAuthentication(counters.em.fork(), network, realClock()),
    liveKeys: () => listLiveApiKeys(counters.em.fork()),
  };
}

/**
 * Lets requests with the same key share lookups. A request gets a lookup that started after its arrival, so a revoked key
 * is never accepted. @internal exported for tests
 */
export function shareLookups<T>(lookUp: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const running = new Map<string, { current: Promise<T>; next: Promise<T> | null }>();

  function start(key: string): Promise<T> {
    const current = lookUp(key);
    const entry = { current, next: null };
    running.set(key, entry);
    const end = (): void => {
      if (running.get(key) === entry) running.delete(key);
    };
    current.then(end, end);
    return current;
  }

  return (key) => {
    const entry = running.get(key);
    if (!entry) return start(key);
    const startNext = (): Promise<T> => start(key);
    entry.next ??= entry.current.then(startNext, startNext);
    return entry.next;
  };
}

/**
 * Authenticates the headers: on routes with `key` X-API-Key alone (throws INVALID_API_KEY), on others the key and a token
 * that was obtained with the key (throws UNAUTHORIZED).
 */
export async function authenticate(
  route: Pick<Route, 'auth' | 'method' | 'storesNothing'>,
  headers: IncomingHttpHeaders,
  { deps, lookups }: { deps: ApiDeps; lookups: Lookups },
): Promise<ApiCaller> {
  const refusal = route.auth === 'key' ? 'INVALID_API_KEY' : 'UNAUTHORIZED';
  const known = await requireValidKey(headers['x-api-key'], refusal, { deps, lookups });
  const { id: keyId, accountId, environment } = known.key;
  if (route.auth === 'token') {
    const claims = await deps.tokens.verify(requireToken(headers.authorization), deps.realClock());
    const isOfThisKey =
      claims?.keyId === keyId && claims.accountId === accountId && claims.environment === environment;
    if (!isOfThisKey)
      throw new Refusal(
        'UNAUTHORIZED',
        'The access token is invalid or expired, or belongs to another API key.',
      );
  }
  if (known.key.scope === 'read' && isWrite(route))
    throw new Refusal('FORBIDDEN', 'This API key is read-only.');
  await lookups.recordKeyUse(known.key);
  return { accountId, keyId, environment, isDeveloper: known.isDeveloper };
}

/** True for routes that a read-only key must not call. */
const isWrite = ({
  auth,
  method,
  storesNothing,
}: Pick<Route, 'auth' | 'method' | 'storesNothing'>): boolean =>
  auth === 'token' && method !== 'GET' && !storesNothing;

async function requireValidKey(
  header: string | string[] | undefined,
  refusal: RefusalCode,
  { deps, lookups }: { deps: ApiDeps; lookups: Lookups },
) {
  if (typeof header !== 'string' || header === '')
    throw new Refusal(refusal, 'The header X-API-Key is missing.');
  const parts = parseApiKey(header);
  const known = parts && (await lookups.apiKey(parts.publicId));
  const isKey = deps.apiKeys.matches(header, known?.key.hash ?? null);
  if (!known || !isKey || known.key.revokedAt) throw new Refusal(refusal, 'The API key is invalid.');
  return known;
}

function requireToken(header: string | undefined): string {
  if (!header)
    throw new Refusal(
      'UNAUTHORIZED',
      'The header Authorization is missing; send Bearer followed by an access token.',
    );
  const token = bearerToken(header);
  if (token === null)
    throw new Refusal('UNAUTHORIZED', 'The header Authorization must be Bearer followed by an access token.');
  if (parseApiKey(token))
    throw new Refusal(
      'UNAUTHORIZED',
      'The header Authorization has an API key: get an access token with it from POST /tokens.',
    );
  return token;
}

/** Returns the access token of an Authorization header; null without one. */
export function bearerToken(header: string | undefined): string | null {
  return /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header ?? '')?.[1] ?? null;
}
