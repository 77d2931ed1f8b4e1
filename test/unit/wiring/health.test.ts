import { expect, test } from '@jest/globals';
import { serveHealth } from '../../../src/wiring/health.ts';

test('a program that is not ready says what it lacks, where it knows', async () => {
  let missing: string | null = 'Temporal is missing the search attributes Kind, State';
  let isReady = false;
  const health = await serveHealth({
    host: '127.0.0.1',
    port: 0,
    ready: async () => isReady,
    missing: () => missing,
    metrics: async () => '',
  });
  const asked = async (): Promise<[number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${health.port}/readyz`);
    return [answer.status, await answer.text()];
  };
  try {
    expect(await asked()).toEqual([
      503,
      'not ready: Temporal is missing the search attributes Kind, State\n',
    ]);
    missing = null;
    expect(await asked()).toEqual([503, 'not ready\n']);
    isReady = true;
    expect(await asked()).toEqual([200, 'ok\n']);
  } finally {
    await health.close();
  }
});
