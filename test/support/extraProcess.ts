import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import got from 'got';
import { programEnvironment } from '../../src/stack/programs.ts';
import type { StackSecrets } from '../../src/stack/secrets.ts';
import type { StackInfo } from '../../src/stack/stackFile.ts';
import { freePort } from './services.ts';
import { until } from './until.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

/** What a program has to find: the parts of a running stack, or what a test has brought up by itself. */
export interface Surroundings {
  /** With `secrets.json`, `ca.pem` and `logs/`. */
  dataDir: string;
  info(): Pick<StackInfo, 'database_url' | 'temporal_address' | 'temporal_namespace' | 'simulator_url'>;
}

export interface ExtraProcess {
  process: ChildProcess;
  /** Of the API, with /v1; of the simulator, without. */
  baseUrl: string;
  logFile: string;
  /** Where it tells how it is, without the path. */
  healthUrl: string;
  stop(): Promise<void>;
}

/** One more worker or API beside those of a running stack, if any, on the same database and Temporal server. */
export async function startBeside(
  stack: Surroundings,
  program: 'worker' | 'api',
  environment: Record<string, string> = {},
  /** What answers 200 once it may be used. */
  sign: '/readyz' | '/livez' = '/readyz',
): Promise<ExtraProcess> {
  const info = stack.info();
  const [port, health] = [await freePort(), await freePort()];
  const variables = programEnvironment({
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
  });
  return startProgram(program, {
    logFile: join(stack.dataDir, 'logs', `extra-${program}-${port}.log`),
    environment: { ...variables, ...environment },
    probe: `http://127.0.0.1:${health}${sign}`,
    baseUrl: `http://127.0.0.1:${port}/v1`,
  });
}

/** A simulator as a process of its own, with its data under `dataDir`. */
export async function startSimulatorProcess(dataDir: string): Promise<ExtraProcess> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  return startProgram('simulator', {
    logFile: join(dataDir, 'logs', 'simulator.log'),
    environment: {
      PATH: process.env['PATH'],
      DGI_XSD_DIR: process.env['DGI_XSD_DIR'],
      CFE_DATA_DIR: dataDir,
      CFE_SIMULATOR_PORT: String(port),
    },
    probe: `${baseUrl}/livez`,
    baseUrl,
  });
}

async function startProgram(
  program: string,
  options: {
    logFile: string;
    environment: Record<string, string | undefined>;
    /** Answers 200 once the program is ready. */
    probe: string;
    baseUrl: string;
  },
): Promise<ExtraProcess> {
  const { logFile, environment, probe, baseUrl } = options;
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `src/main/${program}.ts`], {
    cwd: CHECKOUT,
    stdio: ['ignore', log, log],
    env: environment,
  });
  closeSync(log);
  await until(`the ${program}`, 60, async () => {
    if (hasEnded(child)) throw new Error(`the ${program} ended at its start: see ${logFile}`);
    const { statusCode } = await got
      .get(probe, { throwHttpErrors: false, retry: { limit: 0 } })
      .catch(() => ({ statusCode: 0 }));
    return statusCode === 200 || undefined;
  });
  return {
    process: child,
    baseUrl,
    logFile,
    healthUrl: new URL(probe).origin,
    async stop() {
      if (hasEnded(child)) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
