import { describe, expect, test } from '@jest/globals';
import { findFirstDifference, outlineRequest } from '../../../src/crypto/requestOutline.ts';
import { canonicalJson } from '../../../src/domain/values/canonicalJson.ts';
import { readJson } from '../../../src/domain/values/json.ts';

/** A JSON text as bodies are read. */
function read(text: string): unknown {
  const json = readJson(text);
  if (!json.ok) throw new Error(`no JSON: ${text}`);
  return json.value;
}

describe('the canonical form', () => {
  test.each([
    ['122', '122.0'],
    ['122', '1.22e2'],
    ['122', '1220E-1'],
    ['100', '1e2'],
    ['0', '-0.00'],
    ['0', '0e999999999999999999999'],
    ['0.1', '1e-1'],
    ['-5', '-5.0'],
    ['1e999999999', '10E999999998'],
    ['"ñ/a"', '"\\u00f1\\/\\u0061"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['{"a":1,"b":[true,null]}', ' { "b" : [ true, null ] , "\\u0061" : 1.0 } '],
    ['{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}'],
  ])('%s and %s are the same', (one, other) => {
    expect(canonicalJson(read(other))).toBe(canonicalJson(read(one)));
  });

  test.each([
    ['122', '1220'],
    ['122', '-122'],
    ['122', '"122"'],
    ['0.1', '0.10000000000000000001'],
    ['1e99999999999999999999', '1e99999999999999999998'],
    ['[1,2]', '[2,1]'],
    ['[]', '{}'],
    ['null', '"null"'],
    ['{}', '{"a":null}'],
    ['"\\ud800"', '"\\ud801"'],
    ['"a"', '"A"'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
  ])('%s and %s are not', (one, other) => {
    expect(canonicalJson(read(other))).not.toBe(canonicalJson(read(one)));
  });
});

describe('the first difference', () => {
  const BODY = '{"b":{"x":1,"y~/z":"t"},"a":[{"n":1},{"n":2}],"p":"secret"}';
  const outline = outlineRequest(read(BODY), 'key');

  test.each([
    ['{"b":{"x":1.0,"y~/z":"t"},"a":[{"n":1},{"n":2}],"p":"other"}', '/p'],
    ['{"p":"other","b":{"x":2,"y~/z":"t"},"a":[{"n":1},{"n":2}]}', '/p'],
    ['{"b":{"x":2,"y~/z":"u"},"a":[],"p":"other"}', '/b/x'],
    ['{"b":{"x":1,"y~/z":"u"},"a":[{"n":1},{"n":2}],"p":"secret"}', '/b/y~0~1z'],
    ['{"b":{"x":1},"a":[{"n":3},{"n":2}],"p":"secret"}', '/b/y~0~1z'],
    ['{"b":{"x":1,"y~/z":"t"},"a":[{"n":1}],"p":"secret"}', '/a/1'],
    ['{"b":{"x":1,"y~/z":"t"},"a":[{"n":1},{"n":2},3],"p":"secret"}', '/a/2'],
    ['{"b":{"x":1,"y~/z":"t"},"a":{"0":{"n":1},"1":{"n":2}},"p":"secret"}', '/a'],
    ['{"b":1,"a":[{"n":1},{"n":2}],"p":"secret"}', '/b'],
    ['{"b":{"x":1,"y~/z":"t"},"a":[{"n":1},{"n":2}],"p":"secret","__proto__":{}}', '/__proto__'],
    [BODY, ''],
  ])('of %s is at %s', (body, path) => {
    expect(
      findFirstDifference(JSON.parse(JSON.stringify(outline)) as typeof outline, read(body), 'key'),
    ).toBe(path);
  });

  test('cannot be named under another key: of another path, or another pepper', () => {
    expect(findFirstDifference(outline, read('{"p":"other"}'), 'another key')).toBeNull();
  });

  test('what is kept has no value in it, and equal values look different in different places', () => {
    const { body } = outlineRequest(read('{"a":"same","b":"same","c":["same"]}'), 'key');
    expect(JSON.stringify(body)).not.toContain('same');
    expect(new Set(Object.values(body).flat()).size).toBe(3);
  });
});
