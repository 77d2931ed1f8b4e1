import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const PACKED = ['package.json', 'README.md'];

/** Builds the package of sdk/ anew, packs it as npm publishes it, and answers the path of the file in `folder`. */
export function packSdk(folder: string): string {
  const build = mkdtempSync(join(tmpdir(), 'cfe-sdk-'));
  try {
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    execFileSync(compiler, ['-p', join(ROOT, 'sdk'), '--outDir', join(build, 'dist')], { stdio: 'inherit' });
    for (const name of PACKED) cpSync(join(ROOT, 'sdk', name), join(build, name));
    const said = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: build,
      encoding: 'utf8',
    });
    const [{ filename }] = JSON.parse(said) as [{ filename: string }];
    return join(folder, filename);
  } finally {
    rmSync(build, { recursive: true });
  }
}
