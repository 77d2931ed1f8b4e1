/** The embedded PostgreSQL: making its cluster, and how it runs. */
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
import { POSTGRES_END } from '../processes/ending.ts';
import type { Server } from '../processes/part.ts';
import { postgresAccepts } from '../processes/probes.ts';
import { commandLineOf, endProcess, markOf, waitUntil } from '../processes/processes.ts';
import type { Say } from '../processes/progress.ts';
import { StackError } from '../stackError.ts';
import { type PostgresPlace, postgresPlace } from './postgresPrograms.ts';

const ROLE = 'cfe';
const DATABASE = 'cfe';

/** What differs from PostgreSQL's defaults, and what must not: it listens on 127.0.0.1 only, times are UTC. */
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

/** The address of the database `cfe` of an embedded cluster, as its superuser unless another role is named. */
export const embeddedDatabaseUrl = (port: number, password: string, role = ROLE): string =>
  `postgres://${role}:${password}@127.0.0.1:${port}/${DATABASE}`;

const logFileOf = (dataDir: string): string => join(dataDir, 'logs', 'postgres.log');

/** Whether a data folder holds a cluster. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres', 'PG_VERSION'));

/**
 * The place of the cluster; the cluster, with role and database `cfe`, is made when there is none. One that was
 * interrupted in the making does not count. Throws StackError with the last lines of initdb.
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
  const logFile = logFileOf(options.dataDir);
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
      // The same sorting and case folding on every machine, whatever its locales.
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
    env: plainVariables(),
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
      `PostgreSQL's ${program} failed (${code}): ${said.trim().split('\n').slice(-3).join(' ')} Full log: ${logFile}`,
    );
  }
}

const identity = ({ user }: PostgresPlace): { uid: number; gid: number } | undefined =>
  user && { uid: user.uid, gid: user.gid };

/** Fixed variables: PGDATA, PGPORT, LC_ALL and the like set by a person must not reach in. */
const plainVariables = (): Record<string, string> => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' });

/** The embedded PostgreSQL of a data folder, its cluster made if need be. Throws StackError. */
export async function embeddedPostgres(options: {
  dataDir: string;
  port: number;
  password: string;
  say: Say;
}): Promise<Server> {
  const { dataDir, port } = options;
  const place = await preparePostgres(options);
  const settings = Object.entries({ ...SETTINGS, port: String(port) });
  return {
    command: {
      program: join(place.programs, 'bin', 'postgres'),
      args: ['-D', place.data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      env: plainVariables(),
      cwd: '/',
      user: identity(place),
      logFile: logFileOf(dataDir),
    },
    plan: POSTGRES_END,
    answers: () => postgresAccepts('127.0.0.1', port),
    beforeStart: () => clearLeftovers(place),
  };
}

/**
 * Makes the cluster ready for a start: ends a server left over from a killed run, and removes a `postmaster.pid` whose
 * process is no longer PostgreSQL (its number may belong to another by now).
 */
async function clearLeftovers(place: PostgresPlace): Promise<void> {
  const file = join(place.data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const mark = Number.isInteger(pid) && pid > 1 ? markOf(pid) : undefined;
  if (mark && commandLineOf(pid).includes(place.data)) await endProcess(mark, POSTGRES_END);
  rmSync(file, { force: true });
  await backendsGone(place);
}

/** Backends of a killed server soon end by themselves; until then a new server refuses to start. */
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
