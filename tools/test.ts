import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServices } from '../test/support/services.ts';

/**
 * `npm test`: brings up what the tests need (PostgreSQL, Temporal), runs Jest over the given arguments, and ends with
 * the line "N passed, N failed". In CI a skipped test counts as a failure.
 */
const jestArguments = process.argv.slice(2);
const inCi = Boolean(process.env['CI']);
/** More than there are cores, unless told: tests of running programs mostly wait. */
const workers = jestArguments.some((argument) => argument.startsWith('--maxWorkers'))
  ? []
  : [`--maxWorkers=${availableParallelism() + 2}`];
const folder = mkdtempSync(join(tmpdir(), 'cfe-test-'));
const report = join(folder, 'report.json');

const services = await startServices({ say: (line) => console.log(`test: ${line}`) });
try {
  process.exitCode = await runJest();
} finally {
  await services.stop();
}
const exitCode = closingLine(process.exitCode ?? 1);
rmSync(folder, { recursive: true, force: true });
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
  interface Report {
    numPassedTests: number;
    numFailedTests: number;
    numFailedTestSuites: number;
    numPendingTests: number;
    testResults: { assertionResults: { status: string; fullName: string }[] }[];
  }
  if (!existsSync(report)) {
    console.log('Jest ended before it could report.\n0 passed, 1 failed');
    return 1;
  }
  const sum = JSON.parse(readFileSync(report, 'utf8')) as Report;
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
