/** The authority's list of electronic issuers, as far as it was told. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { DirectoryFacts } from '../domain/directory.ts';
import { Certificate } from './entities/Certificate.ts';
import { DirectoryEntry } from './entities/DirectoryEntry.ts';

/** What is known of a RUC; null where nothing was told yet. */
export const findDirectoryEntry = (em: EntityManager, rut: string): Promise<DirectoryEntry | null> =>
  em.findOne(DirectoryEntry, { rut });

/**
 * Takes over what the list tells, in one statement: of a RUC that stands there twice the last counts. `askedAt`: when it
 * was asked about these alone; null where they came with others.
 */
export async function storeDirectoryEntries(
  em: EntityManager,
  facts: readonly DirectoryFacts[],
  { now, askedAt }: { now: Date; askedAt: Date | null },
): Promise<void> {
  const rows = [...new Map(facts.map((one) => [one.rut, one])).values()];
  await em.execute(
    `insert into directory_entry as mine (rut, name, mail, since, until, asked_at, changed_at)
     select rut, name, mail, since, until, ?::timestamptz, ?::timestamptz
     from jsonb_to_recordset(?::jsonb) as told (rut text, name text, mail text, since date, until date)
     on conflict (rut) do update set name = excluded.name, mail = excluded.mail, since = excluded.since,
       until = excluded.until, asked_at = coalesce(excluded.asked_at, mine.asked_at), changed_at = excluded.changed_at`,
    [askedAt, now, JSON.stringify(rows)],
  );
}

/** When the last load began that was stored to its end; null before the first. */
export async function lastDirectoryLoad(em: EntityManager): Promise<Date | null> {
  const [row] = await em.execute<{ begun: number }[]>(
    'select extract(epoch from begun_at)::float8 * 1000 as begun from directory_load',
  );
  return row ? new Date(row.begun) : null;
}

/** Records that a load was stored to its end. */
export async function recordDirectoryLoad(em: EntityManager, begunAt: Date, loadedAt: Date): Promise<void> {
  await em.execute(
    `insert into directory_load (begun_at, loaded_at) values (?, ?)
     on conflict (only_row) do update set begun_at = excluded.begun_at, loaded_at = excluded.loaded_at`,
    [begunAt, loadedAt],
  );
}

/** A certificate to ask for the list with: of the READY enterprises' the one that lasts longest; null without any. */
export async function certificateToAskWith(em: EntityManager, now: Date): Promise<Certificate | null> {
  const [row] = await em.execute<{ id: string }[]>(
    `select certificate.id from certificate join enterprise using (rut)
     where environment = 'production' and replaced_at is null and enterprise.status = 'READY' and not_after > ?
     order by not_after desc, certificate.id limit 1`,
    [now],
  );
  return row ? em.findOneOrFail(Certificate, { id: row.id }) : null;
}
