/**
 * `npm run test:containers`: builds the image and runs the compose file on a real container engine, made of Debian's
 * packages in namespaces of its own, with stand-ins for the images of others. docs/production.md is executed as it
 * stands. Ends with `N passed, N failed`. A machine that refuses containers is no failure, unless `--must-run` (or
 * CFE_CONTAINERS_MUST_RUN=1) says that they must run.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needDiskSpace } from '../../local/stack/postgres/diskSpace.ts';
import { CACHE } from './containers/cache.ts';
import { refusalOfMachine } from './containers/machine.ts';
import { engineEnvironment, obtainParts } from './containers/parts.ts';

const BYTES_NEEDED = 8e9;
const say = (line: string): void => console.log(`containers: ${line}`);

const refusal = refusalOfMachine();
if (refusal === undefined) {
  process.exitCode = await runInside();
} else {
  const mustRun = process.argv.includes('--must-run') || process.env['CFE_CONTAINERS_MUST_RUN'] === '1';
  say(`this machine cannot run containers: ${refusal}`);
  say(mustRun ? 'FAILED, for they must run here' : 'left out');
  process.exitCode = mustRun ? 1 : 0;
}

/**
 * Runs everything else as processes of a namespace that dies with the first of them, which ends when our pipe to it
 * closes: whatever happens to us, nothing is left running. What remains is removed by the shell around it.
 */
async function runInside(): Promise<number> {
  mkdirSync(CACHE, { recursive: true });
  needDiskSpace(CACHE, BYTES_NEEDED, 'The container engine');
  const parts = await obtainParts(say);
  const folder = mkdtempSync(join(CACHE, 'run-'));
  writeFileSync(join(folder, 'parts.json'), JSON.stringify(parts));
  const child = spawn(
    '/bin/sh',
    [
      join(import.meta.dirname, 'containers', 'namespaces.sh'),
      folder,
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'containers', 'inside.ts'),
      folder,
    ],
    { stdio: ['pipe', 'inherit', 'inherit'], detached: true, env: engineEnvironment(parts.engine) },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.stdin.destroy());
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
