import { X509Certificate } from 'node:crypto';
import { createApp } from '../../../src/api/app.ts';
import type { Lookups } from '../../../src/api/authenticate.ts';
import { createAuthorityWatch } from '../../../src/api/authorityWatch.ts';
import type { ApiDeps } from '../../../src/api/deps.ts';
import { createVerdictWatch } from '../../../src/api/receipts/verdictWatch.ts';
import type { Route } from '../../../src/api/route.ts';
import { createAccount } from '../../../src/commands/people/accounts.ts';
import { createApiKey } from '../../../src/commands/people/apiKeys.ts';
import { type ApiKeys, createApiKeys } from '../../../src/crypto/apiKeys.ts';
import type { Peppers } from '../../../src/crypto/peppers.ts';
import { createRequestHash, type RequestHash } from '../../../src/crypto/requestHash.ts';
import type { Sealer } from '../../../src/crypto/sealed.ts';
import { createTokens, type Tokens } from '../../../src/crypto/tokens.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { Caps } from '../../../src/domain/people/caps.ts';
import type { KeyScope } from '../../../src/domain/people/keyScope.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { closeServer, createHttpServer, listen } from '../../../src/http/server.ts';
import { createLogger, type Logger } from '../../../src/logger.ts';
import { createReceiptPdfs } from '../../../src/print/receiptPdfs.ts';
import { idleIssuing } from '../commandDeps.ts';
import { ormAs } from '../database/database.ts';
import { aPepper } from '../database/pepper.ts';
import { aKeyPair } from '../database/sealing.ts';
import { inspect } from '../openapi/conformance.ts';
import { papersCa } from '../receipts/papers.ts';
import { createHttpClient, type HttpClient } from './http.ts';
import { aTokenKey } from './tokenKey.ts';

/** Keys of a service as it is configured: sealer, tokens, API keys, hashes of requests. */
export interface ServiceKeys {
  sealer: Sealer;
  tokens: Tokens;
  apiKeys: ApiKeys;
  requestHash: RequestHash;
}

/** Fresh keys, and these peppers; give those of one API to another to make the two one service. */
export async function serviceKeys(peppers: Peppers = [aPepper()]): Promise<ServiceKeys> {
  return {
    sealer: aKeyPair().sealer,
    tokens: await createTokens([aTokenKey('test')]),
    apiKeys: createApiKeys(peppers),
    requestHash: createRequestHash(peppers),
  };
}

/** A logger that keeps its lines, parsed. */
export function keptLog(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  return { logger: createLogger({ name: 'test', level: 'debug', destination }), lines };
}

/** An account with a key and what it takes to call as it. */
export interface TestCaller {
  accountId: string;
  keyId: string;
  apiKey: string;
  token: string;
  /** Sends key and token, and X-Sandbox-Mode for a sandbox key. */
  client: HttpClient;
}

export interface TestApi {
  /** With /v1. */
  baseUrl: string;
  deps: ApiDeps;
  /** What was logged. */
  lines: Record<string, unknown>[];
  /** Without credentials. */
  client: HttpClient;
  /** A new account (is_developer unless told), or the one given, with a new key and a token. */
  aCaller(wishes?: {
    accountId?: string;
    environment?: Environment;
    isDeveloper?: boolean;
    scope?: KeyScope;
  }): Promise<TestCaller>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The API in this process on a port of its own, in its database role. `deps` are for tests that do what others do, and
 * use `orm` as it is. Without `routes` it serves the real ones, on the real lookups.
 */
export async function startApi(options: {
  orm: Orm;
  /** What the API itself uses; by default one on the same database in its role. */
  own?: Orm;
  keys?: ServiceKeys;
  clock?: () => Date;
  /** By which tokens run; `clock` unless told. */
  realClock?: () => Date;
  outbox?: ApiDeps['outbox'];
  routes?: readonly Route[];
  lookups?: Lookups;
  ready?: () => Promise<boolean>;
  /** What the registry tells of a RUT; it knows none unless told. */
  lookUpRut?: ApiDeps['lookUpRut'];
  testKit?: ApiDeps['testKit'];
  corsOrigins?: readonly string[];
  trustedProxies?: number;
  caps?: Caps;
  /** Draws printed forms; a stand-in that draws nothing unless told. */
  draw?: Parameters<typeof createReceiptPdfs>[0]['draw'];
  /** What requests are counted on; `orm` unless told. */
  counters?: Orm;
}): Promise<TestApi> {
  const { clock = () => new Date(), outbox = idleIssuing.outbox } = options;
  const { orm, close } = options.own
    ? { orm: options.own, close: async () => undefined }
    : await ormAs(options.orm, 'api');
  const { logger, lines } = keptLog();
  const { sealer, tokens, apiKeys, requestHash } = options.keys ?? (await serviceKeys());
  const verdicts = createVerdictWatch({ orm, logger });
  const deps: ApiDeps = {
    orm,
    counters: options.counters ?? orm,
    ...(options.caps ? { caps: options.caps } : {}),
    verdicts,
    clock,
    realClock: options.realClock ?? clock,
    outbox,
    logger,
    publicUrl: 'https://cfe.example',
    authority: createAuthorityWatch({ orm }),
    receiptPdfs: createReceiptPdfs({ draw: options.draw ?? (async () => Buffer.from('%PDF-')) }),
    checkoutUrl: 'https://checkout.example/pay',
    pace: idleIssuing.pace,
    lookUpRut: options.lookUpRut ?? (async () => null),
    testKit: options.testKit ?? null,
    certificateAuthorities: [new X509Certificate(papersCa().certificatePem)],
    sealer,
    tokens,
    apiKeys,
    requestHash,
  };
  const forTests = { ...deps, orm: options.orm };
  const app = createApp({
    deps,
    ready: options.ready ?? (() => Promise.resolve(true)),
    ...(options.routes ? { routes: options.routes } : {}),
    ...(options.lookups ? { lookups: options.lookups } : {}),
    ...(options.corsOrigins ? { corsOrigins: options.corsOrigins } : {}),
    ...(options.trustedProxies ? { trustedProxies: options.trustedProxies } : {}),
  });
  const handle = app.callback();
  const server = createHttpServer((request, response) => void handle(request, response));
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  // Routes of a test's own have no description.
  const client = createHttpClient(baseUrl, {}, options.routes ? undefined : inspect);

  return {
    baseUrl,
    deps: forTests,
    lines,
    client,
    async aCaller({ accountId, environment = 'production', isDeveloper = true, scope } = {}) {
      const owner =
        accountId ??
        (await createAccount(forTests, { name: 'Cuenta', email: 'a@example.com', isDeveloper })).id;
      const { key, text } = await createApiKey(forTests, { accountId: owner, environment, scope });
      const token = await deps.tokens.issue({ accountId: owner, keyId: key.id, environment }, clock());
      const headers = {
        'x-api-key': text,
        authorization: `Bearer ${token}`,
        ...(environment === 'sandbox' ? { 'x-sandbox-mode': 'true' } : {}),
      };
      return { accountId: owner, keyId: key.id, apiKey: text, token, client: client.with(headers) };
    },
    async [Symbol.asyncDispose]() {
      verdicts.close();
      await closeServer(server, 1_000);
      await close();
    },
  };
}
