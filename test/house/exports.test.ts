import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) +(\w+)/gm;

/** The names that a text exports; a type and the schema of its name count once. */
const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(EXPORTED)].map(([, name = '']) => name));

test('no two files of src export one name: what is imported by it is known without its path', () => {
  const files = globSync('src/**/*.{ts,mjs}', { cwd: ROOT }).map((file) => ({
    file,
    names: namesIn(readFileSync(join(ROOT, file), 'utf8')),
  }));
  const byName = Map.groupBy(
    files.flatMap(({ file, names }) => [...names].map((name) => ({ name, file }))),
    ({ name }) => name,
  );
  const shared = [...byName].filter(([, found]) => found.length > 1);

  expect(byName.size).toBeGreaterThan(2_000);
  expect(shared.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
});

test('of a text, exported names are found', () => {
  const text = 'export const Rut = 1;\nexport type Rut = 2;\nconst own = 3;\nexport async function take() {}';
  expect([...namesIn(text)]).toEqual(['Rut', 'take']);
});
