import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFree } from '../../../local/stack/processes/ports.ts';
import { openWatchdog } from '../../../local/stack/processes/watchdog.ts';
import { obtainTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';
import { createLogger } from '../../../src/logger.ts';
import { bundleWorkflows } from '../../../src/wiring/temporal/workflowBundle.ts';
import { buildTemplate } from '../database/database.ts';
import { startPostgres, startTemporal } from '../stack/servers.ts';

/** What a test run brings up for itself, and the variables by which its tests find it. */
export interface Services {
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** Each worker of Jest has ports of its own, below those that the system gives to outgoing connections. */
const [LOWEST_PORT, PORTS_PER_WORKER, SLICES] = [12_000, 2_500, 8];
const slice = LOWEST_PORT + PORTS_PER_WORKER * (Number(process.env['JEST_WORKER_ID'] ?? 0) % SLICES);
// Another run on this machine begins elsewhere.
let lastPort = randomInt(PORTS_PER_WORKER);

/** A port of 127.0.0.1 that nobody listens on, and that no other test of this run is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    lastPort = (lastPort + 1) % PORTS_PER_WORKER;
    const port = slice + lastPort;
    if (await isFree(port, '127.0.0.1')) return port;
  }
}

/**
 * A PostgreSQL with the migrated template, a Temporal server and the workflows' bundle, all in a folder that is gone
 * afterwards; a server named by CFE_TEST_POSTGRES_URL or TEMPORAL_ADDRESS is used instead.
 */
export async function startServices({ say }: { say: (line: string) => void }): Promise<Services> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-services-'));
  const watchdog = openWatchdog();
  const started: (() => Promise<void>)[] = [];
  const bundle = join(dataDir, 'workflows.js');
  const environment: Record<string, string> = { CFE_WORKFLOW_BUNDLE: bundle };
  const stop = async (): Promise<void> => {
    for (const end of started.toReversed()) await end();
    watchdog.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  async function postgres(): Promise<void> {
    if (!process.env['CFE_TEST_POSTGRES_URL']) {
      const password = randomBytes(18).toString('hex');
      const running = await startPostgres({ dataDir, port: await freePort(), password, say, watchdog });
      started.push(() => running.stop());
      environment['CFE_TEST_POSTGRES_URL'] = running.databaseUrl;
      process.env['CFE_TEST_POSTGRES_URL'] = running.databaseUrl;
    }
    await buildTemplate();
  }
  async function temporal(): Promise<void> {
    if (process.env['TEMPORAL_ADDRESS']) return;
    const { path } = await obtainTemporal({ variables: process.env, say, watchdog });
    const port = await freePort();
    const running = await startTemporal({ path, dataDir, port, namespace: 'default', watchdog });
    started.push(() => running.stop());
    environment['TEMPORAL_ADDRESS'] = running.address;
  }
  const logger = createLogger({ name: 'bundle', level: 'warn' });
  const bundled = async () => writeFileSync(bundle, (await bundleWorkflows(logger)).code);
  try {
    say('starting PostgreSQL and Temporal, bundling the workflows');
    await Promise.all([postgres(), temporal(), bundled()]);
    return { environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
