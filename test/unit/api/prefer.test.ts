import { describe, expect, test } from '@jest/globals';
import { waitSeconds } from '../../../src/api/prefer.ts';

describe('waitSeconds', () => {
  test.each<[string | undefined, number | null, string]>([
    [undefined, null, 'without the field nobody waits'],
    ['', null, 'an empty field says nothing'],
    ['wait=10', 10, 'seconds as they stand'],
    ['wait=0', 0, 'no time at all is a time'],
    ['wait=30', 30, 'the longest'],
    ['wait=31', 30, 'more than 30 counts as 30'],
    ['wait=9999999999', 30, 'far more too'],
    ['WAIT = "7"', 7, 'names are case-insensitive, values may be quoted, blanks do not matter'],
    ['respond-async, wait=10', 10, 'among others, as RFC 7240 has it'],
    ['wait=5, wait=20', 5, 'the first of two'],
    ['wait=5; foo="a,wait=6"', 5, 'parameters are passed over'],
    ['foo="x, wait=9", wait=4', 4, 'a comma inside quotes ends nothing'],
    ['foo="wait=9"', null, 'nor does a name inside them begin anything'],
    ['wait', null, 'without a number'],
    ['wait=soon', null, 'without a number that can be read'],
    ['wait=1.5', null, 'parts of a second'],
    ['wait=-1', null, 'less than nothing'],
    ['waiting=5', null, 'another name'],
    ['foo="bar, wait=5', null, 'an open quotation runs to the end'],
    [`foo="${'x'.repeat(242)}", wait=5`, 5, 'the longest field that is read: 256 characters'],
    [`foo="${'x'.repeat(243)}", wait=5`, null, 'a longer one is none'],
  ])('%p is %p: %s', (header, seconds) => {
    expect(waitSeconds(header)).toBe(seconds);
  });

  test('two fields are one list', () => {
    expect(waitSeconds(['respond-async', 'wait=3'])).toBe(3);
  });
});
