import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { embeddedDatabaseUrl } from '../../../local/stack/postgres/postgres.ts';
import { httpOk, postgresAccepts } from '../../../local/stack/processes/probes.ts';
import { isRunning, signal } from '../../../local/stack/processes/processes.ts';
import { readRunRecord } from '../../../local/stack/processes/runRecord.ts';
import { openSecrets } from '../../../local/stack/secrets.ts';
import { PARTS, type PartName, runningStack, type StackInfo } from '../../../local/stack/stackFile.ts';
import { temporalServes } from '../../../local/stack/temporal/temporal.ts';
import { openOrm } from '../../../src/db/orm.ts';
import type { Program } from '../../support/processes/processes.ts';
import {
  leftOf,
  nodes,
  processesOf,
  startRun,
  untilNothingIsLeft,
  untilReady,
} from '../../support/stack/stackRun.ts';
import { until } from '../../support/until.ts';

let dataDir: string;
let runs: Program[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'cfe-stack-'));
  runs = [];
});
afterEach(async () => {
  const processes = runs.flatMap((run) => processesOf(run, dataDir));
  for (const run of runs) run.child.kill('SIGTERM');
  await untilNothingIsLeft(processes, dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

const start = (node?: string): Program => {
  const run = startRun({ dataDir, ...(node ? { node } : {}) });
  runs.push(run);
  return run;
};

/** Whether each part that stack.json names answers at the address that it names. */
async function everythingAnswers(info: StackInfo): Promise<boolean> {
  const database = new URL(info.database_url);
  const answers = await Promise.all([
    httpOk(`${new URL(info.base_url).origin}/readyz`),
    httpOk(`${info.simulator_url}/livez`),
    postgresAccepts(database.hostname, Number(database.port)),
    temporalServes({ address: info.temporal_address }, info.temporal_namespace),
  ]);
  return answers.every(Boolean);
}

const alive = (pid: number | null): boolean => {
  try {
    return pid !== null && process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The database's address for its owner; here, nobody makes the roles of the programs. */
const asOwner = ({ database_url }: StackInfo): string =>
  embeddedDatabaseUrl(Number(new URL(database_url).port), openSecrets(dataDir).secrets.database_password);

async function execute(databaseUrl: string, statement: string): Promise<unknown[]> {
  const orm = await openOrm({ databaseUrl, pool: 1 });
  try {
    return (await orm.em.fork().execute(statement)) as unknown[];
  } finally {
    await orm.close(true);
  }
}

describe('npm start', () => {
  test('says in stack.json, for its owner only, where everything is; a second one says that it runs, and where', async () => {
    const run = start();
    const info = await untilReady(run, dataDir);

    expect(Object.keys(info)).toEqual([
      'base_url',
      'docs_url',
      'temporal_address',
      'temporal_namespace',
      'temporal_ui_url',
      'database_url',
      'simulator_url',
      'smtp_url',
      'console_url',
      'metrics_url',
      'live_api_key',
      'test_api_key',
      'console_operator',
      'console_customer',
      'ca_file',
      'ca_key_file',
      'pids',
    ]);
    expect(Object.keys(info.pids).sort()).toEqual([
      'api',
      'console',
      'postgres',
      'simulator',
      'supervisor',
      'temporal',
      'worker',
    ]);
    expect(Object.values(info.pids).every(alive)).toBe(true);
    expect(statSync(join(dataDir, 'stack.json')).mode & 0o777).toBe(0o600);
    expect(await everythingAnswers(info)).toBe(true);
    await until('the addresses', 5, async () => run.output().includes('Ctrl-C'));
    for (const address of [info.base_url, info.docs_url, info.temporal_ui_url, info.simulator_url])
      expect(run.output()).toContain(address);
    expect(run.output()).not.toContain(info.live_api_key);
    expect(run.output()).not.toContain(info.console_operator.totp_secret);

    const second = start();

    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/is already running \(process \d+\)/);
    expect(second.output()).toContain(info.base_url);
    expect(runningStack(dataDir)).toEqual(info);
  });

  test('restarts each part that is killed; stack.json is true again within 10 s', async () => {
    const run = start();
    let info = await untilReady(run, dataDir);

    for (const part of PARTS.toReversed()) {
      const before: number = info.pids[part] ?? 0;
      signal(before, 'SIGKILL');
      const others = (name: PartName, now: StackInfo): boolean =>
        name === part || now.pids[name] === info.pids[name];
      const isTrue = async (): Promise<boolean> => {
        const now = runningStack(dataDir);
        if (
          !now ||
          now.pids[part] === before ||
          !Object.values(now.pids).every(alive) ||
          !(await everythingAnswers(now))
        )
          return false;
        expect(PARTS.every((name) => others(name, now))).toBe(true);
        info = now;
        return true;
      };

      await until(`stack.json to be true after ${part} was killed`, 10, isTrue);
      await until('the word on it', 5, async () => run.output().includes(`${part} is back`));
      expect(run.output()).toContain(`${part} ended by SIGKILL; restarting it.`);
    }
  });

  test.each(nodes())(
    'ended by SIGTERM to what npm started, on $name, leaves nothing within 15 s and starts again with the same keys',
    async ({ node }) => {
      const run = start(node);
      const info = await untilReady(run, dataDir);
      const processes = processesOf(run, dataDir);
      expect(processes.length).toBeGreaterThanOrEqual(8);

      run.child.kill('SIGTERM');

      await untilNothingIsLeft(processes, dataDir);
      expect(await run.ended).toBe(0);
      expect(readdirSync(dataDir)).not.toContain('stack.json');
      const again = await untilReady(start(node), dataDir);
      expect([again.live_api_key, again.test_api_key]).toEqual([info.live_api_key, info.test_api_key]);
    },
  );

  test('ended by SIGINT to the process group, leaves nothing within 15 s', async () => {
    const run = start();
    await untilReady(run, dataDir);
    const processes = processesOf(run, dataDir);

    signal(-(run.child.pid ?? 0), 'SIGINT');

    await untilNothingIsLeft(processes, dataDir);
    expect(await run.ended).toBe(0);
    expect(readdirSync(dataDir)).not.toContain('stack.json');
  });

  test('whose launcher is killed by SIGKILL, leaves nothing within 15 s', async () => {
    const run = start();
    await untilReady(run, dataDir);
    const processes = processesOf(run, dataDir);

    run.child.kill('SIGKILL');

    await untilNothingIsLeft(processes, dataDir);
    expect(readdirSync(dataDir)).not.toContain('stack.json');
  });

  test('whose supervisor is killed by SIGKILL leaves nothing within 15 s, even when its watchdog was killed before', async () => {
    const run = start();
    const info = await untilReady(run, dataDir);
    const watchdog = (): number => readRunRecord(dataDir)?.watchdog?.pid ?? 0;
    const first = watchdog();
    signal(first, 'SIGKILL');
    await until('the next watchdog', 5, async () => watchdog() !== first && alive(watchdog()));
    const processes = processesOf(run, dataDir);

    signal(info.pids.supervisor, 'SIGKILL');

    await untilNothingIsLeft(processes, dataDir);
    expect(readdirSync(dataDir)).not.toContain('stack.json');
  });

  test('ended while it starts leaves nothing', async () => {
    const run = start();
    const started = (): boolean => leftOf([], dataDir).some((line) => line.includes('start-dev'));
    await until('the start of Temporal', 30, async () => started());
    const processes = processesOf(run, dataDir);

    run.child.kill('SIGTERM');

    await untilNothingIsLeft(processes, dataDir);
  });

  test('recovers by itself, with all data, after kill -9 of everything', async () => {
    const run = start();
    const info = await untilReady(run, dataDir);
    await execute(asOwner(info), "create table kept (what text); insert into kept values ('this')");

    for (const { pid } of processesOf(run, dataDir)) signal(pid, 'SIGKILL');
    await run.ended;
    const again = await untilReady(start(), dataDir);

    expect(again.live_api_key).toBe(info.live_api_key);
    expect(await everythingAnswers(again)).toBe(true);
    expect(await execute(asOwner(again), 'select what from kept')).toEqual([{ what: 'this' }]);
  });

  test('ends what a killed run left running, and nothing else', async () => {
    const run = start();
    const info = await untilReady(run, dataDir);
    const [launcher, supervisor, watchdog, ...parts] = processesOf(run, dataDir);
    expect(parts).toHaveLength(6);

    for (const owner of [launcher, watchdog, supervisor]) signal(owner?.pid ?? 0, 'SIGKILL');
    await run.ended;
    const next = start();
    const again = await untilReady(next, dataDir);

    expect(next.output()).toContain('ending the processes it left behind');
    expect(parts.filter(isRunning)).toEqual([]);
    expect(await everythingAnswers(again)).toBe(true);
    expect(again.live_api_key).toBe(info.live_api_key);
  });

  test('keeps its logs free of secrets', async () => {
    const info = await untilReady(start(), dataDir);
    const secrets = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as Record<string, string>;

    const logs = readdirSync(join(dataDir, 'logs')).map((name) =>
      readFileSync(join(dataDir, 'logs', name), 'utf8'),
    );

    for (const secret of [secrets['pepper'], secrets['database_password'], info.live_api_key]) {
      expect(logs.some((log) => log.includes(secret ?? '?'))).toBe(false);
    }
  });
});
