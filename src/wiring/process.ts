import { ConfigurationError } from '../config.ts';
import { DEADLINES } from '../domain/authority/deadlines.ts';
import { armFailpoints } from '../failpoints.ts';
import type { Logger } from '../logger.ts';

/** Arms failpoints and reads the variables of a process; prints all faults and exits with 1 if a variable is wrong or missing. */
export function configOrExit<T>(read: () => T): T {
  try {
    armFailpoints();
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

/** Resources that a process must close, in reverse order of opening. */
export interface Closers {
  /** Registers a resource; the last registered resource is closed first. */
  add(name: string, close: () => unknown): void;
  /** Closes each resource once; after a failure continues with the others. */
  closeAll(): Promise<void>;
}

function createClosers(logger: Logger): Closers {
  const open: { name: string; close: () => unknown }[] = [];
  return {
    add(name, close) {
      open.push({ name, close });
    },
    async closeAll() {
      for (let last = open.pop(); last; last = open.pop()) {
        try {
          await last.close();
        } catch (err) {
          logger.warn({ err, part: last.name }, 'could not be closed');
        }
      }
    },
  };
}

/**
 * Runs `start` as a process. SIGTERM or SIGINT closes all resources and exits with 0; a failed start logs the
 * reason, closes the opened resources and exits with 1. Closing that takes longer than 28 s ends with exit code 1.
 */
export async function runProcess(logger: Logger, start: (closers: Closers) => Promise<void>): Promise<void> {
  const closers = createClosers(logger);
  let ending = false;
  const end = async (code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    setTimeout(() => {
      logger.warn('not everything closed in time; the process exits anyway');
      process.exit(1);
    }, DEADLINES.processGone).unref();
    await closers.closeAll();
    process.exit(code);
  };
  process.on('SIGTERM', () => void end(0));
  process.on('SIGINT', () => void end(0));
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'uncaught exception');
    void end(1);
  });
  process.on('unhandledRejection', (err) => {
    logger.fatal({ err }, 'unhandled rejection');
    void end(1);
  });
  try {
    await start(closers);
  } catch (err) {
    logger.fatal({ err, reason: err instanceof Error ? err.message : undefined }, 'cannot start');
    await end(1);
  }
}
