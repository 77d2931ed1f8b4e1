/**
 * `npm run test:production-temporal`: the end-to-end tests against the real Temporal server on PostgreSQL, built and set
 * up as docker-compose.temporal.yml runs it. Arguments go to Jest in place of `--selectProjects e2e long`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildServer } from './productionTemporal/build.ts';
import { startProductionTemporal } from './productionTemporal/start.ts';

/** The rule: a test is left out that kills the Temporal server, begins it anew, or is about the one of the local stack or what it holds. */
const LEFT_OUT_FILES = {
  'test/long/stack/': 'about the servers of the local stack',
  'test/long/chaos.test': 'kills the Temporal server',
  'test/long/partsDown.test': 'stops a Temporal server of its own',
  'test/long/backupDrill.test': 'begins the Temporal server anew',
};
const LEFT_OUT_TESTS = { 'temporal killed': 'kills the Temporal server' };

const startedAt = performance.now();
const say = (line: string): void => console.log(`production-temporal: ${line}`);
const minutes = (): string => ((performance.now() - startedAt) / 60_000).toFixed(1);

const build = buildServer(say);
const temporal = await startProductionTemporal(build, say);
say(
  `server ${build.version} on PostgreSQL ${temporal.databaseVersion}, ${temporal.shards} shards, after ${minutes()} minutes`,
);
for (const [what, why] of Object.entries({ ...LEFT_OUT_FILES, ...LEFT_OUT_TESTS }))
  say(`left out: ${what} (${why})`);
try {
  process.exitCode = await runTests(temporal.address);
} finally {
  await temporal.stop();
}
say(`${process.exitCode === 0 ? 'passed' : 'FAILED'} after ${minutes()} minutes`);

function runTests(address: string): Promise<number> {
  const chosen = process.argv.length > 2 ? process.argv.slice(2) : ['--selectProjects', 'e2e', 'long'];
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, '../test.ts'),
      ...chosen,
      ...Object.keys(LEFT_OUT_FILES).map((path) => `--testPathIgnorePatterns=${path}`),
      `--testNamePattern=^(?!.*\\b(${Object.keys(LEFT_OUT_TESTS).join('|')}))`,
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      // What is left out here is no fault, in CI neither.
      env: { ...process.env, CI: '', TEMPORAL_ADDRESS: address, CFE_TEST_STACK_TEMPORAL: address },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
