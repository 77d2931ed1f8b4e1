import { expect, test } from '@jest/globals';
import { createLogger } from '../../../src/logger.ts';
import { sdkLogger } from '../../../src/wiring/temporal/sdkLogger.ts';

test('a line of Temporal’s library becomes one of ours: what and why, without the text of the failure', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const error = 'Status { code: Unavailable, message: "tcp connect error to 10.0.0.1" }';

  sdkLogger(createLogger({ name: 'worker', level: 'info', destination })).warn('gRPC call retried 7 times', {
    taskQueue: 'cfe',
    target: 'temporalio_client::retry',
    error,
  });

  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 40, msg: 'gRPC call retried 7 times', grpcStatus: 'Unavailable' }),
  ]);
  expect(lines.join()).not.toContain('10.0.0.1');
});
