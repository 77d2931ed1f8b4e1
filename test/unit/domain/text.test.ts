import { describe, expect, test } from '@jest/globals';
import { text } from '../../../src/domain/text.ts';

const faults = (value: string, longest = 5, options = {}) =>
  text(longest, options)
    .safeParse(value)
    .error?.issues.map(({ message }) => message) ?? [];

describe('a text', () => {
  test.each(['a', 'aeiou', '🧾🧾🧾🧾🧾', 'ñandú', ' a ', 'a\u200Db', 'e\u0301'])(
    '%j is taken as it is',
    (value) => {
      expect(text(5).parse(value)).toBe(value);
    },
  );

  test.each<[string, string]>([
    ['', 'a text is expected, found an empty one.'],
    ['\u00A0 \u3000', 'a text is expected, found an empty one.'],
    ['abcdef', 'at most 5 characters are expected, found 6.'],
    ['🧾🧾🧾🧾🧾🧾', 'at most 5 characters are expected, found 6.'],
    ['a\tb', 'has the control character U+0009 as its character 2; control characters are not allowed.'],
    ['🧾\nb', 'has the control character U+000A as its character 2; control characters are not allowed.'],
    ['a\u2028', 'has the control character U+2028 as its character 2; control characters are not allowed.'],
    ['\u2029b', 'has the control character U+2029 as its character 1; control characters are not allowed.'],
    ['a\u0000', 'has the control character U+0000 as its character 2; control characters are not allowed.'],
    ['\u007F', 'has the control character U+007F as its character 1; control characters are not allowed.'],
    ['\u0085', 'has the control character U+0085 as its character 1; control characters are not allowed.'],
    ['a\uFFFE', 'has U+FFFE as its character 2, which XML cannot hold.'],
    ['a\uD83E', 'has U+D83E as its character 2, which XML cannot hold.'],
    ['\uDC00a', 'has U+DC00 as its character 1, which XML cannot hold.'],
  ])('%j is refused', (value, message) => {
    expect(faults(value)).toEqual([message]);
  });

  test('may have line ends where they are allowed, and nothing else of the kind', () => {
    expect(faults('a\r\nb', 9, { lineEnds: true })).toEqual([]);
    expect(faults('a\tb', 9, { lineEnds: true })).toHaveLength(1);
  });

  test('that is long and dirty is told both', () => {
    expect(faults('abcdef\t')).toHaveLength(2);
  });

  test('of a million characters is judged at once', () => {
    const begun = performance.now();
    faults('x'.repeat(1_000_000));
    expect(performance.now() - begun).toBeLessThan(500);
  });
});
