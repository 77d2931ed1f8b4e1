/** Which ports the parts listen on (decisions.md §11). */

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import type { Say } from './progress.ts';
import { StackError } from './stackError.ts';

/** The ports that are listened on. */
export interface StackPorts {
  readonly api: number;
  /** Of the API. */
  readonly metrics: number;
  readonly workerMetrics: number;
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly simulator: number;
}

/** One port that is wanted: by which variable it is set, and whether a person set it. */
export interface PortWish {
  readonly variable: string;
  readonly purpose: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly explicit: boolean;
}

const HIGHEST = 65_535;
/** Any free port is looked for below the range from which the system takes the local ports of outgoing connections. */
const ANY_FROM = 12_000;
const ANY_TO = 32_000;

/**
 * A free port for each wish, in their order, no port twice. A default that is taken moves to the next free one and
 * says so; one that a person set and that is taken throws a StackError that names its variable.
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
      `${wish.variable} is ${wish.port} (${wish.purpose}), and something else listens there. Choose another, or leave it unset.`,
    );
  }
  for (let port = wish.port + 1; port <= HIGHEST; port++) {
    if (!(await free(port))) continue;
    say(`Port ${wish.port} (${wish.purpose}) is taken; using ${port}. ${wish.variable} sets another.`);
    return port;
  }
  throw new StackError(`No free port from ${wish.port} on for the ${wish.purpose}; set ${wish.variable}.`);
}

/** Whether nobody listens on this port of an address of this machine. */
export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
