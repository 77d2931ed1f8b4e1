import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import got from 'got';
import { programEnvironment } from '../../src/stack/programs.ts';
import type { StackSecrets } from '../../src/stack/secrets.ts';
import type { TestStack } from './runningStack.ts';
import { freePort } from './services.ts';
import { until } from './until.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

export interface ExtraProcess {
  process: ChildProcess;
  /** Of the API, with /v1. */
  baseUrl: string;
  stop(): Promise<void>;
}

/** One more worker or API beside those of a running stack, on the same database and Temporal server. */
export async function startBeside(
  stack: TestStack,
  program: 'worker' | 'api',
  environment: Record<string, string> = {},
): Promise<ExtraProcess> {
  const info = stack.info();
  const [port, health] = [await freePort(), await freePort()];
  const log = openSync(join(stack.dataDir, 'logs', `extra-${program}-${port}.log`), 'a');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `src/main/${program}.ts`], {
    cwd: CHECKOUT,
    stdio: ['ignore', log, log],
    env: {
      ...programEnvironment({
        environment: { PATH: process.env['PATH'] },
        dataDir: stack.dataDir,
        secrets: JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as StackSecrets,
        ports: {
          api: port,
          metrics: health,
          workerMetrics: health,
          postgres: 0,
          temporal: 0,
          temporalUi: 0,
          simulator: 0,
        },
        databaseUrl: info.database_url,
        temporalAddress: info.temporal_address,
        temporalNamespace: info.temporal_namespace,
        simulatorUrl: info.simulator_url,
        apiUrl: `http://127.0.0.1:${port}`,
      }),
      ...environment,
    },
  });
  closeSync(log);
  await until(`the ${program}`, 30, async () => {
    if (child.exitCode !== null) throw new Error(`the ${program} ended with ${child.exitCode} at its start`);
    const { statusCode } = await got
      .get(`http://127.0.0.1:${health}/readyz`, { throwHttpErrors: false, retry: { limit: 0 } })
      .catch(() => ({ statusCode: 0 }));
    return statusCode === 200 || undefined;
  });
  return {
    process: child,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}
