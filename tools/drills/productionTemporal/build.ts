/** The Temporal server as production runs it, built from the Go module proxy. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../../../local/stack/checkout.ts';
import { needDiskSpace } from '../../../local/stack/postgres/diskSpace.ts';
import { StackError } from '../../../local/stack/stackError.ts';
import { cachedTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';

const MODULE = join(CHECKOUT, 'tools', 'temporal-server');
const SERVER = 'go.temporal.io/server';
const PROGRAMS = [`${SERVER}/cmd/server`, `${SERVER}/cmd/tools/sql`];
const BYTES_WHILE_BUILDING = 4e9;
const ENVIRONMENT = { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' };

/** The programs of the server, and where its module lies: configuration template, schema. */
export interface ServerBuild {
  readonly version: string;
  readonly server: string;
  readonly sqlTool: string;
  readonly module: string;
}

/** Builds the server that tools/temporal-server/go.mod names, once; it is kept beside the local stack's Temporal. */
export function buildServer(say: (line: string) => void): ServerBuild {
  const [, version = ''] =
    /go\.temporal\.io\/server v([\d.]+)/.exec(readFileSync(join(MODULE, 'go.mod'), 'utf8')) ?? [];
  const folder = join(dirname(cachedTemporal(process.env)), `temporal-server-${version}`);
  if (!existsSync(folder)) {
    needDiskSpace(folder, BYTES_WHILE_BUILDING, 'Building the Temporal server');
    say(`Building the Temporal server ${version} with Go, once (some 5 minutes on 2 cores) …`);
    const written = `${folder}.${process.pid}.part`;
    mkdirSync(written, { recursive: true });
    try {
      go('build', '-p', '2', '-trimpath', '-ldflags', '-s -w', '-o', `${written}/`, ...PROGRAMS);
      renameSync(written, folder);
    } finally {
      rmSync(written, { recursive: true, force: true });
    }
  }
  const [server, sqlTool] = [join(folder, 'server'), join(folder, 'sql')];
  const said = execFileSync(server, ['--version'], { encoding: 'utf8' });
  if (!said.includes(version)) throw new StackError(`${server} calls itself ${said.trim()}, not ${version}.`);
  return { version, server, sqlTool, module: go('list', '-m', '-f', '{{.Dir}}', SERVER).trim() };
}

function go(...args: string[]): string {
  try {
    return execFileSync('go', args, {
      cwd: MODULE,
      env: ENVIRONMENT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new StackError('Go 1.26.4 or later is needed on the PATH to build the Temporal server.');
  }
}
