import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { choosePorts } from '../../../local/stack/processes/ports.ts';
import { openWatchdog, type Watchdog } from '../../../local/stack/processes/watchdog.ts';
import { obtainTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';
import {
  type RunningPostgres,
  type RunningTemporal,
  startPostgres,
  startTemporal,
} from '../../support/stack/servers.ts';
import {
  leftOf,
  processesOf,
  startRun,
  untilNothingIsLeft,
  untilReady,
} from '../../support/stack/stackRun.ts';

const say = (): void => undefined;
let elsewhere: string;
let watchdog: Watchdog;
let postgres: RunningPostgres;
let temporal: RunningTemporal;
let freePort: number;
let settings: Parameters<typeof startTemporal>[0];

beforeAll(async () => {
  elsewhere = mkdtempSync(join(tmpdir(), 'cfe-elsewhere-'));
  watchdog = openWatchdog();
  const wish = { variable: 'X', purpose: 'x', port: 0, explicit: false };
  const [postgresPort = 0, temporalPort = 0, free = 0] = await choosePorts([wish, wish, wish], say);
  freePort = free;
  postgres = await startPostgres({
    dataDir: elsewhere,
    port: postgresPort,
    password: 'elsewhere',
    say,
    watchdog,
  });
  const { path } = await obtainTemporal({ variables: process.env, say, watchdog });
  settings = { path, dataDir: elsewhere, port: temporalPort, namespace: 'default', watchdog };
  temporal = await startTemporal(settings);
});
afterAll(async () => {
  await temporal?.stop();
  await postgres?.stop();
  watchdog.close();
  rmSync(elsewhere, { recursive: true, force: true });
});

describe('the Temporal server', () => {
  test('has the search attributes that operators filter by, on a new file and on one that exists', async () => {
    const attributes = async (): Promise<Record<string, unknown>> => {
      const connection = await Connection.connect({ address: temporal.address });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({
        namespace: 'default',
      });
      await connection.close();
      return customAttributes;
    };
    const names = [
      'CfeId',
      'CfeStatus',
      'CfeType',
      'EnterpriseRut',
      'Environment',
      'NeedsSupport',
      'StuckReason',
    ];
    const ours = async (): Promise<string[]> =>
      Object.keys(await attributes())
        .filter((name) => names.includes(name))
        .sort();
    expect(await ours()).toEqual(names);

    await temporal.stop();
    temporal = await startTemporal(settings);

    expect(await ours()).toEqual(names);
  });
});

describe('a stack told of servers that run elsewhere', () => {
  test('starts neither, uses both, and leaves them running', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'cfe-stack-'));
    const run = startRun({
      dataDir,
      env: { DATABASE_URL: postgres.databaseUrl, TEMPORAL_ADDRESS: temporal.address },
    });
    const info = await untilReady(run, dataDir);

    expect(info.pids).toMatchObject({ postgres: null, temporal: null, api: expect.any(Number) });
    expect(info).toMatchObject({
      database_url: postgres.databaseUrl,
      temporal_address: temporal.address,
      temporal_ui_url: null,
    });
    const processes = processesOf(run, dataDir);
    run.child.kill('SIGTERM');
    await untilNothingIsLeft(processes, dataDir);
    expect([postgres.mark.pid, temporal.mark.pid].map((pid) => process.kill(pid, 0))).toEqual([true, true]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test.each([
    [
      'DATABASE_URL',
      () => ({
        DATABASE_URL: `postgres://x:hush@127.0.0.1:${freePort}/x`,
        TEMPORAL_ADDRESS: temporal.address,
      }),
    ],
    [
      'TEMPORAL_ADDRESS',
      () => ({ DATABASE_URL: postgres.databaseUrl, TEMPORAL_ADDRESS: `127.0.0.1:${freePort}` }),
    ],
  ])('says so when %s names one that does not answer', async (variable, env) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'cfe-stack-'));
    const run = startRun({ dataDir, env: env() });

    expect(await run.ended).toBe(1);
    expect(run.output()).toMatch(
      new RegExp(`${variable} names .*127\\.0\\.0\\.1:${freePort} that does not answer`),
    );
    expect(run.output()).not.toContain('hush');
    expect(leftOf([], dataDir)).toEqual([]);
    rmSync(dataDir, { recursive: true, force: true });
  });
});
