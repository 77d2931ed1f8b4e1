import type { KeyObject } from 'node:crypto';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { Orm } from '../../db/orm.ts';
import type { DgiClient } from '../../dgi/client.ts';
import { type DirectoryRecord, parseDirectoryEntry } from '../../domain/mail/directory.ts';
import { authorityRefuses, authorityUnreachable } from '../authority/attempt.ts';
import { openCredentials } from '../authority/openCredentials.ts';

/** A date before the first electronic issuer. */
export const BEFORE_FIRST_ISSUER = new Date('2010-01-01T00:00:00Z');

/** Dependencies of queries to the list of electronic issuers. */
export interface DirectoryDeps {
  orm: Orm;
  clock: () => Date;
  client: Pick<DgiClient, 'listIssuers'>;
  privateKeyOf: (certificate: Certificate) => KeyObject;
}

/**
 * Returns the electronic issuers that are new or changed since `since`, all or only `rut`. Throws a failure that is retried
 * for any other answer: no CFE depends on the list, so that it never needs support.
 */
export async function askDirectory(
  { client, privateKeyOf }: DirectoryDeps,
  certificate: Certificate,
  query: { since: Date; rut?: string },
): Promise<Iterable<DirectoryRecord>> {
  const credentials = openCredentials(privateKeyOf, certificate);
  const answer = await client.listIssuers(credentials, 'production', query);
  if (answer.kind !== 'listed') {
    throw answer.kind === 'stuck'
      ? authorityRefuses(answer.reason)
      : authorityUnreachable(answer.description);
  }
  return parseIssuers(answer.issuers);
}

function* parseIssuers(
  issuers: Iterable<Parameters<typeof parseDirectoryEntry>[0]>,
): Generator<DirectoryRecord> {
  for (const issuer of issuers) {
    const facts = parseDirectoryEntry(issuer);
    if (facts) yield facts;
  }
}
