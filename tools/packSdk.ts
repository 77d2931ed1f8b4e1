/** `npm run sdk`: builds the TypeScript package of sdk/ and packs it into artefacts/. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packSdk } from './sdk/pack.ts';

const folder = join(import.meta.dirname, '../artefacts');
mkdirSync(folder, { recursive: true });
console.log(packSdk(folder));
