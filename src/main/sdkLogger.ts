import type { LogLevel, Logger as SdkLogger } from '@temporalio/worker';
import type { Logger } from '../logger.ts';

/** What may be told of an activity or workflow in a log line: names, ids and counts, never a failure's text. */
const TOLD = [
  'workflowId',
  'workflowType',
  'activityType',
  'activityId',
  'attempt',
  'taskQueue',
  'runId',
  'durationMs',
];

/** Temporal's own log lines as lines of ours. */
export function sdkLogger(logger: Logger): SdkLogger {
  const log = (level: LogLevel, message: string, meta?: Record<string | symbol, unknown>): void => {
    const told = Object.fromEntries(
      TOLD.flatMap((name) => (meta?.[name] === undefined ? [] : [[name, meta[name]]])),
    );
    const error = meta?.['error'];
    logger[LEVELS[level]]({ ...told, ...(error instanceof Error ? { err: error } : {}) }, message);
  };
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
