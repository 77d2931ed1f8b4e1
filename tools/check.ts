import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** `npm run check`: everything that can be said of the sources without running them. All steps run; one fault fails it. */
const bin = (name: string): string => join(import.meta.dirname, '../node_modules/.bin', name);
const STEPS: readonly [title: string, command: string, args: string[]][] = [
  ['format and order of imports', process.execPath, [join(import.meta.dirname, 'format.ts'), '--check']],
  ['lint, with types', bin('oxlint'), ['--type-aware', '--deny-warnings', 'src', 'local', 'test', 'tools']],
  ['types', bin('tsc'), []],
  [
    'walls, pages, versions and settings (test/house)',
    process.execPath,
    ['--experimental-vm-modules', bin('jest'), '--selectProjects', 'house'],
  ],
  [
    'unused files, exports and dependencies',
    bin('knip'),
    ['--no-progress', '--treat-config-hints-as-errors'],
  ],
  // An export that tests need, and that its own file uses too, is marked @internal.
  ['what only tests use', bin('knip'), ['--production', '--no-progress', '--include', 'files,exports']],
  ['openapi.json explains itself', process.execPath, [join(import.meta.dirname, 'openapiLint.ts')]],
  ['generated files are in step', process.execPath, [join(import.meta.dirname, 'generate.ts'), '--check']],
];

const failed = STEPS.filter(([title, command, args]) => {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64e6 });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${title} (${seconds} s)`);
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status !== 0;
});
process.exit(failed.length === 0 ? 0 : 1);
