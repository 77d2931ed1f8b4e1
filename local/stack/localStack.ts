import { join, resolve } from 'node:path';
import { processVariables } from '../../src/config.ts';
import { armFailpoints } from '../../src/failpoints.ts';
import {
  removeTemporalSecurity,
  TEMPORAL_SERVER_VARIABLES,
  temporalServerOf,
} from '../../src/wiring/temporal/temporalServer.ts';
import { checkVariables, isSet, readConfig } from '../config.ts';
import { CHECKOUT } from './checkout.ts';
import { migrateDatabase, prepareDatabase } from './prepareStack.ts';
import { choosePorts, type StackPorts } from './processes/ports.ts';
import type { Say } from './processes/progress.ts';
import { type Stack, startStack } from './stack.ts';
import { runningStack, type StackInfo } from './stackFile.ts';
import type { DatabaseLogin } from './stackOptions.ts';

/** The ports of a stack: their name, the variable that sets them, and what they are for. @internal exported for tests */
export const PORTS = [
  ['api', 'CFE_API_PORT', 'the API'],
  ['metrics', 'CFE_METRICS_PORT', 'metrics of the API'],
  ['workerMetrics', 'CFE_WORKER_METRICS_PORT', 'metrics of the worker'],
  ['console', 'CFE_CONSOLE_PORT', 'the console'],
  ['consoleMetrics', 'CFE_CONSOLE_METRICS_PORT', 'metrics of the console'],
  ['postgres', 'CFE_POSTGRES_PORT', 'PostgreSQL'],
  ['temporal', 'CFE_TEMPORAL_PORT', 'the Temporal server'],
  ['temporalUi', 'CFE_TEMPORAL_UI_PORT', 'the Temporal UI'],
  ['simulator', 'CFE_SIMULATOR_PORT', 'the simulator'],
  ['smtp', 'CFE_SIMULATOR_SMTP_PORT', "the simulator's mail server"],
] as const;

const program = (name: string): string => join(CHECKOUT, `src/main/${name}.ts`);
/** The data folder as an absolute path; a relative one counts from the checkout. */
export const absolute = (dataDir: string): string => resolve(CHECKOUT, dataDir);

/** What a running stack of this data folder says of itself; undefined when none runs. */
export const findRunningStack = (dataDir: string): StackInfo | undefined => runningStack(absolute(dataDir));

/**
 * Starts the stack as the variables say and waits until everything answers. Throws ConfigurationError or
 * StackError, both with a message for a person; `signal` breaks the start off.
 */
export async function startLocalStack(
  options: {
    say?: Say;
    signal?: AbortSignal;
    /** The address of the database at DATABASE_URL for who logs in; that very address by default. */
    databaseUrlOf?: (login: DatabaseLogin, databaseUrl: string) => string;
  } = {},
): Promise<Stack> {
  const { databaseUrlOf = (_, databaseUrl) => databaseUrl } = options;
  const say = options.say ?? console.log;
  // The local stack is for development.
  checkVariables({ CFE_DEVELOPMENT: 'true', ...processVariables });
  armFailpoints();
  const config = readConfig([
    'CFE_DATA_DIR',
    'CFE_HOST',
    'TEMPORAL_NAMESPACE',
    ...PORTS.map(([, variable]) => variable),
  ]);
  const databaseUrl = isSet('DATABASE_URL') ? readConfig(['DATABASE_URL']).DATABASE_URL : undefined;
  const temporal = isSet('TEMPORAL_ADDRESS')
    ? temporalServerOf(readConfig(TEMPORAL_SERVER_VARIABLES))
    : undefined;
  return startStack({
    dataDir: absolute(config.CFE_DATA_DIR),
    variables: temporal ? processVariables : removeTemporalSecurity(processVariables),
    host: config.CFE_HOST,
    temporalNamespace: config.TEMPORAL_NAMESPACE,
    databaseUrl: databaseUrl === undefined ? undefined : (login) => databaseUrlOf(login, databaseUrl),
    temporal,
    choosePorts: async () => {
      const wishes = PORTS.map(([, variable, purpose]) => ({
        variable,
        purpose,
        port: config[variable],
        explicit: isSet(variable),
      }));
      const chosen = await choosePorts(wishes, say);
      return Object.fromEntries(PORTS.map(([name], index) => [name, chosen[index]])) as unknown as StackPorts;
    },
    programs: {
      simulator: { program: join(CHECKOUT, 'local/main/simulator.ts'), needs: [] },
      worker: { program: program('worker'), needs: ['migrated', 'temporal'] },
      // It reads at its start who may certify companies, and the operator's own certificate.
      api: { program: program('api'), needs: ['prepared'] },
      console: { program: program('console'), needs: ['migrated'] },
    },
    migrate: migrateDatabase,
    prepare: prepareDatabase,
    say,
    signal: options.signal,
  });
}
