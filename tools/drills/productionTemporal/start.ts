/** Temporal as docker-compose.temporal.yml runs it, without Docker: same versions, same settings, throw-away data. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { ORDINARY_END } from '../../../local/stack/processes/ending.ts';
import { choosePorts } from '../../../local/stack/processes/ports.ts';
import { openWatchdog } from '../../../local/stack/processes/watchdog.ts';
import { StackError } from '../../../local/stack/stackError.ts';
import { temporalServes } from '../../../local/stack/temporal/temporal.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { freePort } from '../../../test/support/processes/services.ts';
import { readCompose } from '../../../test/support/production/composeFile.ts';
import { runServer, startPostgres } from '../../../test/support/stack/servers.ts';
import type { ServerBuild } from './build.ts';

const NAMESPACE = 'default';
/** Every service of the one process listens on ports of its own. */
const SERVICES = ['FRONTEND', 'MATCHING', 'HISTORY', 'WORKER'];

/** A Temporal server on PostgreSQL. */
export interface ProductionTemporal {
  readonly address: string;
  readonly databaseVersion: string;
  readonly shards: string;
  /** Of its processes, by what they are. */
  readonly pids: { readonly temporal: number; readonly temporalDatabase: number };
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL, brings its schema up as the job in the compose file does, and starts the server by its own
 * configuration template with the variables of the compose file. Throws StackError when the compose file names another
 * version than the one that was built, or the server does not come up.
 */
export async function startProductionTemporal(
  build: ServerBuild,
  say: (line: string) => void,
): Promise<ProductionTemporal> {
  const compose = readCompose();
  const settings = compose.services['temporal'];
  if (settings?.image !== `temporalio/server:${build.version}`) {
    throw new StackError(`docker-compose.temporal.yml runs ${settings?.image}; ${build.version} was built.`);
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-production-temporal-'));
  mkdirSync(join(dataDir, 'logs'));
  const watchdog = openWatchdog();
  const password = randomBytes(18).toString('hex');
  const port = await freePort();
  const postgres = await startPostgres({ dataDir, port, password, say, watchdog });
  const stop = async (): Promise<void> => {
    await postgres.stop();
    watchdog.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const databaseVersion = await versionOf(postgres.databaseUrl);
    makeSchema(build, { port, user: 'cfe', password });

    const dynamicConfig = join(dataDir, 'dynamic-config.yaml');
    writeFileSync(dynamicConfig, compose.configs['temporal_dynamic_config']?.content ?? '');
    const ports = await portsOfItsOwn();
    const env = {
      ...settings.environment,
      PATH: '/usr/bin:/bin',
      TZ: 'UTC',
      LOG_LEVEL: 'warn',
      POSTGRES_SEEDS: '127.0.0.1',
      DB_PORT: String(port),
      POSTGRES_USER: 'cfe',
      POSTGRES_PWD: password,
      BIND_ON_IP: '127.0.0.1',
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
      DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
      ...ports,
    };
    const address = `127.0.0.1:${ports['FRONTEND_GRPC_PORT']}`;
    const template = join(build.module, 'common', 'config', 'config_template_embedded.yaml');
    const server = await runServer(
      {
        command: {
          program: build.server,
          args: ['--config-file', template, '--allow-no-auth', 'start'],
          env,
          cwd: dataDir,
          logFile: join(dataDir, 'logs', 'temporal.log'),
        },
        plan: ORDINARY_END,
        answers: () => serves(address),
      },
      { name: 'The Temporal server', withinSeconds: 120, watchdog },
    );
    return {
      address,
      databaseVersion,
      shards: settings.environment?.['NUM_HISTORY_SHARDS'] ?? '',
      pids: { temporal: server.mark.pid, temporalDatabase: postgres.mark.pid },
      async stop() {
        await server.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function versionOf(databaseUrl: string): Promise<string> {
  const orm = await openOrm({ databaseUrl, pool: 1 });
  const [row] = await orm.em.fork().execute<{ server_version: string }[]>('show server_version');
  await orm.close(true);
  return row?.server_version ?? '';
}

/** What the job `temporal-schema` does, the databases made besides. */
function makeSchema(
  { sqlTool, module }: ServerBuild,
  { port, user, password }: { port: number; user: string; password: string },
): void {
  const env = {
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: '127.0.0.1',
    SQL_PORT: String(port),
    SQL_USER: user,
    SQL_PASSWORD: password,
  };
  for (const [database, kind] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    const versions = join(module, 'schema', 'postgresql', 'v12', kind, 'versioned');
    for (const args of [['create'], ['setup-schema', '-v', '0.0'], ['update-schema', '-d', versions]]) {
      execFileSync(sqlTool, ['--db', database, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    }
  }
}

async function portsOfItsOwn(): Promise<Record<string, string>> {
  const names = [
    ...SERVICES.flatMap((service) => [`${service}_GRPC_PORT`, `${service}_MEMBERSHIP_PORT`]),
    'FRONTEND_HTTP_PORT',
  ];
  const wishes = names.map((variable) => ({ variable, purpose: 'Temporal', port: 0, explicit: false }));
  const ports = await choosePorts(wishes, () => undefined);
  return Object.fromEntries(names.map((name, i) => [name, String(ports[i])]));
}

/** Whether the server takes calls, in the namespace of the service too; made if need be. Never rejects. */
async function serves(address: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: '2s' });
    try {
      await connection.workflowService
        .registerNamespace({
          namespace: NAMESPACE,
          workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
        })
        .catch(() => undefined);
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
  return temporalServes({ address }, NAMESPACE);
}
