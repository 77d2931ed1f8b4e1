/** Base backup by file copy, to which docs/backup.md sends operators, and the restore from it and the archived WAL. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresPlace } from '../../../local/stack/postgres/postgresPrograms.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { until } from '../../../test/support/until.ts';

/** Folders whose content belongs to the running server alone: a copy starts with them empty. */
const LEFT_EMPTY = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_subtrans',
];
const LEFT_OUT = /^(postmaster\.(pid|opts)|pgsql_tmp.*)$/;

/** Has the cluster, which does not run yet, copy every finished WAL segment into a folder. */
export function archiveWal(place: PostgresPlace, archive: string): void {
  mkdirSync(archive, { recursive: true });
  own(place, archive);
  // Copied under another name first: a segment that is there is whole.
  const command = `test ! -f "${archive}/%f" && cp "%p" "${archive}/%f.part" && mv "${archive}/%f.part" "${archive}/%f"`;
  appendFileSync(
    join(place.data, 'postgresql.conf'),
    `\narchive_mode = on\narchive_command = '${command}'\n`,
  );
}

/**
 * Copies the files of a running cluster into a new folder. What changes while it is copied is mended by the WAL from
 * the backup's start to its end, which must be in the archive for the copy to be of use.
 */
export async function takeBaseBackup(databaseUrl: string, place: PostgresPlace, to: string): Promise<void> {
  const orm = await openOrm({ databaseUrl, pool: 1 });
  try {
    // Start and stop must come over one connection: the transaction holds it.
    const label = await orm.em.fork().transactional(async (em) => {
      await em.execute(`select pg_backup_start('drill', fast => true)`);
      copyFolder(place.data, to);
      const [stopped] = await em.execute<{ labelfile: string }[]>(
        'select labelfile from pg_backup_stop(wait_for_archive => true)',
      );
      return stopped?.labelfile ?? '';
    });
    writeFileSync(join(to, 'backup_label'), label);
  } finally {
    await orm.close(true);
  }
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.test(entry.name)) continue;
    if (LEFT_EMPTY.includes(entry.name)) mkdirSync(target, { mode: 0o700 });
    else if (entry.isDirectory()) copyFolder(source, target);
    else copyFile(source, target);
  }
}

function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    // A file that was dropped while we came to it is dropped again by the WAL.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Finishes the WAL segment under way and waits until it lies in the archive: what was committed before is safe now. */
export async function archiveUpToNow(orm: Orm): Promise<void> {
  const em = orm.em.fork();
  const [switched] = await em.execute<{ segment: string }[]>(
    'select pg_walfile_name(pg_switch_wal()) as segment',
  );
  await until('the archived segment', 30, async () => {
    const [row] = await em.execute<{ done: boolean }[]>(
      'select last_archived_wal >= ? as done from pg_stat_archiver',
      [switched?.segment ?? ''],
    );
    return row?.done;
  });
}

/** Puts the copy in the place of the lost cluster and has it read on from the archive, to its end, when it starts. */
export function restoreBaseBackup(place: PostgresPlace, from: string, archive: string): void {
  rmSync(place.data, { recursive: true, force: true });
  copyFolder(from, place.data);
  const settings = `restore_command = 'cp "${archive}/%f" "%p"'\nrecovery_target_timeline = 'latest'\n`;
  appendFileSync(join(place.data, 'postgresql.conf'), settings);
  writeFileSync(join(place.data, 'recovery.signal'), '');
  own(place, place.data);
}

/** PostgreSQL runs as a user of its own where we are root. */
function own({ user }: PostgresPlace, path: string): void {
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, path]);
}
