import { ConfigurationError } from '../../src/config.ts';
import { readConfig } from '../config.ts';
import { addresses } from './announce.ts';
import { absolute, startLocalStack } from './localStack.ts';
import { StackError } from './stackError.ts';

/** Runs the local stack until a signal comes; resolves with the exit code. */
export async function runLocalStack(
  options: Pick<NonNullable<Parameters<typeof startLocalStack>[0]>, 'databaseUrlOf'> = {},
): Promise<number> {
  const ending = new AbortController();
  const ended = new Promise<void>((done) => ending.signal.addEventListener('abort', () => done()));
  // npm and the terminal may both pass on the same Ctrl-C: what comes after the first changes nothing.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort());
  // The terminal may be gone before we are.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const stack = await startLocalStack({ ...options, signal: ending.signal });
    for (const line of addresses(stack.info, absolute(readConfig(['CFE_DATA_DIR']).CFE_DATA_DIR)))
      console.log(line);
    await ended;
    console.log('Ending …');
    await stack.stop();
    console.log('Ended.');
    return 0;
  } catch (error) {
    if (ending.signal.aborted) return 0;
    console.error(inWords(error));
    return 1;
  }
}

/** What a person can act on is said without frames. */
function inWords(error: unknown): string {
  if (error instanceof StackError || error instanceof ConfigurationError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
