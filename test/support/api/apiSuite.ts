import { afterAll, beforeAll } from '@jest/globals';
import { addAuthorityCertificates } from '../../../src/commands/authority/addAuthorityCertificates.ts';
import { cloneDatabase, type TestDatabase } from '../database/database.ts';
import { AUTHORITY_RUT_VARIABLES, type Authority, anAuthority } from '../receipts/papers.ts';
import { startApi, type TestApi, type TestCaller } from './api.ts';

/** What the tests of one file share: a database and an API of their own, an owner, and a stranger. */
export interface ApiSuite {
  readonly db: TestDatabase;
  readonly api: TestApi;
  /** Registers and owns the enterprises of the tests. */
  readonly owner: TestCaller;
  /** Another account, without a role anywhere. */
  readonly stranger: TestCaller;
  /** Holds a sandbox key of the owner's account. */
  readonly sandbox: TestCaller;
  /** Signs CAEs that count. */
  readonly authority: Authority;
}

/** Starts the API on a database of its own before the tests of a file and ends both after them. */
export function useApi(
  options: Pick<
    Parameters<typeof startApi>[0],
    'keys' | 'clock' | 'lookUpRut' | 'draw' | 'trustedProxies'
  > = {},
): ApiSuite {
  const suite: Partial<{ -readonly [K in keyof ApiSuite]: ApiSuite[K] }> = {};
  beforeAll(async () => {
    const db = await cloneDatabase();
    const api = await startApi({ orm: db.orm, ...options });
    const authority = anAuthority();
    await addAuthorityCertificates(
      { ...api.deps, authorityRuts: AUTHORITY_RUT_VARIABLES },
      { pem: authority.certificatePem },
    );
    const owner = await api.aCaller();
    Object.assign(suite, {
      db,
      api,
      authority,
      owner,
      stranger: await api.aCaller(),
      sandbox: await api.aCaller({ accountId: owner.accountId, environment: 'sandbox' }),
    } satisfies ApiSuite);
  });
  afterAll(async () => {
    await suite.api?.[Symbol.asyncDispose]();
    await suite.db?.[Symbol.asyncDispose]();
  });
  // The tests run after beforeAll has filled it.
  return suite as ApiSuite;
}
