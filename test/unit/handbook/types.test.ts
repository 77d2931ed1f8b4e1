import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { GUIDE_LANGUAGES, SLUGS } from '../../../src/handbook/guides.ts';
import { folderWithSdk, walkOf, walkOfReadme } from '../../support/api/guides.ts';
import { runToEnd } from '../../support/processes/processes.ts';

const INSTALLED = resolve(import.meta.dirname, '../../../node_modules');

/** What `tsc --init` gives to whoever begins a program, as far as it says what is a fault. */
const OF_THE_READER = {
  target: 'esnext',
  module: 'nodenext',
  types: ['node'],
  typeRoots: [join(INSTALLED, '@types')],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  moduleDetection: 'force',
  // There it is true. But what the package's declarations fail to find would be `any`, and everything would fit.
  skipLibCheck: false,
};

/** The programs that e2e/guides runs, by the page that they stand on; Node strips their types without looking. */
const PROGRAMS = [
  ...GUIDE_LANGUAGES.flatMap((language) =>
    SLUGS.map((slug) => [`${slug}.${language}`, walkOf(language, slug, 'ts').program] as const),
  ),
  ['readme', walkOfReadme().program] as const,
];

test('what the guides and the README have their readers type in TypeScript fits the types of the package', async () => {
  const folder = folderWithSdk();
  try {
    for (const [page, program] of PROGRAMS) {
      expect([page, program]).toEqual([page, expect.stringContaining("from 'cfe-sdk'")]);
      writeFileSync(join(folder, `${page}.ts`), program);
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OF_THE_READER }));
    const compiler = { command: join(INSTALLED, '.bin/tsc'), cwd: folder };
    const { code, stdout, stderr } = await runToEnd(['--pretty', 'false'], compiler);
    expect({ code, faults: stdout.split('\n'), stderr }).toEqual({ code: 0, faults: [''], stderr: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
