/** The embedded PostgreSQL: making its cluster, the command that runs it, and a throw-away one for tests. */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { POSTGRES_END } from './ending.ts';
import type { Guard } from './guard.ts';
import type { Command } from './launch.ts';
import { postgresAccepts } from './postgresProbe.ts';
import { type PostgresPlace, postgresPlace } from './postgresPrograms.ts';
import { commandLineOf, endProcess, markOf, waitUntil } from './processes.ts';
import type { Say } from './progress.ts';
import { StackError } from './stackError.ts';
import { runThrowAway, type ThrowAway } from './throwAway.ts';

const ROLE = 'cfe';
const DATABASE = 'cfe';

/** Beside PostgreSQL's defaults (fsync and full_page_writes are on): nothing listens but 127.0.0.1, times are UTC. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '200',
  shared_buffers: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // Statements hold customers' data, and a log is no place for it.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '%m [%p] ',
};

/** The address of the database `cfe` of an embedded cluster. */
export const embeddedDatabaseUrl = (port: number, password: string): string =>
  `postgres://${ROLE}:${password}@127.0.0.1:${port}/${DATABASE}`;

/** Whether a data folder holds a cluster. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres', 'PG_VERSION'));

/**
 * The place of the cluster, with the cluster in it: made, with the role and the database `cfe`, when there is none yet.
 * A making that was broken off leaves nothing that counts. Throws StackError with the last words of initdb.
 */
export async function preparePostgres(options: {
  dataDir: string;
  password: string;
  say: Say;
}): Promise<PostgresPlace> {
  const place = postgresPlace(options.dataDir, options.say);
  if (existsSync(join(place.data, 'PG_VERSION'))) return place;
  const written = `${place.data}.new`;
  const passwordFile = `${place.data}.password`;
  rmSync(written, { recursive: true, force: true });
  mkdirSync(written, { recursive: true, mode: 0o700 });
  const logFile = join(options.dataDir, 'logs', 'postgres.log');
  mkdirSync(dirname(logFile), { recursive: true });
  try {
    writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (place.user)
      for (const path of [written, passwordFile]) chownSync(path, place.user.uid, place.user.gid);
    await run(place, logFile, 'initdb', [
      `--pgdata=${written}`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Sorting and case folding that are the same on every machine, whatever its locales.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ]);
    await run(
      place,
      logFile,
      'postgres',
      ['--single', '-D', written, 'postgres'],
      `CREATE DATABASE ${DATABASE};\n`,
    );
    renameSync(written, place.data);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(written, { recursive: true, force: true });
  }
  return place;
}

async function run(
  place: PostgresPlace,
  logFile: string,
  program: string,
  args: readonly string[],
  input = '',
): Promise<void> {
  const child = spawn(join(place.programs, 'bin', program), args, {
    cwd: '/',
    env: plainEnvironment(),
    ...identity(place),
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    child.once('close', resolve);
  });
  appendFileSync(logFile, said, { mode: 0o600 });
  if (code !== 0) {
    throw new StackError(
      `PostgreSQL's ${program} failed (${code}): ${said.trim().split('\n').slice(-3).join(' ')} All of it is in ${logFile}.`,
    );
  }
}

const identity = ({ user }: PostgresPlace): { uid: number; gid: number } | undefined =>
  user && { uid: user.uid, gid: user.gid };

/** A fixed environment: PGDATA, PGPORT, LC_ALL and the like of the person's own must not reach in. */
const plainEnvironment = (): Record<string, string> => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' });

/** The command that runs the cluster. */
export function postgresCommand(place: PostgresPlace, port: number, logFile: string): Command {
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  return {
    program: join(place.programs, 'bin', 'postgres'),
    args: ['-D', place.data, ...settings],
    env: plainEnvironment(),
    cwd: '/',
    user: identity(place),
    logFile,
  };
}

/**
 * Makes the cluster ready for a start: a server left over from a killed run is ended, and a `postmaster.pid` that
 * speaks of a process that is no longer PostgreSQL is removed (its number may belong to somebody else by now).
 */
export async function clearLeftovers(place: PostgresPlace): Promise<void> {
  const file = join(place.data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const mark = Number.isInteger(pid) && pid > 1 ? markOf(pid) : undefined;
  if (mark && commandLineOf(pid).includes(place.data)) await endProcess(mark, POSTGRES_END);
  rmSync(file, { force: true });
  await backendsGone(place);
}

/** Backends of a killed server end by themselves within moments; a new server refuses to start before. */
async function backendsGone(place: PostgresPlace): Promise<void> {
  if (process.platform !== 'linux') return;
  const data = realpathSync(place.data);
  const inData = (pid: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === data;
    } catch {
      return false;
    }
  };
  await waitUntil(() => !readdirSync('/proc').some((name) => /^\d+$/.test(name) && inData(name)), 5_000, 100);
}

/** A PostgreSQL that runs. */
export interface RunningPostgres extends ThrowAway {
  /** Of the database `cfe`, as its superuser. */
  readonly databaseUrl: string;
}

/**
 * Starts the cluster of a data folder, made if need be, and waits until it accepts connections; for tests. `guard`
 * ends it should the caller die. Run as root, the data folder's parents must be open to others (`/tmp` is).
 * Throws StackError when it does not come up within 30 s.
 */
export async function startPostgres(options: {
  dataDir: string;
  port: number;
  password: string;
  say: Say;
  guard?: Guard;
}): Promise<RunningPostgres> {
  const { dataDir, port, password, guard } = options;
  const place = await preparePostgres(options);
  await clearLeftovers(place);
  const running = await runThrowAway(postgresCommand(place, port, join(dataDir, 'logs', 'postgres.log')), {
    name: 'PostgreSQL',
    plan: POSTGRES_END,
    answers: () => postgresAccepts('127.0.0.1', port),
    withinSeconds: 30,
    guard,
  });
  return { ...running, databaseUrl: embeddedDatabaseUrl(port, password) };
}
