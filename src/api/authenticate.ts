/** Who calls (docs/contract.md#keys-and-tokens). Failures look alike, whether a key is unknown or revoked. */
import type { IncomingHttpHeaders } from 'node:http';
import { parseApiKey } from '../crypto/apiKeys.ts';
import { findApiKey, type KnownApiKey, type LiveKey, listLiveApiKeys, recordKeyUse } from '../db/accounts.ts';
import { admitRequest, countFailedAuthentication, type RequestAdmission } from '../db/counts.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { Quota } from '../domain/requestLimits.ts';
import { Refusal, type RefusalCode } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { Caller, Route } from './route.ts';

/** What the checks before a handler ask of the database. */
export interface Lookups {
  /** The key with this public id, revoked or not. */
  apiKey(publicId: string): Promise<KnownApiKey | null>;
  /** Records that a key is in use. */
  keyUsed(key: KnownApiKey['key']): Promise<void>;
  /** Counts a request against the hourly limit of its account, and looks up the enterprise it is about, if any. */
  admit(
    caller: { accountId: string; environment: Environment },
    rut: string | null,
  ): Promise<RequestAdmission>;
  /** Counts a failed authentication of a network. */
  countFailedAuthentication(network: string): Promise<Quota>;
  /** All keys that are not revoked, by their public ids. */
  liveKeys(): Promise<ReadonlyMap<string, LiveKey>>;
}

/** The lookups on the real database; what is counted goes over connections of its own. */
export function databaseLookups({
  orm,
  counters,
  realClock,
}: Pick<ApiDeps, 'orm' | 'counters' | 'realClock'>): Lookups {
  return {
    apiKey: shareLookups((publicId: string) => findApiKey(orm.em.fork(), publicId)),
    keyUsed: (key) => recordKeyUse(orm.em.fork(), key, realClock()),
    admit: (caller, rut) => admitRequest(counters.em.fork(), caller, rut, realClock()),
    countFailedAuthentication: (network) =>
      countFailedAuthentication(counters.em.fork(), network, realClock()),
    liveKeys: () => listLiveApiKeys(counters.em.fork()),
  };
}

/**
 * Lets callers that ask for the same key while it is being looked up share the next lookup. Every caller gets a lookup that
 * began after the call, so a revoked key is never taken for a live one.
 */
export function shareLookups<T>(lookUp: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, { current: Promise<T>; next: Promise<T> | null }>();

  function begin(key: string): Promise<T> {
    const current = lookUp(key);
    const entry = { current, next: null };
    underWay.set(key, entry);
    const end = (): void => {
      if (underWay.get(key) === entry) underWay.delete(key);
    };
    current.then(end, end);
    return current;
  }

  return (key) => {
    const entry = underWay.get(key);
    if (!entry) return begin(key);
    const again = (): Promise<T> => begin(key);
    entry.next ??= entry.current.then(again, again);
    return entry.next;
  };
}

/**
 * The caller whom the headers authenticate: by X-API-Key alone where the route asks for the key (else INVALID_API_KEY), by
 * key and a token that was obtained with it otherwise (else UNAUTHORIZED).
 */
export async function authenticate(
  route: Pick<Route, 'auth'>,
  headers: IncomingHttpHeaders,
  { deps, lookups }: { deps: ApiDeps; lookups: Lookups },
): Promise<Caller> {
  const refusal = route.auth === 'key' ? 'INVALID_API_KEY' : 'UNAUTHORIZED';
  const known = await provenKey(headers['x-api-key'], refusal, { deps, lookups });
  const { id: keyId, accountId, environment } = known.key;
  if (route.auth === 'token') {
    const claims = await deps.tokens.verify(requireToken(headers.authorization), deps.realClock());
    const isOurs =
      claims?.keyId === keyId && claims.accountId === accountId && claims.environment === environment;
    if (!isOurs)
      throw new Refusal(
        'UNAUTHORIZED',
        'The access token is invalid or expired, or belongs to another API key.',
      );
  }
  await lookups.keyUsed(known.key);
  return { accountId, keyId, environment, isDeveloper: known.isDeveloper };
}

async function provenKey(
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
  return token;
}

/** The access token in a header Authorization; null without one. */
export function bearerToken(header: string | undefined): string | null {
  return /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header ?? '')?.[1] ?? null;
}
