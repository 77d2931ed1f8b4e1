import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { HttpClient } from '../../support/api/http.ts';
import {
  type BareStack,
  type ExtraProgram,
  ledgerOf,
  openBareStack,
  startSimulatorProcess,
} from '../../support/stacks.ts';
import { until } from '../../support/until.ts';
import { aTestAuthority } from '../../support/webhooks/receiver.ts';

interface RunView {
  status: string;
  types: { wanted: number; received: number }[];
}

const folder = mkdtempSync(join(tmpdir(), 'cfe-test-run-'));
let simulator: Awaited<ReturnType<typeof startSimulatorProcess>>;
let stack: BareStack;
let api: ExtraProgram;
let client: HttpClient;
beforeAll(async () => {
  simulator = await startSimulatorProcess(folder);
  stack = await openBareStack({ simulatorUrl: simulator.baseUrl, caPem: (await aTestAuthority()).caPem });
  api = await stack.start('api');
  const worker = await stack.start('worker');
  await stack.onboard(api.baseUrl, [101]);
  await worker.stop();
  client = stack.clientAt(api.baseUrl);
}, 120_000);
afterAll(async () => {
  await api?.stop();
  await stack?.[Symbol.asyncDispose]();
  await simulator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('workers killed after a receipt of a test run: the next goes on, and no number is used twice', async () => {
  const path = `/enterprises/${stack.rut}/homologation`;
  const wish = { set: 'TESTING', cfe_types: ['ETICKET', 'ETICKET_ND'], each: 50 };
  expect((await client.post<RunView>(path, wish)).status).toBe(202);

  for (let kills = 0; kills < 2; kills += 1) {
    const armed = { CFE_TEST_MODE: 'true', CFE_FAILPOINTS: 'homologation.issued' };
    const doomed = await stack.start('worker', armed);
    await until('its end', 60, async () => doomed.hasEnded());
    await doomed.ended;
    expect(doomed.output()).toContain('failpoint homologation.issued\n');
  }
  const worker = await stack.start('worker');
  try {
    const run = await until('the end of the run', 150, async () => {
      const { data } = await client.get<RunView>(path);
      return ['RUNNING', 'REPORTING'].includes(data.status) ? undefined : data;
    });

    expect(run).toMatchObject({ status: 'READY_TO_PROCESS', types: [{ received: 50 }, { received: 50 }] });
    const ledger = await ledgerOf(simulator.baseUrl, { rut: stack.rut, environment: 'sandbox' });
    expect(ledger).toHaveLength(100);
    const numbers = ledger
      .filter(({ cfe_type_code }) => cfe_type_code === '101')
      .map(({ numero }) => numero)
      .toSorted((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
  } finally {
    await worker.stop();
  }
});
