/** The types of the SDK and of test/client, made from openapi.json by a generator from npm with a lock file of its own. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'test/client');
const DOCUMENT = join(ROOT, 'openapi.json');
/** In the checkout. */
export const CLIENT = 'sdk/src/schema.ts';
const FILE = join(ROOT, CLIENT);

/** First line of the types: which document, which generator. */
function heading(): string {
  const digest = createHash('sha256').update(readFileSync(DOCUMENT)).digest('hex');
  const { devDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const generator = `openapi-typescript ${devDependencies['openapi-typescript']}`;
  return `// Made by \`npm run generate\` with ${generator} from openapi.json, sha256 ${digest}.\n`;
}

/** Whether the types were made from today's openapi.json by today's generator. */
export const clientIsInStep = (): boolean => readFileSync(FILE, 'utf8').startsWith(heading());

/** Makes the types anew; needs the npm registry unless its packages are in npm's cache. */
export function writeClient(): void {
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', '--prefer-offline'], {
    cwd: FOLDER,
    stdio: 'inherit',
  });
  execFileSync(join(FOLDER, 'node_modules/.bin/openapi-typescript'), [DOCUMENT, '-o', FILE], {
    stdio: 'inherit',
  });
  rmSync(join(FOLDER, 'node_modules'), { recursive: true });
  writeFileSync(FILE, heading() + readFileSync(FILE, 'utf8'));
  execFileSync(join(ROOT, 'node_modules/.bin/biome'), ['check', '--write', FILE], { stdio: 'ignore' });
}
