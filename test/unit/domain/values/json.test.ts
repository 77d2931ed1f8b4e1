import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JsonNumber } from '../../../../src/domain/values/decimal.ts';
import { readJson } from '../../../../src/domain/values/json.ts';

/** What readJson made of a sound text, numbers as `#` and their text. */
function read(text: string): unknown {
  const json = readJson(text);
  if (!json.ok) throw new Error(`not read: ${JSON.stringify(json.faults)}`);
  const shown = (value: unknown): unknown => {
    if (value instanceof JsonNumber) return `#${value.text}`;
    if (Array.isArray(value)) return value.map(shown);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
  };
  return shown(json.value);
}

/** Path and code of each fault. */
function faults(text: string): string[] {
  const json = readJson(text);
  return json.ok ? [] : json.faults.map(({ path, code }) => `${path} ${code}`);
}

describe('numbers', () => {
  test.each([
    '0',
    '-0',
    '0.1',
    '2.0000',
    '122.005',
    '1e2',
    '1E+400',
    '12345678901234567890.123456789',
    '-1.5e-7',
  ])('%s stays as it is written', (text) => {
    expect(read(`{"a":[${text}]}`)).toEqual({ a: [`#${text}`] });
  });
});

describe('a key given twice', () => {
  test.each<[string, string[]]>([
    ['{"a":1,"a":2}', ['/a']],
    ['{"a":1,"a":1}', ['/a']],
    ['{"a":"x","\\u0061":"x"}', ['/a']],
    ['{"a":1,"a":2,"a":3}', ['/a', '/a']],
    ['{"a":{"b":1,"c":{"d":1,"d":1}},"b":{"b":1}}', ['/a/c/d']],
    ['{"a":[{"b":1},{"b":1,"b":1}]}', ['/a/1/b']],
    ['{"a":[1,[2,{"b":1,"b":1}]]}', ['/a/1/1/b']],
    ['{"a/b":1,"a/b":1,"~":1,"~":2}', ['/a~1b', '/~0']],
    ['{"":1,"":1}', ['/']],
    ['{"__proto__":1,"__proto__":2}', ['/__proto__']],
    ['{"\\"":1,"\\"":1}', ['/"']],
  ])('is told in %s', (text, paths) => {
    expect(faults(text)).toEqual(paths.map((path) => `${path} body.duplicate_key`));
  });

  test('is told a thousand times and no more, however deep', () => {
    const deep = (levels: number, inside: string) => '{"a":'.repeat(levels) + inside + '}'.repeat(levels);
    const told = faults(deep(30, `{${Array.from({ length: 5_000 }, () => '"b":1').join(',')}}`));

    expect(told).toHaveLength(1_001);
    expect(told[0]).toBe(`${'/a'.repeat(30)}/b body.duplicate_key`);
    expect(told.at(-1)).toBe(' body.more_faults');
  });

  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"{\\"a\\":1,\\"a\\":1}","b":["a","a"]}',
    '{"a":1,"A":1," a":1}',
    '{"a\\\\":1,"a":2}',
    '{"a":[],"b":{},"c":"}","d":"]","e":","}',
  ])('is not seen where there is none: %s', (text) => {
    expect(faults(text)).toEqual([]);
  });
});

describe('keys that other languages stumble over', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is a key like any other',
    (key) => {
      const json = readJson(`{"${key}":{"polluted":true}}`);

      expect(json.ok && Object.keys(json.value as object)).toEqual([key]);
      expect(json.ok && Object.getPrototypeOf(json.value)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );
});

describe('what is not JSON', () => {
  test.each([
    '',
    ' ',
    '{',
    '}',
    '{]',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    '{a:1}',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    'Infinity',
    '0x10',
    'undefined',
    'nul',
    '"a',
    '"\t"',
    '"\\x"',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '[1 2]',
    '1 2',
    '{}{}',
    '// x\n{}',
    '"\\u12"',
    '\u00a0{}',
  ])('%j is told so', (text) => {
    expect(faults(text)).toEqual([' body.malformed']);
  });

  test('the message says where, and quotes nothing', () => {
    const json = readJson('{"password":\n  "hunter2" oops}');

    expect(json).toEqual({
      ok: false,
      faults: [{ path: '', code: 'body.malformed', message: 'must be JSON (line 2, column 13).' }],
    });
  });

  test('nesting without end is refused before it costs anything', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

    expect(faults(nested(32))).toEqual([]);
    expect(faults(nested(33))).toEqual([' body.malformed']);
    expect(faults('['.repeat(1_000_000))).toEqual([' body.malformed']);
    expect(faults('{"a":'.repeat(200_000))).toEqual([' body.malformed']);
  });

  test('brackets in texts nest nothing', () => {
    expect(faults(JSON.stringify(['['.repeat(1000), '{"'.repeat(1000)]))).toEqual([]);
  });
});

test('whatever JSON.stringify writes is read back the same, and only that is taken which JSON.parse takes', () => {
  const asJson = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, one: unknown) =>
      typeof one === 'number' ? `#${JSON.stringify(one)}` : one,
    );
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(read(JSON.stringify(value))).toEqual(asJson(value));
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' ', '.', '-', 'e', 'true'),
      }),
      (text) => {
        let sound = true;
        try {
          JSON.parse(text);
        } catch {
          sound = false;
        }
        expect(faults(text).includes(' body.malformed')).toBe(!sound);
      },
    ),
    { numRuns: 2000 },
  );
});

describe('values', () => {
  const list = (length: number, value = '1') => `[${Array(length).fill(value).join(',')}]`;

  test.each([
    ['20,000 are read', list(20_000), []],
    ['one more is not', list(20_001), [' body.too_many_values']],
    ['wherever they stand', `[${list(10_000)},{"a":${list(10_001)}}]`, [' body.too_many_values']],
    [
      'names count as their values do',
      `{${Array.from({ length: 20_001 }, (_, i) => `"${i}":1`).join(',')}}`,
      [' body.too_many_values'],
    ],
    ['commas within strings do not count', JSON.stringify([',\\",'.repeat(20_000)]), []],
    ['what is no JSON may be too much as well', ','.repeat(20_001), [' body.too_many_values']],
  ])('%s', (_what, text, told) => {
    expect(faults(text)).toEqual(told);
  });
});
