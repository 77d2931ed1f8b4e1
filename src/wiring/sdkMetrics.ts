import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';
import got from 'got';

/** A port that was free a moment ago may be taken: this many are tried. */
const TRIES = 5;
/** Longest wait for the SDK's own page. */
const PATIENCE_MILLISECONDS = 2_000;

/**
 * Installs the Temporal runtime: its log goes to the logger of `options`, its metrics stand on a free port of 127.0.0.1, where it alone can serve them. Answers
 * how to read them, in Prometheus' text format; empty where they cannot be read.
 */
export async function installRuntime(
  options: Omit<RuntimeOptions, 'telemetryOptions'>,
): Promise<() => Promise<string>> {
  for (let tries = 1; ; tries += 1) {
    const bindAddress = `127.0.0.1:${await freePort()}`;
    try {
      Runtime.install({
        ...options,
        telemetryOptions: {
          // Else the library writes lines of its own, coloured, among ours.
          logging: { forward: {} },
          metrics: {
            prometheus: {
              bindAddress,
              countersTotalSuffix: true,
              unitSuffix: true,
              useSecondsForDurations: true,
            },
          },
        },
      });
      return () => read(`http://${bindAddress}/metrics`);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function read(url: string): Promise<string> {
  try {
    return await got.get(url, { timeout: { request: PATIENCE_MILLISECONDS }, retry: { limit: 0 } }).text();
  } catch {
    return '';
  }
}

/** The SDK cannot be told to take any free port, nor asked which one it took. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
