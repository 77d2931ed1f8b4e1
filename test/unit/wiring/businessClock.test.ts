import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ConfigurationError, readConfig } from '../../../src/config.ts';
import { businessClock, CLOCK_VARIABLES } from '../../../src/wiring/businessClock.ts';

const folder = mkdtempSync(join(tmpdir(), 'cfe-clock-'));
afterAll(() => rmSync(folder, { recursive: true }));

const clockOf = (file: string, testMode = 'true') =>
  businessClock(readConfig(CLOCK_VARIABLES, { CFE_CLOCK_FILE: file, CFE_TEST_MODE: testMode }));
const aFile = (content: string): string => {
  const file = join(folder, `${Math.random()}`);
  writeFileSync(file, content);
  return file;
};
/** Days that the clock is ahead of the machine; 0 where a millisecond passed between the two, and not −0. */
const daysAhead = (clock: () => Date): number =>
  Math.round((clock().getTime() - Date.now()) / 86_400_000) + 0;

describe('the clock of business dates', () => {
  test.each([
    ['is the machine’s', '', 0],
    ['is the machine’s while there is no file', join(folder, 'none'), 0],
    ['is the machine’s while the file is empty', aFile('\n'), 0],
    ['is ahead by the seconds in the file', aFile('172800\n'), 2],
    ['may be behind', aFile('-86400'), -1],
  ])('%s', (_what, file, days) => {
    expect(daysAhead(clockOf(file))).toBe(days);
  });

  test('follows the file at once', () => {
    const file = aFile('0');
    const clock = clockOf(file);
    expect(daysAhead(clock)).toBe(0);
    writeFileSync(file, '864000');
    expect(daysAhead(clock)).toBe(10);
  });

  test('cannot be moved outside of test mode, where only the machine’s will do', () => {
    expect(() => clockOf(aFile('60'), 'false')).toThrow(ConfigurationError);
    expect(daysAhead(clockOf('', 'false'))).toBe(0);
  });

  test.each(['soon', '1.5', '60 seconds'])('a file with %j is an error that names it', (content) => {
    const file = aFile(content);
    expect(clockOf(file)).toThrow(file);
  });
});
