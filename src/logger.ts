import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/**
 * Creates a logger of JSON lines. Redaction is only the second net: callers log chosen fields (ids, statuses,
 * milliseconds), never bodies, certificates or keys.
 */
export function createLogger(options: {
  name: string;
  level: string;
  destination?: DestinationStream;
}): Logger {
  const secrets = [
    'password',
    'secret',
    'authorization',
    'api_key',
    'apiKey',
    'token',
    'access_token',
    'cert_b64',
    'xml',
    'key',
  ];
  return pino(
    {
      name: options.name,
      level: options.level,
      base: { name: options.name, pid: process.pid },
      redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
      serializers: { err: describeError },
    },
    options.destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

/**
 * Returns the loggable parts of an error: name, code and stack frames. Messages of foreign errors may quote
 * input.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    frames: (error.stack ?? '')
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, 8)
      .map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
