/** Which ports the parts listen on (docs/local.md#ports). */

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { StackError } from '../stackError.ts';
import type { Say } from './progress.ts';

/** The ports that are listened on. */
export interface StackPorts {
  readonly api: number;
  /** Of the API. */
  readonly metrics: number;
  readonly workerMetrics: number;
  readonly console: number;
  readonly consoleMetrics: number;
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly simulator: number;
  /** Of the simulator's mail server. */
  readonly smtp: number;
}

/** A wanted port: the variable that sets it, and whether a person did. */
export interface PortWish {
  readonly variable: string;
  readonly purpose: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly explicit: boolean;
}

const HIGHEST = 65_535;
/** Free ports are looked for below the range that the system uses for outgoing connections. */
const ANY_FROM = 12_000;
const ANY_TO = 32_000;

/**
 * A free port for each wish, in their order, none twice. A default that is taken moves to the next free port and says
 * so; a port that a person set throws StackError when it is taken.
 */
export async function choosePorts(
  wishes: readonly PortWish[],
  say: Say,
  host = '127.0.0.1',
): Promise<readonly number[]> {
  const chosen: number[] = [];
  const free = async (port: number): Promise<boolean> => !chosen.includes(port) && (await isFree(port, host));
  for (const wish of wishes) chosen.push(await choose(wish, free, say));
  return chosen;
}

async function choose(wish: PortWish, free: (port: number) => Promise<boolean>, say: Say): Promise<number> {
  if (wish.port === 0) {
    for (;;) {
      const port = randomInt(ANY_FROM, ANY_TO);
      if (await free(port)) return port;
    }
  }
  if (await free(wish.port)) return wish.port;
  if (wish.explicit) {
    throw new StackError(
      `${wish.variable} is ${wish.port} (${wish.purpose}), but that port is in use. Choose another, or leave it unset.`,
    );
  }
  for (let port = wish.port + 1; port <= HIGHEST; port++) {
    if (!(await free(port))) continue;
    say(
      `Port ${wish.port} (${wish.purpose}) is in use; using ${port}. Set ${wish.variable} to choose another.`,
    );
    return port;
  }
  throw new StackError(`There is no free port from ${wish.port} up (${wish.purpose}); set ${wish.variable}.`);
}

/** Whether nothing listens on this port of one of the machine's addresses. @internal exported for tests */
export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
