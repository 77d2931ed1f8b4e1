/** `npm start`: the whole local stack, until Ctrl-C. Also how the demo finds or starts it. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError, checkEnvironment, environment, isSet, readConfig } from '../config.ts';
import { armFailpoints } from '../failpoints.ts';
import { addresses } from '../stack/announce.ts';
import { CHECKOUT } from '../stack/checkout.ts';
import { choosePorts, type StackPorts } from '../stack/ports.ts';
import type { Say } from '../stack/progress.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { StackError } from '../stack/stackError.ts';
import { runningStack, type StackInfo } from '../stack/stackFile.ts';
import { prepareDatabase } from './prepare.ts';

const PORTS = [
  ['api', 'CFE_API_PORT', 'the API'],
  ['metrics', 'CFE_METRICS_PORT', 'metrics of the API'],
  ['workerMetrics', 'CFE_WORKER_METRICS_PORT', 'metrics of the worker'],
  ['postgres', 'CFE_POSTGRES_PORT', 'PostgreSQL'],
  ['temporal', 'CFE_TEMPORAL_PORT', 'the Temporal server'],
  ['temporalUi', 'CFE_TEMPORAL_UI_PORT', 'the Temporal UI'],
  ['simulator', 'CFE_SIMULATOR_PORT', 'the simulator'],
] as const;

const program = (name: string): string => fileURLToPath(new URL(`${name}.ts`, import.meta.url));
const absolute = (dataDir: string): string => resolve(CHECKOUT, dataDir);

/** What a running stack of this data folder says of itself; undefined when none runs. */
export const findRunningStack = (dataDir: string): StackInfo | undefined => runningStack(absolute(dataDir));

/**
 * Starts the stack as the environment describes it and waits until everything answers. Throws ConfigurationError or
 * StackError, both with a message for a person; `signal` breaks the start off.
 */
export async function startLocalStack(options: { say?: Say; signal?: AbortSignal } = {}): Promise<Stack> {
  const say = options.say ?? console.log;
  checkEnvironment();
  armFailpoints();
  const config = readConfig([
    'CFE_DATA_DIR',
    'CFE_HOST',
    'TEMPORAL_NAMESPACE',
    ...PORTS.map(([, variable]) => variable),
  ]);
  const databaseUrl = isSet('DATABASE_URL') ? readConfig(['DATABASE_URL']).DATABASE_URL : undefined;
  const temporalAddress = isSet('TEMPORAL_ADDRESS')
    ? readConfig(['TEMPORAL_ADDRESS']).TEMPORAL_ADDRESS
    : undefined;
  return startStack({
    dataDir: absolute(config.CFE_DATA_DIR),
    environment,
    host: config.CFE_HOST,
    temporalNamespace: config.TEMPORAL_NAMESPACE,
    databaseUrl,
    temporalAddress,
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
      simulator: { program: program('simulator'), needs: [] },
      // Both run the migrations themselves, under a lock: they need not wait until the database is prepared.
      worker: { program: program('worker'), needs: ['postgres', 'temporal'] },
      api: { program: program('api'), needs: ['postgres'] },
    },
    prepare: prepareDatabase,
    say,
    signal: options.signal,
  });
}

/** Runs the stack until a signal comes; resolves with the exit code. */
async function runUntilSignal(): Promise<number> {
  const ending = new AbortController();
  const ended = new Promise<void>((done) => ending.signal.addEventListener('abort', () => done()));
  // npm and the terminal may both pass on the same Ctrl-C: what comes after the first changes nothing.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort());
  // The terminal may be gone before we are.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const stack = await startLocalStack({ signal: ending.signal });
    for (const line of addresses(stack.info, absolute(readConfig(['CFE_DATA_DIR']).CFE_DATA_DIR)))
      console.log(line);
    await ended;
    console.log('Ending …');
    await stack.stop();
    console.log('Ended.');
    return 0;
  } catch (error) {
    if (ending.signal.aborted) return 0;
    console.error(inWords(error));
    return 1;
  }
}

/** What a person can act on is said without frames. */
function inWords(error: unknown): string {
  if (error instanceof StackError || error instanceof ConfigurationError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await runUntilSignal());
