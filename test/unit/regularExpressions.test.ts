import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { isSafePattern } from 'redos-detector';
import { processorMilliseconds } from '../support/processes/processorTime.ts';

/**
 * No text that reaches a regular expression of src/ or local/ makes it step back without bound: the library looks at every input
 * that a pattern can meet. Where it cannot promise that, the pattern stands here, with what bounds its input and the
 * worst that the input can be, which must cost next to nothing.
 */
const BOUNDED: Readonly<Record<string, readonly [bound: string, worst: string]>> = {
  // From callers and from the authority.
  [String.raw`src/api/prefer.ts /(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^,"])+/g`]: [
    'LONGEST_FIELD, 256 characters',
    '"\\'.repeat(128),
  ],
  [String.raw`src/api/body.ts /"[^"\\]*"/g`]: ['LONGEST_FIELD, 256 characters', `"${'\\"'.repeat(127)}`],
  [String.raw`src/dgi/xml/parse.ts /^(?:\xEF\xBB\xBF)?<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/`]:
    ['DECLARATION_BYTES, 200', `<?xml ${' encoding='.repeat(19)}`],
  [String.raw`src/dgi/answers.ts /no signature in|not covered by signature|unknown (signature|digest|canonicalization|transform)\w* ?algorithm|unknown \w+method algorithm|security token|signature verification|digest value mismatch|certificate is not trusted/i`]:
    ['LONGEST_FAULT, 1,000 characters', `unknown ${'digestmethod'.repeat(82)}`],
  [String.raw`src/dgi/wsSecurity.ts /<!\[CDATA\[([\s\S]*?)\]\]>/g`]: [
    'our own calls (writeCall): every section has its end',
    `<![CDATA[${'<![CDATA['.repeat(100_000)}]]>`,
  ],
  [String.raw`src/domain/values/email.ts /^[^\s@<>()[\]\\,;:"]{1,64}@[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?)+$/u`]:
    ['linear: each label is gone back over once', `a@${`${'a-'.repeat(5_000)}a.`.repeat(10)}`],
  [String.raw`src/print/body.ts /(?:\r\n|\r(?!\n)|\n)[^\S\r\n]*(?:\r\n|\r|\n)\s*/`]: [
    'LENGTHS.adenda, 10,000 characters',
    `\r\n${' '.repeat(98)}x`.repeat(99),
  ],
  [String.raw`src/domain/values/figures.ts /0+$/`]: [
    'the decimals of a figure in our own signed XML',
    `${'0'.repeat(2_000)}1`,
  ],
  // From operators, files of the project and programs that it starts.
  [String.raw`src/domain/people/payment.ts /\/+$/`]: [
    'the path of CFE_CHECKOUT_URL',
    `${'/'.repeat(2_000)}a`,
  ],
  [String.raw`src/crypto/x509.ts /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g`]: [
    'a file of certificates',
    '-----BEGIN CERTIFICATE-----'.repeat(400),
  ],
  [String.raw`src/api/app.ts /\{(\w+)\}/g`]: ['paths of the routes', '{a'.repeat(100)],
  [String.raw`src/console/app.ts /\{(\w+)\}/g`]: ['paths of the pages', '{a'.repeat(100)],
  [String.raw`src/console/form.ts /\{(\w+)\}/g`]: ['paths of the forms', '{a'.repeat(100)],
  [String.raw`src/console/page.ts /\{(\w+)\}/g`]: ['paths of the pages', '{a'.repeat(100)],
  [String.raw`local/demo/receipts.ts /\{(today|[A-Z_]+)\}/g`]: [
    'the documents of the demo',
    '{A'.repeat(5_000),
  ],
  [String.raw`local/stack/temporal/temporalRelease.ts /Server (\S+?)[,)]/`]: [
    'what Temporal says of itself',
    `Server ${'a'.repeat(5_000)}`,
  ],
  [String.raw`local/stack/temporal/versions.ts /(\d+)\.(\d+)(?:\.(\d+))?/`]: [
    'what a program says of itself',
    '1'.repeat(2_000),
  ],
  // The simulator serves tests and demonstrations.
  [String.raw`local/simulator/xml/read.ts /^\uFEFF?\s*<\?xml\s[^>]*\?>/`]: [
    'linear',
    `<?xml ${'?'.repeat(100_000)}`,
  ],
  [String.raw`local/simulator/xml/schemas.ts /\{[^}]*\}/g`]: ['names in the schemas', '{'.repeat(2_000)],
  [String.raw`local/simulator/judge/directives.ts /(?:^|\s)SIM\s+(.+)$/`]: [
    'the name of a line',
    ' SIM'.repeat(20),
  ],
  [String.raw`local/simulator/judge/report/receiveReport.ts /<(?:\w+:)?IDEmisor>\s*(\d{1,10})\s*</`]: [
    'linear',
    '<a'.repeat(50_000),
  ],
  [String.raw`local/simulator/judge/receiveSobre.ts /<(?:\w+:)?Idemisor>\s*(\d{1,10})\s*</`]: [
    'linear',
    '<a'.repeat(50_000),
  ],
};
const MOST_MILLISECONDS = 2_500;

/** Patterns that are put together at run time, from constants. */
const BUILT = [
  'local/simulator/judge/format/values.ts',
  'local/simulator/portal/foreignCfes.ts',
  'src/api/receipts/verificationPage.ts',
  'src/crypto/apiKeys.ts',
  'src/domain/values/searchText.ts',
];

const ROOT = join(import.meta.dirname, '../..');
interface Pattern {
  name: string;
  source: string;
  flags: string;
}
const literals: Pattern[] = [];
const built: string[] = [];
for (const file of globSync('{src,local}/**/*.ts', { cwd: ROOT })) {
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags, callee } = node as Record<string, unknown>;
    if (type === 'RegExpLiteral') {
      const [source, options] = [String(pattern), String(flags)];
      literals.push({ name: `${file} /${source}/${options}`, source, flags: options });
    }
    const isCall = type === 'NewExpression' || type === 'CallExpression';
    if (isCall && (callee as { value?: unknown }).value === 'RegExp') built.push(file);
    Object.values(node).forEach(collect);
  };
  collect(parseSync(readFileSync(join(ROOT, file), 'utf8'), { syntax: 'typescript', target: 'es2024' }));
}

const isBounded = ({ source, flags }: Pick<Pattern, 'source' | 'flags'>): boolean =>
  isSafePattern(source, {
    caseInsensitive: flags.includes('i'),
    unicode: flags.includes('u'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    maxSteps: 20_000,
  }).safe;

test('the library sees what is quadratic', () => {
  expect(isBounded({ source: String.raw`^application\/json[ \t]*;?[ \t]*$`, flags: 'i' })).toBe(false);
});

test('every pattern takes the worst input, or has its bound listed', () => {
  expect(literals.length).toBeGreaterThan(100);
  const unlisted = literals.filter(({ name }) => !Object.hasOwn(BOUNDED, name));
  expect(unlisted.filter((pattern) => !isBounded(pattern)).map(({ name }) => name)).toEqual([]);
  const names = literals.map(({ name }) => name);
  expect(Object.keys(BOUNDED).filter((name) => !names.includes(name))).toEqual([]);
});

test('patterns are built from constants only, in few places', () => {
  expect([...new Set(built)].sort()).toEqual(BUILT);
});

test.each(Object.entries(BOUNDED))('%s takes its worst input', (name, [, worst]) => {
  const pattern = literals.find((one) => one.name === name);
  const expression = new RegExp(pattern?.source ?? '', pattern?.flags);
  expect(processorMilliseconds(() => worst.match(expression))).toBeLessThan(MOST_MILLISECONDS);
});
