import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGuard } from '../../src/stack/guard.ts';
import { obtainTemporal } from '../../src/stack/obtainTemporal.ts';
import { choosePorts } from '../../src/stack/ports.ts';
import { startPostgres } from '../../src/stack/postgres.ts';
import { startTemporal } from '../../src/stack/temporal.ts';
import { buildTemplate } from './database.ts';

/** What a test run brings up for itself, and the variables by which its tests find it. */
export interface Services {
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** A port of 127.0.0.1 that nobody listens on, away from those that the system gives to outgoing connections. */
export async function freePort(): Promise<number> {
  const wish = { variable: 'any', purpose: 'a test', port: 0, explicit: false };
  const [port] = await choosePorts([wish], () => {});
  if (port === undefined) throw new Error('no port was chosen');
  return port;
}

/**
 * A PostgreSQL with the migrated template and a Temporal server, both in a folder of their own that is gone
 * afterwards; a server named by CFE_TEST_POSTGRES_URL or TEMPORAL_ADDRESS is used instead.
 */
export async function startServices({ say }: { say: (line: string) => void }): Promise<Services> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-services-'));
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  const guard = openGuard();
  const started: (() => Promise<void>)[] = [];
  const environment: Record<string, string> = {};
  const stop = async (): Promise<void> => {
    for (const end of started.toReversed()) await end();
    guard.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    if (!process.env['CFE_TEST_POSTGRES_URL']) {
      say('starting PostgreSQL');
      const password = randomBytes(18).toString('hex');
      const postgres = await startPostgres({ dataDir, port: await freePort(), password, say, guard });
      started.push(() => postgres.stop());
      environment['CFE_TEST_POSTGRES_URL'] = postgres.databaseUrl;
      process.env['CFE_TEST_POSTGRES_URL'] = postgres.databaseUrl;
    }
    await buildTemplate();
    if (!process.env['TEMPORAL_ADDRESS']) {
      const { path } = await obtainTemporal({ environment: process.env, say, guard });
      say('starting Temporal');
      const temporal = await startTemporal({
        path,
        dataDir,
        port: await freePort(),
        namespace: 'default',
        guard,
      });
      started.push(() => temporal.stop());
      environment['TEMPORAL_ADDRESS'] = temporal.address;
    }
    return { environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
