/** What `npm run test:containers` does inside of its namespaces: the engine, the stand-ins, the checks. */

import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../../../local/stack/checkout.ts';
import { run } from './cache.ts';
import { Checks } from './checks.ts';
import { openShell } from './documented.ts';
import { startEngine } from './engine.ts';
import type { Parts } from './parts.ts';
import { runScenario } from './scenario.ts';
import { loadStandIns } from './standIns.ts';

const startedAt = performance.now();
const say = (line: string): void => console.log(`containers: ${line}`);

const folder = String(process.argv[2]);
const parts = JSON.parse(readFileSync(join(folder, 'parts.json'), 'utf8')) as Parts;
const engine = await startEngine(folder, parts.compose);
say(
  `Engine ${engine.docker('version', '--format', '{{.Server.Version}}').trim()}, Compose ${parts.composeVersion}, Linux ${release()}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
);
await loadStandIns(engine.docker, parts, say);
say(`ready after ${Math.round((performance.now() - startedAt) / 1_000)} s`);

const checks = new Checks();
const checkout = copyOfCheckout();
const { LD_LIBRARY_PATH: _, ...env } = engine.env;
await runScenario({ checks, engine, checkout, shell: openShell(checkout, env, folder), say });
say(`ended after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
console.log(`${checks.passed} passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);

/** What git would check out, with what is changed and not committed yet; nothing is installed in it. */
function copyOfCheckout(): string {
  const copy = join(folder, 'checkout');
  const files = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: CHECKOUT,
  });
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(CHECKOUT, file), join(copy, file));
  }
  return copy;
}
