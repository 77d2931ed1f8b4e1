import { listChangedIssuers, recordListedIssuer } from '../../db/enterprises/listedIssuers.ts';
import {
  findDirectoryCertificate,
  readLastDirectoryLoad,
  recordDirectoryLoad,
  storeDirectoryEntries,
} from '../../db/mail/exchange.ts';
import type { Orm } from '../../db/orm.ts';
import type { DirectoryRecord } from '../../domain/mail/directory.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import { askDirectory, BEFORE_FIRST_ISSUER, type DirectoryDeps } from './askDirectory.ts';

const BATCH = 1_000;
/** Changes of the last 3 days are read again, in case the authority enters them late or its clock differs. */
const OVERLAP_MILLISECONDS = 3 * 86_400_000;

/**
 * Loads the list of electronic issuers: all of it the first time, then the changes since the last load, with
 * an overlap. A repeat starts from scratch; a load counts once all entries are stored. Then every enterprise follows the
 * list in `is_authorized_issuer`, with its event.
 */
export function createLoadDirectory(deps: DirectoryDeps): Activity<'loadDirectory'> {
  return () => withHeartbeat(() => load(deps));
}

async function load(deps: DirectoryDeps) {
  const { orm, clock } = deps;
  const startedAt = clock();
  const em = orm.em.fork();
  const certificate = await findDirectoryCertificate(em, startedAt);
  if (!certificate) return { kind: 'nobodyToAsk' } as const;
  const last = await readLastDirectoryLoad(em);
  const since = last ? new Date(last.getTime() - OVERLAP_MILLISECONDS) : BEFORE_FIRST_ISSUER;
  const entries = await store(orm, await askDirectory(deps, certificate, { since }), startedAt);
  await recordDirectoryLoad(orm.em.fork(), startedAt, clock());
  await followList(orm, clock());
  return { kind: 'loaded', entries } as const;
}

async function followList(orm: Orm, now: Date): Promise<void> {
  const today = montevideoDate(now);
  let after = '';
  for (;;) {
    const ruts = await listChangedIssuers(orm.em.fork(), { today, after, limit: BATCH });
    for (const rut of ruts)
      await orm.em.fork().transactional((em) => recordListedIssuer(em, rut, { today, now }));
    const last = ruts.at(-1);
    if (last === undefined || ruts.length < BATCH) return;
    after = last;
  }
}

async function store(orm: Orm, issuers: Iterable<DirectoryRecord>, now: Date): Promise<number> {
  let entries = 0;
  let batch: DirectoryRecord[] = [];
  const flush = async (): Promise<void> => {
    await storeDirectoryEntries(orm.em.fork(), batch, { now, askedAt: null });
    entries += batch.length;
    batch = [];
  };
  for (const issuer of issuers) {
    batch.push(issuer);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return entries;
}
