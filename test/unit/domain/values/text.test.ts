import { describe, expect, test } from '@jest/globals';
import { textSchema } from '../../../../src/domain/values/text.ts';
import { processorMilliseconds } from '../../../support/processes/processorTime.ts';

const faults = (value: string, longest = 5, options = {}) =>
  textSchema(longest, options)
    .safeParse(value)
    .error?.issues.map(({ message }) => message) ?? [];

describe('a text', () => {
  test.each(['a', 'aeiou', '🧾🧾🧾🧾🧾', 'ñandú', ' a ', 'a\u200Db', 'e\u0301'])(
    '%j is taken as it is',
    (value) => {
      expect(textSchema(5).parse(value)).toBe(value);
    },
  );

  test.each<[string, string]>([
    ['', 'must not be empty or blank.'],
    ['\u00A0 \u3000', 'must not be empty or blank.'],
    ['abcdef', 'must have at most 5 characters, found 6.'],
    ['🧾🧾🧾🧾🧾🧾', 'must have at most 5 characters, found 6.'],
    ['a\tb', 'must not contain control characters, found U+0009 as character 2.'],
    ['🧾\nb', 'must not contain control characters, found U+000A as character 2.'],
    ['a\u2028', 'must not contain control characters, found U+2028 as character 2.'],
    ['\u2029b', 'must not contain control characters, found U+2029 as character 1.'],
    ['a\u0000', 'must not contain control characters, found U+0000 as character 2.'],
    ['\u007F', 'must not contain control characters, found U+007F as character 1.'],
    ['\u0085', 'must not contain control characters, found U+0085 as character 1.'],
    ['a\uFFFE', 'must not contain characters that XML cannot hold, found U+FFFE as character 2.'],
    ['a\uD83E', 'must not contain characters that XML cannot hold, found U+D83E as character 2.'],
    ['\uDC00a', 'must not contain characters that XML cannot hold, found U+DC00 as character 1.'],
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
    expect(processorMilliseconds(() => faults('x'.repeat(1_000_000)))).toBeLessThan(5_000);
  });
});
