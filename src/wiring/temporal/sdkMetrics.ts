import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';
import got from 'got';

/** Number of ports to try: another program may take a free port in the meantime. */
const TRIES = 5;
/** Longest wait for the SDK's metrics. */
const PATIENCE_MILLISECONDS = 2_000;

/**
 * Installs the Temporal runtime: logs go to the logger of `options`, and metrics to a free port of 127.0.0.1, since the SDK
 * can only serve them over HTTP. Returns a function that reads the metrics in Prometheus' text format; '' on failure.
 */
export async function installRuntime(
  options: Omit<RuntimeOptions, 'telemetryOptions'>,
): Promise<() => Promise<string>> {
  for (let tries = 1; ; tries += 1) {
    const bindAddress = `127.0.0.1:${await findFreePort()}`;
    try {
      Runtime.install({
        ...options,
        telemetryOptions: {
          // Otherwise the library mixes its own coloured lines with ours.
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
      return () => readMetrics(`http://${bindAddress}/metrics`);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function readMetrics(url: string): Promise<string> {
  try {
    return await got.get(url, { timeout: { request: PATIENCE_MILLISECONDS }, retry: { limit: 0 } }).text();
  } catch {
    return '';
  }
}

/** Returns a free port: the SDK cannot choose one itself and report it. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
