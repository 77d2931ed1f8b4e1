import type { LogLevel, Logger as SdkLogger } from '@temporalio/worker';
import type { Logger } from '../../logger.ts';

/** Loggable fields of an activity or workflow: names, ids and counts, never the text of a failure. */
const LOGGED = [
  'workflowId',
  'workflowType',
  'activityType',
  'activityId',
  'attempt',
  'taskQueue',
  'runId',
  'durationMs',
];

/** The start of the SDK's text about a failed call; the rest may quote input and is not logged. */
const GRPC_STATUS = /^Status \{ code: (\w+)/;

/** Writes Temporal's own log lines in our format. */
export function sdkLogger(logger: Logger): SdkLogger {
  const log = (level: LogLevel, message: string, meta: Record<string | symbol, unknown> = {}): void => {
    const logged = Object.fromEntries(
      LOGGED.flatMap((name) => (meta[name] === undefined ? [] : [[name, meta[name]]])),
    );
    logger[LEVELS[level]]({ ...logged, ...describe(meta['error']) }, message);
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

function describe(error: unknown): object {
  if (error instanceof Error) return { err: error };
  const [, grpcStatus] = (typeof error === 'string' && GRPC_STATUS.exec(error)) || [];
  return grpcStatus ? { grpcStatus } : {};
}
