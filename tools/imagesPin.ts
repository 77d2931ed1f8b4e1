/**
 * `npm run images:pin`: asks the registry which image each name in docker-compose.temporal.yml and the Dockerfile stands
 * for today, and writes docker-compose.images.yml, which holds Compose to those. Writes nothing where a registry does not
 * answer for all of them: no digest is made up. With `--check` it asks nobody, and says which images are not pinned.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageNames, pinFile, resolveDigests, unpinned } from './supply/images.ts';

const CHECKOUT = join(import.meta.dirname, '..');
const TARGET = 'docker-compose.images.yml';
const read = (file: string): string => readFileSync(join(CHECKOUT, file), 'utf8');

const names = imageNames(read('docker-compose.temporal.yml'), read('Dockerfile'));
if (process.argv.includes('--check')) {
  const pins = existsSync(join(CHECKOUT, TARGET)) ? read(TARGET) : undefined;
  const open = unpinned(names, pins);
  for (const name of open) console.log(`images: NOT PINNED ${name}`);
  console.log(`images: ${names.all.length - open.length} of ${names.all.length} pinned by digest`);
} else {
  await pin();
}

async function pin(): Promise<void> {
  try {
    const digests = await resolveDigests(names.all, 'https://registry-1.docker.io');
    writeFileSync(join(CHECKOUT, TARGET), pinFile(names, digests));
    for (const [name, digest] of digests) console.log(`${name}@${digest}`);
    console.log(`wrote ${TARGET}`);
  } catch (error) {
    console.error(`Nothing is pinned: ${error instanceof Error ? error.message : 'unknown'}.`);
    process.exitCode = 1;
  }
}
