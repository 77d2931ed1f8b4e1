import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import got from 'got';
import { openWatchdog, type Watchdog } from '../../../local/stack/processes/watchdog.ts';
import { obtainTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';
import type { Answer, HttpClient } from '../../support/api/http.ts';
import { cliOn } from '../../support/cli.ts';
import { statusOf as answerOf } from '../../support/processes/processes.ts';
import { freePort } from '../../support/processes/services.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import {
  type RunningPostgres,
  type RunningTemporal,
  startPostgres,
  startTemporal,
} from '../../support/stack/servers.ts';
import {
  type BareStack,
  databaseUrlAs,
  type ExtraProgram,
  openBareStack,
  startSimulatorProcess,
} from '../../support/stacks.ts';
import { PATIENCE, until } from '../../support/until.ts';
import { aTestAuthority } from '../../support/webhooks/receiver.ts';

interface CfeAnswer {
  cfe_id: string;
  cfe_status: string;
  numero: number;
}

const say = (): void => undefined;

/**
 * What docs/failures.md says of Temporal, the database and the worker being down; nothing restarts them but the test.
 */
describe('a part that stays down', () => {
  let folder: string;
  let watchdog: Watchdog;
  let postgres: RunningPostgres;
  let temporal: RunningTemporal;
  let again: { postgres: () => Promise<RunningPostgres>; temporal: () => Promise<RunningTemporal> };
  let simulator: ExtraProgram;
  let stack: BareStack;
  let api: ExtraProgram;
  let worker: ExtraProgram;
  let client: HttpClient;
  let path: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cfe-down-'));
    watchdog = openWatchdog();
    const [postgresPort, temporalPort] = [await freePort(), await freePort()];
    const { path: program } = await obtainTemporal({ variables: process.env, say, watchdog });
    const common = { dataDir: folder, watchdog, say };
    again = {
      postgres: () => startPostgres({ ...common, port: postgresPort, password: 'down' }),
      temporal: () => startTemporal({ ...common, path: program, port: temporalPort, namespace: 'default' }),
    };
    [postgres, temporal, simulator] = await Promise.all([
      again.postgres(),
      again.temporal(),
      startSimulatorProcess(folder),
    ]);
    stack = await openBareStack({
      simulatorUrl: simulator.baseUrl,
      caPem: (await aTestAuthority()).caPem,
      servers: { databaseUrl: postgres.databaseUrl, temporalAddress: temporal.address },
    });
    [api, worker] = await Promise.all([stack.start('api'), stack.start('worker', QUICK)]);
    await stack.onboard(api.baseUrl, [101]);
    client = stack.clientAt(api.baseUrl);
    path = `/enterprises/${stack.rut}/cfes`;
  });
  afterAll(async () => {
    await worker?.stop();
    await api?.stop();
    await stack?.[Symbol.asyncDispose]();
    await simulator?.stop();
    await temporal?.stop();
    await postgres?.stop();
    watchdog?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const QUICK = { CFE_POLL_LONGEST_SECONDS: '1' };
  const issue = (headers: Record<string, string> = {}): Promise<Answer<CfeAnswer>> =>
    client.post<CfeAnswer>(path, aCfeBody(), headers);
  const statusOf = async (id: string): Promise<string> =>
    (await client.get<{ items: CfeAnswer[] }>(`${path}/${id}`)).data.items[0]?.cfe_status ?? 'none';
  const total = async (): Promise<number> =>
    (await client.get<{ total: number }>(`${path}?limit=1`)).data.total;
  const untilAccepted = (id: string): Promise<unknown> =>
    until(`the verdict on ${id}`, 120, async () => (await statusOf(id)) === 'ACCEPTED');
  const ready = (one: ExtraProgram): Promise<number> => answerOf(`${one.healthUrl}/readyz`);
  const rootOf = ({ baseUrl }: ExtraProgram): string => baseUrl.replace('/v1', '');
  /** The very processes that were there before. */
  const alive = (): (NodeJS.Signals | number | null)[] =>
    [api, worker].flatMap(({ child: { exitCode, signalCode } }) => [exitCode, signalCode]);
  async function timed<T>(work: Promise<T>): Promise<{ answer: T; seconds: number }> {
    const startedAt = performance.now();
    return { answer: await work, seconds: (performance.now() - startedAt) / 1_000 };
  }

  test('Temporal down: a CFE is taken at once, nothing is unready, and it goes on by itself', async () => {
    await temporal.stop();

    const { answer, seconds } = await timed(issue());
    expect([answer.status, answer.data.cfe_status]).toEqual([201, 'PENDING']);
    expect(seconds).toBeLessThan(2 * PATIENCE);
    expect([await ready(api), await ready(worker)]).toEqual([200, 200]);
    await until('three vain attempts to start it', 60, async () => (await mostAttempts()) >= 3);
    expect(await statusOf(answer.data.cfe_id)).toBe('PENDING');

    temporal = await again.temporal();
    await untilAccepted(answer.data.cfe_id);
    expect(alive()).toEqual([null, null, null, null]);
  });

  test('Temporal hangs: a CFE is taken at once all the same', async () => {
    process.kill(temporal.mark.pid, 'SIGSTOP');
    let taken: Answer<CfeAnswer>;
    try {
      const { answer, seconds } = await timed(issue());
      expect([answer.status, answer.data.cfe_status]).toEqual([201, 'PENDING']);
      expect(seconds).toBeLessThan(2 * PATIENCE);
      await until('a vain attempt to start it', 60, async () => (await mostAttempts()) >= 1);
      taken = answer;
    } finally {
      process.kill(temporal.mark.pid, 'SIGCONT');
    }
    await untilAccepted(taken.data.cfe_id);
  });

  test('the worker down: a CFE is taken, who waits for its verdict is told PENDING, and the next worker goes on', async () => {
    await worker.stop();

    const { answer, seconds } = await timed(issue({ prefer: 'wait=2' }));
    expect([answer.status, answer.data.cfe_status]).toEqual([201, 'PENDING']);
    expect(seconds).toBeGreaterThanOrEqual(2);
    expect(await ready(api)).toBe(200);

    worker = await stack.start('worker', QUICK);
    await untilAccepted(answer.data.cfe_id);
  });

  test('the database down: 503 UNAVAILABLE with Retry-After for all, not ready, nothing half done, and on by itself', async () => {
    const before = await total();
    // In progress when it happens: the authority decides while the database is away, unless the machine is slow.
    const { data: early } = await client.post<CfeAnswer>(path, aCfeBody({ itemName: 'SIM DELAY 3' }));
    await until('it at the authority', 30, async () => (await statusOf(early.cfe_id)) !== 'PENDING');
    await postgres.stop();

    const key = { 'idempotency-key': 'while it was down' };
    const answers = await Promise.all([
      issue(key),
      client.get(`${path}/${early.cfe_id}`),
      client.get(`/enterprises/${stack.rut}`),
      client.post('/tokens', {}),
    ]);
    for (const { status, headers, error } of answers) {
      expect([status, headers.get('retry-after'), error.code]).toEqual([503, '5', 'UNAVAILABLE']);
      expect(error.message).toBe(
        'The service cannot reach its database right now; try again in a few seconds.',
      );
    }
    const root = rootOf(api);
    const probes = await Promise.all(
      [`${root}/readyz`, `${api.healthUrl}/readyz`, `${worker.healthUrl}/readyz`, `${root}/livez`].map(
        answerOf,
      ),
    );
    expect(probes).toEqual([503, 503, 503, 200]);

    postgres = await again.postgres();
    await until('readiness', 30, async () => (await ready(api)) === 200 && (await ready(worker)) === 200);
    expect(await total()).toBe(before + 1);
    const repeated = await issue(key);
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(repeated.data.numero).toBe(early.numero + 1);
    for (const { cfe_id } of [early, repeated.data]) await untilAccepted(cfe_id);
    expect(alive()).toEqual([null, null, null, null]);
  });

  test('the disk of the database full when a CFE is to be written: 503, nothing half done, and on by itself', async () => {
    const before = await total();
    const em = stack.orm.em.fork();
    // PostgreSQL's own words for it, from the statement that would write the CFE.
    await em.execute(`create function full_disk() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
    await em.execute('create trigger full_disk before insert on cfe execute function full_disk()');

    const refused = await issue();
    expect([refused.status, refused.headers.get('retry-after'), refused.error.code]).toEqual([
      503,
      '5',
      'UNAVAILABLE',
    ]);
    expect(await total()).toBe(before);

    await em.execute('drop trigger full_disk on cfe');
    const taken = await issue();
    expect(taken.status).toBe(201);
    expect(await total()).toBe(before + 1);
    await untilAccepted(taken.data.cfe_id);
  });

  test('a certificate that expires meanwhile: what is unsent is refused (S03), what is there waits for a new one', async () => {
    // Long enough for a slow machine to stop its worker before the expiry.
    await uploadCertificate(new Date(Date.now() + 75_000));
    const there = await client.post<CfeAnswer>(path, aCfeBody({ itemName: 'SIM DELAY 80' }));
    await until('it at the authority', 30, async () => (await statusOf(there.data.cfe_id)) === 'RECEIVED');
    await worker.stop();
    const unsent = await issue();
    expect(unsent.status).toBe(201);
    await until('the expiry', 90, async () => {
      const { data } = await client.get<{ status: string }>(`/enterprises/${stack.rut}/certificate`);
      return data.status === 'EXPIRED';
    });
    expect((await issue()).status).toBe(400);

    worker = await stack.start('worker', QUICK);
    await until('the refusal', 60, async () => (await statusOf(unsent.data.cfe_id)) === 'REJECTED');
    expect(await waitsForSupport('authority.certificate')).toEqual([there.data.cfe_id]);
    await uploadCertificate();
    await retry(there.data.cfe_id);
    await untilAccepted(there.data.cfe_id);
  });

  test('an authority that answers and does not decide: after CFE_PATIENCE support is asked, and retries', async () => {
    await worker.stop();
    worker = await stack.start('worker', { ...QUICK, CFE_PATIENCE: '3s' });
    const { data } = await client.post<CfeAnswer>(path, aCfeBody({ itemName: 'SIM DELAY 8' }));

    expect(await waitsForSupport('undecided')).toEqual([data.cfe_id]);
    expect(await statusOf(data.cfe_id)).toBe('RECEIVED');

    await until('the verdict at the authority', 30, async () => {
      const row = (await stack.ledger()).find(({ numero }) => numero === data.numero);
      return row?.verdict === 'AE';
    });
    await retry(data.cfe_id);
    await untilAccepted(data.cfe_id);
  });

  const cli = () =>
    cliOn(databaseUrlAs(stack, 'operator'), {
      TEMPORAL_ADDRESS: temporal.address,
      CFE_DATA_DIR: stack.dataDir,
    });
  /** What waits for support for a reason, once something does. */
  const waitsForSupport = (reason: string): Promise<string[]> =>
    until(`support for ${reason}`, 60, async () => {
      const words = ['cfe', 'list', '--rut', stack.rut, '--stuck-reason', reason];
      const found = await cli().json<{ cfe_id: string }[]>(...words);
      return found.length > 0 ? found.map(({ cfe_id }) => cfe_id) : undefined;
    });
  const retry = (cfeId: string) => cli().json('cfe', 'retry', stack.rut, cfeId, '--reason', 'mended');

  /** The enterprise's next certificate, from the simulator's portal. */
  async function uploadCertificate(notAfter?: Date): Promise<void> {
    const wish = {
      rut: stack.rut,
      password: 'next',
      ...(notAfter ? { not_after: notAfter.toISOString() } : {}),
    };
    const papers = await got.post(`${simulator.baseUrl}/portal/certificates`, { json: wish }).json();
    expect((await client.post(`/enterprises/${stack.rut}/certificate`, papers)).status).toBeLessThan(300);
  }

  /** How often the dispatchers have tried what waits in the outbox. */
  async function mostAttempts(): Promise<number> {
    const [row] = await stack.orm.em
      .fork()
      .execute<{ n: number }[]>(
        'select coalesce(max(attempts), 0)::integer as n from outbox where dispatched_at is null',
      );
    return row?.n ?? 0;
  }
});
