import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');

/** Files of src/ itself that anything may import; temporal.ts and searchAttributes.ts are tables of names. */
const OPEN_TO_ALL = ['errors.ts', 'config.ts', 'logger.ts'];
const TABLES = ['temporal.ts'];
/** The variables of what is local, beside those of the service. */
const LOCAL_CONFIG = 'local/config.ts';
/** Open to all but those that must be pure. */
const FAILPOINTS = 'failpoints.ts';
const WITHOUT_FAILPOINTS = ['domain', 'workflows'];

/** What a folder of src/ and local/ may import of them at run time; the folder itself is always allowed. */
const MAY_IMPORT: Record<string, string[]> = {
  domain: [],
  crypto: ['domain'],
  db: ['domain', 'crypto', ...TABLES],
  words: ['domain'],
  dgi: ['domain', 'words', 'crypto'],
  print: ['domain', 'words', 'crypto', 'dgi/xml'],
  webhooks: ['domain', 'crypto'],
  revocation: ['domain', 'crypto', 'webhooks'],
  workflows: ['domain', ...TABLES],
  gate: ['domain', 'db', ...TABLES],
  mail: ['domain', 'page'],
  activities: ['domain', 'words', 'crypto', 'db', 'dgi', 'gate', 'webhooks', 'mail', 'print', ...TABLES],
  commands: ['domain', 'crypto', 'db', 'dgi/xml', ...TABLES],
  metrics: ['domain', 'db'],
  page: ['domain', 'words'],
  handbook: ['domain', 'words', 'page'],
  http: [],
  views: ['domain', 'words'],
  lists: ['domain', 'words', 'crypto', 'db'],
  api: [
    'domain',
    'words',
    'crypto',
    'db',
    'lists',
    'commands',
    'views',
    'http',
    'metrics',
    'page',
    'print',
    'handbook',
  ],
  console: ['domain', 'words', 'crypto', 'db', 'lists', 'commands', 'views', 'http', 'metrics', 'page'],
  cli: ['domain', 'words', 'crypto', 'db', 'lists', 'commands', 'views', ...TABLES],
  outbox: ['db', 'searchAttributes.ts', ...TABLES],
  'local/simulator': [],
  'local/stack': [
    'domain',
    'crypto',
    'db',
    'commands',
    'wiring',
    'searchAttributes.ts',
    LOCAL_CONFIG,
    ...TABLES,
  ],
  // A customer's program, written with the customers' package.
  'local/demo': ['sdk'],
  'local/main': [
    'domain',
    'main',
    'wiring',
    'local/simulator',
    'local/stack',
    'local/demo',
    'sdk',
    LOCAL_CONFIG,
  ],
};

/** Packages and parts of Node that a folder must do without. */
const MUST_NOT_LOAD: Record<string, RegExp> = {
  domain: /^(?!zod$|big\.js$)/,
  workflows: /^(?!@temporalio\/(workflow|common)$)/,
  'local/simulator': /^xml-crypto$/,
  print: /^(@mikro-orm\/|@temporalio\/|koa|got|prom-client)/,
  webhooks: /^(@mikro-orm\/|@temporalio\/|koa)/,
  page: /^(?!qr$)/,
  mail: /^(@mikro-orm\/|@temporalio\/|koa|got)/,
  dgi: /^(@mikro-orm\/|@temporalio\/|koa|libxml2-wasm|prom-client)/,
  activities: /^(koa|got|prom-client)/,
  metrics: /^(koa|got|@temporalio\/)/,
  gate: /^(koa|got|@temporalio\/)/,
  commands: /^(got|@temporalio\/)/,
  db: /^(koa|got|@temporalio\/)/,
  api: /^@temporalio\//,
  http: /^(@mikro-orm\/|@temporalio\/|koa|got|prom-client)/,
  console: /^(@temporalio\/|@mikro-orm\/|got)/,
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

const files = globSync('{src,local}/**/*.ts', { cwd: ROOT }).map((name) => join(ROOT, name));
const imports = files.flatMap(importsOf);
/** Where a file stands in the checkout, without `src/`. */
const placeOf = (file: string): string => relative(ROOT, file).replace(/^src\//, '');
const roomOf = (place: string): string =>
  place
    .split('/')
    .slice(0, place.startsWith('local/') ? 2 : 1)
    .join('/');
const folderOf = (file: string): string => roomOf(placeOf(file));
const targetOf = ({ from, to }: Import): string => placeOf(resolve(dirname(from), to));
const isOwn = ({ to }: Import): boolean => to.startsWith('.');
/** One way that leads back to where it began, if there is any. */
function circleIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const from = (node: string, path: string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of edges.get(node) ?? []) {
      const circle = from(next, [...path, node]);
      if (circle) return circle;
    }
    done.add(node);
    return undefined;
  };
  return edges
    .keys()
    .map((node) => from(node, []))
    .find(Boolean);
}

const show = (one: Import): string => `${placeOf(one.from)} imports ${one.to}`;

describe('the walls between the folders of src/ and local/', () => {
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
    const burdened = imports.filter((one) => loaded.includes(placeOf(one.from)) && !one.typeOnly);
    expect(burdened.map(show)).toEqual([]);
  });

  test('only programs and the wiring import the wiring; no file of the service imports what is local', () => {
    const strangers = imports.filter(isOwn).filter((one) => {
      const [from, target] = [folderOf(one.from), roomOf(targetOf(one))];
      if (target.startsWith('local')) return !from.startsWith('local/');
      return (
        ['main', 'wiring'].includes(target) && !['main', 'wiring', 'local/main', 'local/stack'].includes(from)
      );
    });
    expect(strangers.map(show)).toEqual([]);
  });

  test.each(Object.entries({ files: (path: string) => path, folders: folderOf }))(
    'no circle of %s, type-only imports included',
    (_, nodeOf) => {
      const edges = new Map<string, Set<string>>();
      for (const one of imports.filter(isOwn)) {
        const [from, to] = [nodeOf(one.from), nodeOf(resolve(dirname(one.from), one.to))];
        if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
      }
      expect(circleIn(edges)?.map((node) => relative(ROOT, resolve(ROOT, node)))).toBeUndefined();
    },
  );

  test('docs/architecture.md lists every program and every folder, with what it may import', () => {
    const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
    const rows = Object.fromEntries(
      [...page.matchAll(/^\| `(?:src\/)?([\w./]+)`.*?\| ([^|]*) \|$/gm)].map(([, name, last]) => [
        name,
        last,
      ]),
    );
    const programs = globSync('{src,local}/main/*', { cwd: ROOT }).map((path) =>
      path.replace('src/main/', ''),
    );
    const folders = new Set(files.map(folderOf).filter((name) => !name.includes('.')));
    expect(Object.keys(rows).sort()).toEqual([...programs, ...folders].sort());
    for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
      const shown = allowed.filter((name) => !name.endsWith('.ts')).join(', ');
      expect([folder, rows[folder]]).toEqual([folder, shown || '–']);
    }
  });

  test('the domain reads no clock and no environment', () => {
    const impure = files.filter(
      (file) =>
        folderOf(file) === 'domain' &&
        /\bnew Date\(\)|\bDate\.now\(|\bprocess\.|Math\.random\(/.test(readFileSync(file, 'utf8')),
    );
    expect(impure.map(placeOf)).toEqual([]);
  });

  test('only config.ts says process.env', () => {
    const readers = files.filter(
      (file) =>
        !/^(config\.ts|local\/main\/cfe\.ts)$/.test(placeOf(file)) &&
        /process\.env\b/.test(readFileSync(file, 'utf8')),
    );
    expect(readers.map(placeOf)).toEqual([]);
  });

  test('the names of Node’s own modules carry the prefix node:', () => {
    const bare = imports.filter(({ to }) => !to.startsWith('node:') && builtinModules.includes(to));
    expect(bare.map(show)).toEqual([]);
  });
});

/** The only files that take the time, and why each may. */
const MAY_TAKE_THE_TIME = {
  'test/integration/api/people/failedAuthentication.test.ts':
    'a budget that fills with time is reckoned by it',
  'test/integration/commands/enterprises/transferEnterprise.test.ts': 'where a clock of its own begins',
  'test/integration/simulator/sobres.test.ts': 'a moment that is told lies between two of ours',
  'test/long/failures/partsDown.test.ts':
    'that Temporal is away holds nobody up: with patience, and alone on the machine',
  'test/support/api/abuse.ts': 'an attack holds nobody else up: with patience, beside what a quiet read took',
  'test/support/console/consoleAttack.ts': 'the same, of the console',
  'test/support/console/consoleData.ts': 'tells who builds the large tables how long each took',
};

/** A stopwatch; a moment that is kept, to be taken from another; one, not a constant, that is taken from the present. */
const TAKES_THE_TIME = [
  /\bperformance\.now\(/,
  /([=:]|push\()\s*Date\.now\(\)(?!\s*[-+*/%])/,
  /\bDate\.now\(\) - (?![A-Z\d]|[\w.]+ \* )/,
];

test('no test asserts how long something took: the machine may be busy', () => {
  const takers = globSync('test/{unit,integration,workflows,e2e,long,support}/**/*.ts', { cwd: ROOT }).filter(
    (name) => {
      const text = readFileSync(join(ROOT, name), 'utf8').replaceAll(/\/.*\//g, '');
      return TAKES_THE_TIME.some((pattern) => pattern.test(text));
    },
  );
  expect(takers.toSorted()).toEqual(Object.keys(MAY_TAKE_THE_TIME));
});

test.each([
  ['const begun = performance.now();', true],
  ['diary.push({ ...input, at: Date.now() });', true],
  ['const before = Date.now();', true],
  ['moments.push(Date.now());', true],
  ['expect(Date.now() - begun).toBeLessThan(5);', true],
  ['const soon = Date.now() + 3_000;', false],
  ['since: new Date(Date.now() - DAY),', false],
  ['at: new Date(Date.now() - minutes * 60_000),', false],
])('that rule, of: %s', (line, isTaken) => {
  expect(TAKES_THE_TIME.some((pattern) => pattern.test(line))).toBe(isTaken);
});
