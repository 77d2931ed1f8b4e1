/**
 * `npm run vulnerabilities`: asks the registry's database which of our packages have known vulnerabilities. Fails on
 * high and critical ones that tools/supply/vulnerabilityExceptions.json does not name with a reason. Where there is no
 * database to ask it says so, and fails only with `--must-run`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeAudit } from './supply/vulnerabilities.ts';

const EXCEPTIONS = join(import.meta.dirname, 'supply/vulnerabilityExceptions.json');
const PATIENCE_MILLISECONDS = 60_000;

const { stdout } = spawnSync('npm', ['audit', '--json'], {
  encoding: 'utf8',
  cwd: join(import.meta.dirname, '..'),
  timeout: PATIENCE_MILLISECONDS,
  maxBuffer: 50e6,
});
const exceptions = JSON.parse(readFileSync(EXCEPTIONS, 'utf8')) as Record<string, string>;
const { checked, lines, failed } = judgeAudit(stdout, exceptions);
for (const line of lines) console.log(`vulnerabilities: ${line}`);
process.exitCode = failed || (!checked && process.argv.includes('--must-run')) ? 1 : 0;
