import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const SRC = resolve(import.meta.dirname, '../../src');

/** Files of src/ itself that anything may import; temporal.ts and searchAttributes.ts are tables of names. */
const OPEN_TO_ALL = ['errors.ts', 'config.ts', 'logger.ts'];
const TABLES = ['temporal.ts'];
/** Open to all but those that must be pure. */
const FAILPOINTS = 'failpoints.ts';
const WITHOUT_FAILPOINTS = ['domain', 'workflows'];

/** What a folder may import at run time from src/; the folder itself is always allowed. */
const MAY_IMPORT: Record<string, string[]> = {
  domain: [],
  crypto: ['domain'],
  db: ['domain', 'crypto', ...TABLES],
  dgi: ['domain', 'crypto'],
  webhooks: ['domain', 'crypto'],
  workflows: ['domain', ...TABLES],
  gate: ['domain', 'db', ...TABLES],
  activities: ['domain', 'crypto', 'db', 'dgi', 'gate', 'webhooks', ...TABLES],
  commands: ['domain', 'crypto', 'db', 'dgi/xml', ...TABLES],
  metrics: ['domain', 'db'],
  api: ['domain', 'crypto', 'db', 'commands', 'metrics'],
  cli: ['domain', 'crypto', 'db', 'commands', ...TABLES],
  simulator: [],
  outbox: ['db', ...TABLES],
  stack: ['crypto', 'searchAttributes.ts', ...TABLES],
};

/** Packages and parts of Node that a folder must do without. */
const MUST_NOT_LOAD: Record<string, RegExp> = {
  domain: /^(?!zod$|big\.js$)/,
  workflows: /^(?!@temporalio\/(workflow|common)$)/,
  simulator: /^xml-crypto$/,
  webhooks: /^(@mikro-orm\/|@temporalio\/|koa|got$)/,
  dgi: /^(@mikro-orm\/|@temporalio\/|koa|libxml2-wasm|prom-client)/,
  activities: /^(koa|got|prom-client)/,
  metrics: /^(koa|got|@temporalio\/)/,
  gate: /^(koa|got|@temporalio\/)/,
  commands: /^(got|@temporalio\/)/,
  db: /^(koa|got|@temporalio\/)/,
  api: /^@temporalio\//,
  cli: /^(koa|got|@temporalio\/)/,
};

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const importsOf = (file: string): Import[] =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /^\s*(?:import|export)\s+(?<type>type\s+)?(?:[^'";]*?\sfrom\s+)?['"](?<to>[^'"]+)['"]/gm,
    ),
  ].map((match) => ({
    from: file,
    to: match.groups?.['to'] ?? '',
    typeOnly: Boolean(match.groups?.['type']),
  }));

const files = globSync('**/*.ts', { cwd: SRC }).map((name) => join(SRC, name));
const imports = files.flatMap(importsOf);
const folderOf = (file: string): string => relative(SRC, file).split('/')[0] ?? '';
const targetOf = ({ from, to }: Import): string => relative(SRC, resolve(dirname(from), to));
const isOwn = ({ to }: Import): boolean => to.startsWith('.');
const show = (one: Import): string => `${relative(SRC, one.from)} imports ${one.to}`;

describe('the walls between the folders of src/', () => {
  test('the imports are found at all', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  test.each(Object.keys(MAY_IMPORT))('%s imports only what it may at run time', (folder) => {
    const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])];
    if (!WITHOUT_FAILPOINTS.includes(folder)) allowed.push(FAILPOINTS);
    const strangers = imports
      .filter((one) => folderOf(one.from) === folder && isOwn(one) && !one.typeOnly)
      .filter((one) => {
        const target = targetOf(one);
        return (
          !OPEN_TO_ALL.includes(target) &&
          !allowed.some((wall) => target === wall || target.startsWith(`${wall}/`))
        );
      });
    expect(strangers.map(show)).toEqual([]);
  });

  test.each(Object.keys(MUST_NOT_LOAD))('%s loads no package that is not for it', (folder) => {
    const forbidden = MUST_NOT_LOAD[folder] ?? /$./;
    const strangers = imports.filter(
      (one) => folderOf(one.from) === folder && !isOwn(one) && !one.typeOnly && forbidden.test(one.to),
    );
    expect(strangers.map(show)).toEqual([]);
  });

  test('what workflows load of the domain loads nothing itself', () => {
    const loaded = imports
      .filter((one) => folderOf(one.from) === 'workflows' && isOwn(one) && !one.typeOnly)
      .map(targetOf)
      .filter((target) => !target.startsWith('workflows/'));
    const burdened = imports.filter((one) => loaded.includes(relative(SRC, one.from)) && !one.typeOnly);
    expect(burdened.map(show)).toEqual([]);
  });

  test('nothing but main imports main, and nothing but main and the stack imports the stack', () => {
    const strangers = imports.filter((one) => {
      const target = folderOf(resolve(SRC, targetOf(one)));
      if (!isOwn(one) || folderOf(one.from) === 'main') return false;
      return target === 'main' || (target === 'stack' && folderOf(one.from) !== 'stack');
    });
    expect(strangers.map(show)).toEqual([]);
  });

  test('the domain reads no clock and no environment', () => {
    const impure = files.filter(
      (file) =>
        folderOf(file) === 'domain' &&
        /\bnew Date\(\)|\bDate\.now\(|\bprocess\.|Math\.random\(/.test(readFileSync(file, 'utf8')),
    );
    expect(impure.map((file) => relative(SRC, file))).toEqual([]);
  });

  test('only config.ts says process.env', () => {
    const readers = files.filter(
      (file) => relative(SRC, file) !== 'config.ts' && /process\.env\b/.test(readFileSync(file, 'utf8')),
    );
    expect(readers.map((file) => relative(SRC, file))).toEqual([]);
  });

  test('the names of Node’s own modules carry the prefix node:', () => {
    const bare = imports.filter(({ to }) => !to.startsWith('node:') && builtinModules.includes(to));
    expect(bare.map(show)).toEqual([]);
  });
});
