import { readFileSync } from 'node:fs';
import { ConfigurationError, type readConfig } from '../config.ts';

/** Variables that move the clock of business dates. */
export const CLOCK_VARIABLES = ['CFE_CLOCK_FILE', 'CFE_TEST_MODE'] as const;

const SECONDS = /^-?\d{1,10}$/;

/**
 * Returns the clock of business dates (signing, issue-date limits, expiries, report days, deadlines): the machine's clock;
 * in test mode (CFE_TEST_MODE) plus the seconds in the file CFE_CLOCK_FILE. Throws ConfigurationError if a file is set outside
 * test mode and, when the clock is called, for malformed file contents.
 */
export function businessClock(
  config: ReturnType<typeof readConfig<(typeof CLOCK_VARIABLES)[number]>>,
): () => Date {
  const { CFE_CLOCK_FILE: file, CFE_TEST_MODE: isTest } = config;
  if (file === '') return () => new Date();
  if (!isTest) {
    const message =
      'CFE_CLOCK_FILE is set: it moves the clock and is for tests only, where CFE_TEST_MODE is true. Remove it.';
    throw new ConfigurationError(message);
  }
  // Read each time, so that a change applies at once.
  return () => new Date(Date.now() + secondsIn(file) * 1_000);
}

function secondsIn(file: string): number {
  const text = textOf(file).trim();
  if (text === '') return 0;
  if (!SECONDS.test(text))
    throw new ConfigurationError(`CFE_CLOCK_FILE names ${file}, which must hold a whole number of seconds`);
  return Number(text);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
