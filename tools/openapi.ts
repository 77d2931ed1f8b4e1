/**
 * Writes openapi.json from the routes of the API, or with --check says whether it is fresh.
 * `node tools/openapi.ts --write|--check`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { openApiDocument } from '../src/api/openapi/document.ts';
import { readExamples } from '../src/api/openapi/examples.ts';
import { ROUTES } from '../src/api/routes/index.ts';

const FILE = resolve(import.meta.dirname, '../openapi.json');

function run(mode: string | undefined): number {
  const fresh = `${JSON.stringify(openApiDocument(ROUTES, readExamples()), null, 2)}\n`;
  if (mode === '--write') {
    writeFileSync(FILE, fresh);
    return 0;
  }
  if (mode !== '--check') {
    console.error('usage: node tools/openapi.ts --write|--check');
    return 2;
  }
  if (readFileSync(FILE, 'utf8') === fresh) return 0;
  console.error('openapi.json is not what the routes say; run node tools/openapi.ts --write');
  return 1;
}

if (import.meta.main) process.exitCode = run(process.argv[2]);
