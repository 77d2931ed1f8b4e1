import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { startServices } from '../test/support/processes/services.ts';

/**
 * `npm test`: brings up what the tests need (PostgreSQL, Temporal), runs Jest over the given arguments, names the
 * slowest files and ends with the line "N passed, N failed". In CI a skipped test counts as a failure.
 *
 * Jest's report is kept as artefacts/tests-<projects>.json. `--record` writes the seconds of the files that ran into
 * test/seconds.json, by which the slowest begin first.
 */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  numPendingTests: number;
  testResults: TestFile[];
}

interface TestFile {
  name: string;
  startTime: number;
  endTime: number;
  assertionResults: { status: string; fullName: string }[];
}

const ROOT = join(import.meta.dirname, '..');
const SECONDS = join(ROOT, 'test/seconds.json');
const record = process.argv.includes('--record');
const jestArguments = process.argv.slice(2).filter((argument) => argument !== '--record');
const inCi = Boolean(process.env['CI']);
/** One more than there are cores, unless told: a test waits for a server now and then. */
const workers = jestArguments.some((argument) => argument.startsWith('--maxWorkers'))
  ? []
  : [`--maxWorkers=${availableParallelism() + 1}`];
const report = join(ROOT, 'artefacts', `tests-${projectsIn(jestArguments).join('-')}.json`);
mkdirSync(join(ROOT, 'artefacts'), { recursive: true });
rmSync(report, { force: true });

const services = await startServices({ say: (line) => console.log(`test: ${line}`) });
try {
  process.exitCode = await runJest();
} finally {
  await services.stop();
}
const exitCode = closingLine(process.exitCode ?? 1);
process.exit(exitCode);

function runJest(): Promise<number> {
  const jest = join(import.meta.dirname, '../node_modules/jest/bin/jest.js');
  const child = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      jest,
      '--json',
      `--outputFile=${report}`,
      ...workers,
      ...jestArguments,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...services.environment } },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Prints the sum of the run and answers the exit code: 0 only when everything ran and passed. */
function closingLine(jestExit: number): number {
  if (!existsSync(report)) {
    console.log('Jest ended before it could report.\n0 passed, 1 failed');
    return 1;
  }
  const sum = JSON.parse(readFileSync(report, 'utf8')) as Report;
  printSlowest(sum.testResults);
  if (record) recordSeconds(sum.testResults);
  const skipped = sum.testResults.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status === 'pending' || status === 'todo')
      .map(({ fullName }) => fullName),
  );
  for (const name of skipped) console.log(`skipped: ${name}`);
  if (inCi && skipped.length > 0)
    console.log('In CI nothing may be skipped: what a test needs is not on this machine.');
  const failed = sum.numFailedTests + (inCi ? skipped.length : 0);
  const broken = jestExit !== 0 && failed === 0 ? Math.max(1, sum.numFailedTestSuites) : 0;
  const aside = !inCi && skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  console.log(`${sum.numPassedTests} passed, ${failed + broken} failed${aside}`);
  return failed + broken === 0 ? 0 : 1;
}

function projectsIn(words: readonly string[]): string[] {
  const rest = words.slice(words.indexOf('--selectProjects') + 1);
  const end = rest.findIndex((word) => word.startsWith('-'));
  return words.includes('--selectProjects') ? rest.slice(0, end === -1 ? undefined : end) : ['all'];
}

function secondsOf({ startTime, endTime }: TestFile): number {
  return (endTime - startTime) / 1_000;
}

function printSlowest(files: readonly TestFile[]): void {
  const slowest = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, 20);
  console.log(`\nThe slowest of ${files.length} files, in seconds (${relative(ROOT, report)}):`);
  for (const file of slowest)
    console.log(`${secondsOf(file).toFixed(1).padStart(7)}  ${relative(ROOT, file.name)}`);
}

function recordSeconds(files: readonly TestFile[]): void {
  const before = JSON.parse(readFileSync(SECONDS, 'utf8')) as Record<string, number>;
  const now = files.map((file) => [relative(ROOT, file.name), Number(secondsOf(file).toFixed(1))] as const);
  const all = Object.entries({ ...before, ...Object.fromEntries(now) }).filter(([name]) =>
    existsSync(join(ROOT, name)),
  );
  const sorted = all.toSorted(([a], [b]) => a.localeCompare(b));
  writeFileSync(SECONDS, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}
