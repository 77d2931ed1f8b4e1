/** The Temporal dev server of the local stack: the command that runs it, and a throw-away one for tests. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureSearchAttributes } from '../searchAttributes.ts';
import { ORDINARY_END } from './ending.ts';
import type { Guard } from './guard.ts';
import type { Command } from './launch.ts';
import { tcpAccepts } from './probes.ts';
import { runThrowAway, type ThrowAway } from './throwAway.ts';

export interface TemporalOptions {
  /** The program, see `obtainTemporal`. */
  readonly path: string;
  /** The server's database lies in `temporal/`, its log in `logs/temporal.log`. */
  readonly dataDir: string;
  readonly port: number;
  /** Port of the UI; none is served when left out. */
  readonly uiPort?: number | undefined;
  readonly namespace: string;
}

/** Known to be faster on one machine (guides/temporal.md §11.1): one partition per task queue, eager activities. */
const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'system.enableActivityEagerExecution': 'true',
};

/** WAL and NORMAL make the server 2.5 × faster and still survive a killed process (decisions.md §10). */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];

/** The command that runs the server. Its HOME keeps a person's own Temporal settings out. */
export function temporalCommand(options: TemporalOptions): Command {
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
    program: options.path,
    args: ['server', 'start-dev', ...flags],
    env: { PATH: '/usr/bin:/bin', HOME: join(options.dataDir, 'temporal'), TZ: 'UTC' },
    cwd: '/',
    logFile: join(options.dataDir, 'logs', 'temporal.log'),
  };
}

/** A Temporal server that runs. */
export interface RunningTemporal extends ThrowAway {
  /** host:port */
  readonly address: string;
}

/**
 * Starts a server, waits until it answers and makes sure of the search attributes; for tests. `guard` ends it should
 * the caller die. Throws StackError when it does not come up within 60 s.
 */
export async function startTemporal(options: TemporalOptions & { guard?: Guard }): Promise<RunningTemporal> {
  const address = `127.0.0.1:${options.port}`;
  const running = await runThrowAway(temporalCommand(options), {
    name: 'The Temporal server',
    plan: ORDINARY_END,
    answers: () => temporalServes(address, options.namespace),
    withinSeconds: 60,
    guard: options.guard,
  });
  return { ...running, address };
}

/** Whether the server answers and has the search attributes (added if need be). Never rejects. */
export async function temporalServes(address: string, namespace: string): Promise<boolean> {
  const [host = '127.0.0.1', port] = address.split(':');
  // A refused connection is told at once; the library's own way of finding out is slow and loud.
  if (!(await tcpAccepts(host, Number(port)))) return false;
  return ensureSearchAttributes(address, namespace).then(
    () => true,
    () => false,
  );
}
