import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, ready, start } from '../processes/processes.ts';
import { freePort } from '../processes/services.ts';
import { type ComposeService, readCompose, readEnvFile } from './composeFile.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const NOBODY = 65_534;
const { services } = readCompose();

/** What the services of the compose file meet outside of containers. */
interface Ground {
  /** Where the programs lie: the checkout, or an image's folder. */
  folder: string;
  /** What the image sets for every program. */
  environment: Readonly<Record<string, string>>;
  databaseUrl: string;
  temporalAddress: string;
  namespace: string;
}

/** A service of the compose file that runs. */
export interface ServiceProgram extends Program {
  /** Of the server that it is there for, and of its metrics; without a path. */
  url: string;
  healthUrl: string;
}

type ServiceName = 'api' | 'worker' | 'simulator' | 'migrate' | 'cfe';

/** The services of `docker-compose.temporal.yml` as processes: its commands, its settings, its secrets in files. */
export interface Production {
  [Symbol.asyncDispose](): Promise<void>;
  /** Writes the content of a secret. */
  setSecret(name: string, content: string): void;
  /** Starts a service; `settings` stand above those of the compose file. */
  run(
    service: ServiceName,
    settings?: Record<string, string>,
    args?: readonly string[],
  ): Promise<ServiceProgram>;
  /** Runs a service until it has ended. */
  runToEnd(
    service: ServiceName,
    settings?: Record<string, string>,
    args?: readonly string[],
  ): Promise<{ code: number; said: string }>;
  /** Starts a service and waits until its health check is content. */
  runUntilHealthy(service: ServiceName, settings?: Record<string, string>): Promise<ServiceProgram>;
  /** Calls the command line with --json. */
  cfe<T>(...args: string[]): Promise<T>;
  simulatorUrl: string;
}

/** As in the image, nothing runs as root: whoever is root here, and may be somebody else, is. */
const unprivileged =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['-v'], { uid: NOBODY }).status === 0
    ? { uid: NOBODY, gid: NOBODY }
    : {};

/** Opens the production shape over a database and a Temporal server; starts nothing yet. */
export async function openProduction(ground: Ground): Promise<Production> {
  const home = mkdtempSync(join(tmpdir(), 'cfe-production-'));
  const [secretsDir, dataDir] = [join(home, 'secrets'), join(home, 'data')];
  makeFolders(home, secretsDir, dataDir);
  const programs = new Set<ServiceProgram>();
  const simulatorPort = await freePort();
  const simulatorUrl = `http://127.0.0.1:${simulatorPort}`;
  const setSecret = (name: string, content: string): void =>
    writeFileSync(join(secretsDir, name), content, { mode: 0o644 });

  /** The settings of a service by env file and compose file, in the words of this machine. */
  function settingsOf(name: ServiceName): Record<string, string> {
    const given = { ...readEnvFile('deploy/simulator.env'), ...serviceOf(name).environment };
    const here = (value: string): string =>
      value
        .replace('/run/secrets', secretsDir)
        .replace('/data', dataDir)
        .replace('http://simulator:8090', simulatorUrl)
        .replace(/^temporal:7233$/, ground.temporalAddress);
    const told = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, here(value)]));
    return told['TEMPORAL_NAMESPACE'] ? { ...told, TEMPORAL_NAMESPACE: ground.namespace } : told;
  }

  async function run(
    name: ServiceName,
    settings: Record<string, string> = {},
    args: readonly string[] = [],
  ): Promise<ServiceProgram> {
    const { entrypoint, command = [] } = serviceOf(name);
    const [, ...words] = entrypoint ?? command;
    const [port, health] = [name === 'simulator' ? simulatorPort : await freePort(), await freePort()];
    const started = start([...words, ...args], {
      // The image of the service lacks the simulator.
      cwd: name === 'simulator' ? CHECKOUT : ground.folder,
      ...unprivileged,
      env: {
        PATH: process.env['PATH'],
        ...ground.environment,
        CFE_HOST: '127.0.0.1',
        ...settingsOf(name),
        CFE_API_PORT: String(port),
        CFE_SIMULATOR_PORT: String(port),
        CFE_SIMULATOR_SMTP_PORT: '0',
        CFE_METRICS_PORT: String(health),
        CFE_WORKER_METRICS_PORT: String(health),
        ...settings,
      },
    });
    const program = {
      ...started,
      url: `http://127.0.0.1:${port}`,
      healthUrl: `http://127.0.0.1:${health}`,
    };
    programs.add(program);
    return program;
  }

  async function runToEnd(...of: Parameters<typeof run>) {
    const program = await run(...of);
    return { code: await program.ended, said: program.output() };
  }

  return {
    setSecret,
    run,
    runToEnd,
    simulatorUrl,
    async runUntilHealthy(name, settings) {
      const program = await run(name, settings);
      const address = serviceOf(name).healthcheck?.test?.at(-1) ?? '';
      const { pathname } = new URL(address);
      const asked = `${name === 'simulator' ? program.url : program.healthUrl}${pathname}`;
      await ready(program, name, async () => healthCheck(ground.folder, asked));
      return program;
    },
    async cfe<T>(...args: string[]) {
      const { code, said } = await runToEnd('cfe', {}, [...args, '--json']);
      if (code !== 0) throw new Error(`cfe ${args.join(' ')}: ${said}`);
      return JSON.parse(said) as T;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...programs].map((program) => program.stop()));
      rmSync(home, { recursive: true });
    },
  };
}

/** Everybody may look in: in containers the files are mounted one by one, each readable by itself. */
function makeFolders(...folders: string[]): void {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
  }
}

/** Whether the health check of the image, run as it stands, is content with an address. */
const healthCheck = (folder: string, url: string): boolean =>
  spawnSync(process.execPath, ['src/main/healthCheck.ts', url], { cwd: folder, env: {} }).status === 0;

function serviceOf(name: ServiceName): ComposeService {
  const service = services[name];
  if (!service) throw new Error(`there is no service ${name}`);
  return service;
}
