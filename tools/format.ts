import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run format`: Biome formats all but the folders that biome.json excepts; Prettier formats those, because it also
 * formats the markup in their templates. With `-- --check` it writes nothing and fails if something is not formatted.
 */
const root = join(import.meta.dirname, '..');
const { overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as {
  overrides: { includes: string[] }[];
};
const markup = overrides.flatMap(({ includes }) => includes);
const isCheck = process.argv.includes('--check');

const PROGRAMS: readonly [name: string, args: string[]][] = [
  ['biome', ['check', '--error-on-warnings', ...(isCheck ? [] : ['--write']), '.']],
  ['prettier', ['--ignore-unknown', '--log-level=warn', isCheck ? '--check' : '--write', ...markup]],
];
// Without PRETTIER_DEBUG, Prettier skips a template that it cannot read.
const env = { ...process.env, PRETTIER_DEBUG: '1' };
const failed = PROGRAMS.filter(([name, args]) => {
  const { status } = spawnSync(join(root, 'node_modules/.bin', name), args, {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  return status !== 0;
});
process.exit(failed.length === 0 ? 0 : 1);
