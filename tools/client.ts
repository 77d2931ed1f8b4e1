/**
 * Makes the typed client of test/client from openapi.json with a generator from npm (its own lock file; --write needs
 * the network once), or with --check says whether it was made from today's openapi.json (which needs none).
 * `node tools/client.ts --write|--check`
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'test/client');
const DOCUMENT = join(ROOT, 'openapi.json');
const CLIENT = join(FOLDER, 'api.d.ts');

/** First line of the client: which document, which generator. */
function heading(): string {
  const digest = createHash('sha256').update(readFileSync(DOCUMENT)).digest('hex');
  const { devDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const generator = `openapi-typescript ${devDependencies['openapi-typescript']}`;
  return `// Made by \`node tools/client.ts --write\` with ${generator} from openapi.json, sha256 ${digest}.\n`;
}

function run(mode: string | undefined): number {
  if (mode === '--write') {
    execFileSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: FOLDER, stdio: 'inherit' });
    execFileSync(join(FOLDER, 'node_modules/.bin/openapi-typescript'), [DOCUMENT, '-o', CLIENT], {
      stdio: 'inherit',
    });
    writeFileSync(CLIENT, heading() + readFileSync(CLIENT, 'utf8'));
    execFileSync(join(ROOT, 'node_modules/.bin/biome'), ['check', '--write', CLIENT], { stdio: 'ignore' });
    return 0;
  }
  if (mode !== '--check') {
    console.error('usage: node tools/client.ts --write|--check');
    return 2;
  }
  if (readFileSync(CLIENT, 'utf8').startsWith(heading())) return 0;
  console.error('test/client/api.d.ts was made from another openapi.json; run node tools/client.ts --write');
  return 1;
}

if (import.meta.main) process.exitCode = run(process.argv[2]);
