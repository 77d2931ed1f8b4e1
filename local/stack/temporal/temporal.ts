/** The Temporal dev server of the local stack: how it runs. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureSearchAttributes } from '../../../src/searchAttributes.ts';
import type { TemporalServer } from '../../../src/temporal.ts';
import { ORDINARY_END } from '../processes/ending.ts';
import type { Server } from '../processes/part.ts';
import { tcpAccepts } from '../processes/probes.ts';

export interface TemporalOptions {
  /** The program, see `obtainTemporal`. */
  readonly path: string;
  /** The server's database is in `temporal/`, its log in `logs/temporal.log`. */
  readonly dataDir: string;
  readonly port: number;
  /** Port of the UI; none is served when left out. */
  readonly uiPort?: number | undefined;
  readonly namespace: string;
}

/**
 * As in docker-compose.temporal.yml, which says why.
 * @internal exported for tests
 */
export const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'matching.enableFairness': 'true',
  'system.enableActivityEagerExecution': 'true',
};

/** WAL and NORMAL make the server 2.5 × faster and still survive a killed process. */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];

/** The dev server. Its HOME keeps a person's own Temporal settings out. */
export function temporalServer(options: TemporalOptions): Server {
  const database = join(options.dataDir, 'temporal', 'temporal.db');
  mkdirSync(dirname(database), { recursive: true, mode: 0o700 });
  const ui =
    options.uiPort === undefined
      ? ['--headless']
      : ['--ui-port', String(options.uiPort), '--ui-disable-news-fetch'];
  const flags = [
    '--db-filename',
    database,
    '--ip',
    '127.0.0.1',
    '--port',
    String(options.port),
    ...ui,
    ...(options.namespace === 'default' ? [] : ['--namespace', options.namespace]),
    ...PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${value}`,
    ]),
    '--log-level',
    'warn',
    '--log-format',
    'json',
    '--disable-config-file',
    '--disable-config-env',
  ];
  return {
    command: {
      program: options.path,
      args: ['server', 'start-dev', ...flags],
      env: { PATH: '/usr/bin:/bin', HOME: join(options.dataDir, 'temporal'), TZ: 'UTC' },
      cwd: '/',
      logFile: join(options.dataDir, 'logs', 'temporal.log'),
    },
    plan: ORDINARY_END,
    answers: () => temporalServes({ address: `127.0.0.1:${options.port}` }, options.namespace),
  };
}

/** Whether the server answers and has the search attributes (added if need be). Never rejects. */
export async function temporalServes(server: TemporalServer, namespace: string): Promise<boolean> {
  const [host = '127.0.0.1', port] = server.address.split(':');
  // Finds a refused connection at once; the SDK is slow to, and loud.
  if (!(await tcpAccepts(host, Number(port)))) return false;
  return ensureSearchAttributes(server, namespace).then(
    (missing) => missing.length === 0,
    () => false,
  );
}
