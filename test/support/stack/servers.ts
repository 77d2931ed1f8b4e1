/** One server for as long as a test needs it: no restarts, no record of the run. */

import { embeddedDatabaseUrl, embeddedPostgres } from '../../../local/stack/postgres/postgres.ts';
import { launch } from '../../../local/stack/processes/launch.ts';
import type { Server } from '../../../local/stack/processes/part.ts';
import { endProcess, type ProcessMark, waitUntil } from '../../../local/stack/processes/processes.ts';
import type { Watchdog } from '../../../local/stack/processes/watchdog.ts';
import { StackError } from '../../../local/stack/stackError.ts';
import { type TemporalOptions, temporalServer } from '../../../local/stack/temporal/temporal.ts';

/** A server that runs until it is stopped, or until its watchdog's owner ends. */
export interface RunningServer {
  readonly mark: ProcessMark;
  stop(): Promise<void>;
}

/** Starts a server and waits until it answers. Throws StackError when it ends before, or does not answer in time. */
export async function runServer(
  server: Server,
  options: { name: string; withinSeconds: number; watchdog?: Watchdog | undefined },
): Promise<RunningServer> {
  const { name, withinSeconds, watchdog } = options;
  const { command, plan } = server;
  await server.beforeStart?.();
  const { mark, ended, ending } = launch(command);
  if (!mark) throw new StackError(`${name} ${(await ended).words}.`);
  watchdog?.add({ mark, plan, order: 0 });
  const stop = async (): Promise<void> => {
    await endProcess(mark, plan);
    watchdog?.drop(mark);
  };
  const over = (): boolean => ending() !== undefined;
  const inTime = await waitUntil(async () => over() || (await server.answers()), withinSeconds * 1000);
  if (inTime && !over()) return { mark, stop };
  await stop();
  const how = ending()?.words ?? `did not answer within ${withinSeconds} s`;
  throw new StackError(`${name} ${how}; see ${command.logFile}.`);
}

/** A PostgreSQL that runs. */
export interface RunningPostgres extends RunningServer {
  /** Of the database `cfe`, as its superuser. */
  readonly databaseUrl: string;
}

/**
 * Starts the cluster of a data folder, made if need be, and waits until it accepts connections. Run as root, the data
 * folder's parents must be open to others (`/tmp` is). Throws StackError when it does not come up within 30 s.
 */
export async function startPostgres(
  options: Parameters<typeof embeddedPostgres>[0] & { watchdog?: Watchdog },
): Promise<RunningPostgres> {
  const { port, password, watchdog } = options;
  const server = await embeddedPostgres(options);
  const running = await runServer(server, { name: 'PostgreSQL', withinSeconds: 30, watchdog });
  return { ...running, databaseUrl: embeddedDatabaseUrl(port, password) };
}

/** A Temporal server that runs. */
export interface RunningTemporal extends RunningServer {
  /** host:port */
  readonly address: string;
}

/**
 * Starts a server, waits until it answers and makes sure of the search attributes. Throws StackError when it does not
 * come up within 60 s.
 */
export async function startTemporal(
  options: TemporalOptions & { watchdog?: Watchdog },
): Promise<RunningTemporal> {
  const { port, watchdog } = options;
  const name = 'The Temporal server';
  const running = await runServer(temporalServer(options), { name, withinSeconds: 60, watchdog });
  return { ...running, address: `127.0.0.1:${port}` };
}
