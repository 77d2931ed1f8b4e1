import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWatchdog } from '../../../local/stack/processes/watchdog.ts';
import { freePort } from '../../support/processes/services.ts';
import { startPostgres } from '../../support/stack/servers.ts';

/** A PostgreSQL whose folder outlives the run: what took long to build is there the next time. */
export async function startKeptPostgres(
  dataDir: string,
): Promise<{ databaseUrl: string; pid: number; stop(): Promise<void> }> {
  mkdirSync(dataDir, { recursive: true });
  const passwordFile = join(dataDir, 'password');
  if (!existsSync(passwordFile))
    writeFileSync(passwordFile, randomBytes(18).toString('hex'), { mode: 0o600 });
  const password = readFileSync(passwordFile, 'utf8');
  const watchdog = openWatchdog();
  const port = await freePort();
  const running = await startPostgres({ dataDir, port, password, say: console.log, watchdog });
  return {
    databaseUrl: running.databaseUrl,
    pid: running.mark.pid,
    async stop() {
      await running.stop();
      watchdog.close();
    },
  };
}
