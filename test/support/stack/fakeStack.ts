/**
 * `npm start` with a real PostgreSQL and a real Temporal server, and stand-ins for our own programs: a program for tests
 * of the supervisor. Data folder in CFE_DATA_DIR; every port is any free one, unless set.
 */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { addresses } from '../../../local/stack/announce.ts';
import { choosePorts } from '../../../local/stack/processes/ports.ts';
import { startStack } from '../../../local/stack/stack.ts';
import { StackError } from '../../../local/stack/stackError.ts';

const dataDir = process.env['CFE_DATA_DIR'] ?? '';
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const program = (name: string): string => fileURLToPath(new URL(`${name}.ts`, import.meta.url));
const ending = new AbortController();
const ended = new Promise<void>((done) => ending.signal.addEventListener('abort', () => done()));
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort());

try {
  const { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress } = process.env;
  const stack = await startStack({
    dataDir,
    variables: process.env,
    host: '127.0.0.1',
    temporalNamespace: 'default',
    databaseUrl: databaseUrl === undefined ? undefined : () => databaseUrl,
    temporal: temporalAddress === undefined ? undefined : { address: temporalAddress },
    choosePorts: async () => {
      const names = [
        'api',
        'metrics',
        'workerMetrics',
        'console',
        'consoleMetrics',
        'postgres',
        'temporal',
        'temporalUi',
        'simulator',
      ] as const;
      const wishes = names.map((name) => ({ variable: name, purpose: name, port: 0, explicit: false }));
      const chosen = await choosePorts(wishes, say);
      return Object.fromEntries(names.map((name, index) => [name, chosen[index]])) as never;
    },
    programs: {
      simulator: { program: program('fakeSimulator'), needs: [] },
      worker: { program: program('fakeWorker'), needs: ['prepared', 'temporal'] },
      api: { program: program('fakeApi'), needs: ['prepared'] },
      console: { program: program('fakeConsole'), needs: ['prepared'] },
    },
    migrate: async () => undefined,
    prepare: async ({ secrets }) => ({
      live_api_key: secrets.live_api_key ?? `cfe_live_${randomBytes(8).toString('hex')}`,
      test_api_key: secrets.test_api_key ?? `cfe_test_${randomBytes(8).toString('hex')}`,
      console_operator: secrets.console_operator ?? {
        email: 'o@example.com',
        password: 'p',
        totp_secret: 'JBSWY3DPEHPK3PXP',
      },
      console_customer: secrets.console_customer ?? { email: 'c@example.com', password: 'p' },
    }),
    say,
    signal: ending.signal,
  });
  for (const line of addresses(stack.info, dataDir)) say(line);
  await ended;
  await stack.stop();
  process.exit(0);
} catch (error) {
  say(error instanceof StackError ? error.message : String(error));
  process.exit(1);
}
