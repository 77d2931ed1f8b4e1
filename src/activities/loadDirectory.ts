import {
  certificateToAskWith,
  lastDirectoryLoad,
  recordDirectoryLoad,
  storeDirectoryEntries,
} from '../db/exchange.ts';
import type { Orm } from '../db/orm.ts';
import type { DirectoryFacts } from '../domain/directory.ts';
import type { Activity } from './activities.ts';
import { askDirectory, type DirectoryDeps } from './steps/askDirectory.ts';
import { withHeartbeat } from './steps/attempt.ts';

/** Rows stored in one statement. */
const BATCH = 1_000;
/** Before the first electronic issuer there was. */
const EVER = new Date('2010-01-01T00:00:00Z');
/** Changes are asked for again for so long: what the authority enters late, or dates by another clock, is not missed. */
const OVERLAP_MILLISECONDS = 3 * 86_400_000;

/**
 * Loads the list of electronic issuers: whole the first time, then what changed since the load before, with an overlap.
 * Broken off, it begins anew; a load counts once all of it is stored.
 */
export function createLoadDirectory(deps: DirectoryDeps): Activity<'loadDirectory'> {
  return () => withHeartbeat(() => load(deps));
}

async function load(deps: DirectoryDeps) {
  const { orm, clock } = deps;
  const begunAt = clock();
  const em = orm.em.fork();
  const certificate = await certificateToAskWith(em, begunAt);
  if (!certificate) return { kind: 'nobodyToAsk' } as const;
  const last = await lastDirectoryLoad(em);
  const since = last ? new Date(last.getTime() - OVERLAP_MILLISECONDS) : EVER;
  const entries = await store(orm, await askDirectory(deps, certificate, { since }), begunAt);
  await recordDirectoryLoad(orm.em.fork(), begunAt, clock());
  return { kind: 'loaded', entries } as const;
}

async function store(orm: Orm, issuers: Iterable<DirectoryFacts>, now: Date): Promise<number> {
  let entries = 0;
  let batch: DirectoryFacts[] = [];
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
