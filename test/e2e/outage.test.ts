import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import { AuthorityTurn } from '../../src/db/entities/AuthorityTurn.ts';
import { Cfe } from '../../src/db/entities/Cfe.ts';
import { Sobre } from '../../src/db/entities/Sobre.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import type { CfeView } from '../../src/demo/customer.ts';
import { onboard } from '../../src/demo/onboarding.ts';
import { montevideoDate } from '../../src/domain/montevideo.ts';
import { cfeWorkflowId } from '../../src/temporal.ts';
import { type ExtraProcess, startBeside } from '../support/extraProcess.ts';
import { aRut } from '../support/papers.ts';
import { eTicket, type LedgerRow, startTestStack, type TestStack } from '../support/runningStack.ts';
import { until } from '../support/until.ts';

const PER_SECOND = 6;
const SETTINGS = { CFE_DGI_SENDS_PER_SECOND: String(PER_SECOND) };
const WAITING = 200;
const RUTS = [aRut(), aRut(), aRut()];

type Row = LedgerRow & { rut: string };

describe('the authority is away', () => {
  let stack: TestStack;
  let worker: ExtraProcess;
  let orm: Orm;
  let connection: Connection;
  const today = montevideoDate(new Date());

  beforeAll(async () => {
    stack = await startTestStack(SETTINGS);
    const { simulator_url, database_url, temporal_address } = stack.info();
    worker = await startBeside(stack, 'worker', SETTINGS);
    await Promise.all(
      RUTS.map((rut) => onboard(stack.customer, simulator_url, [101], () => {}, undefined, rut)),
    );
    orm = await openOrm({ databaseUrl: database_url, pool: 2 });
    connection = await Connection.connect({ address: temporal_address });
  }, 150_000);
  afterAll(async () => {
    await connection?.close();
    await orm?.close(true);
    await worker?.stop();
    await stack?.stop();
  }, 60_000);

  const portal = () => got.extend({ prefixUrl: `${stack.info().simulator_url}/portal` });
  const isAwayFor = (seconds: number) => portal().put('outage', { json: { seconds } });
  const refused = async () => (await portal().get('outage').json<{ refused: number }>()).refused;
  const ledger = async (): Promise<Row[]> => (await portal().get('ledger').json<{ items: Row[] }>()).items;
  const issue = (rut: string): Promise<CfeView> =>
    stack.customer.send<CfeView>('POST', `enterprises/${rut}/cfes`, eTicket(today));
  /** Issues so many in all, one after another for each enterprise. */
  async function issueInParallel(count: number): Promise<CfeView[]> {
    const issued = await Promise.all(
      RUTS.map(async (rut, index) => {
        const own: CfeView[] = [];
        for (let i = index; i < count; i += RUTS.length) own.push(await issue(rut));
        return own;
      }),
    );
    return issued.flat();
  }
  const count = (where: object) => orm.em.fork().count(Cfe, where);
  const allSettled = (seconds: number) =>
    until('all verdicts', seconds, async () => (await count({ settledAt: null })) === 0 || undefined);
  const isReady = async (url: string) => (await got.get(url, { retry: { limit: 0 } })).statusCode === 200;

  test('200 receipts are taken, wait without a try, and drain in order at the rate when it is back', async () => {
    await isAwayFor(600);

    const issued = await issueInParallel(WAITING);

    expect(new Set(issued.map(({ cfe_status }) => cfe_status))).toEqual(new Set(['PENDING']));
    await until('all that wait', 120, async () => {
      const [turns, sobres] = await Promise.all([
        orm.em.fork().count(AuthorityTurn, {}),
        orm.em.fork().count(Sobre, {}),
      ]);
      return (turns === WAITING && sobres === WAITING) || undefined;
    });
    expect(await isReady(stack.info().base_url.replace('/v1', '/readyz'))).toBe(true);
    expect(await isReady(`${worker.healthUrl}/readyz`)).toBe(true);
    // All but those that were on their way when it went away were never sent, and need not be asked for.
    expect(await orm.em.fork().count(Sobre, { state: 'PREPARED' })).toBeGreaterThanOrEqual(WAITING - 30);
    await expectParked();
    // The calls that found it out, a few beside them, and the probes: not one a CFE.
    expect(await refused()).toBeLessThan(25);

    await isAwayFor(0);
    await allSettled(150);

    expect(await count({ status: 'ACCEPTED' })).toBe(WAITING);
    const rows = await ledger();
    expect(rows.map(({ times_received }) => times_received)).toEqual(rows.map(() => 1));
    expect(rows).toHaveLength(WAITING);
    expect(secondsBetween(rows[0], rows.at(-1))).toBeLessThan((2 * WAITING) / PER_SECOND);
    expectOrder(rows);
  }, 300_000);

  test('the look-up of a RUT says so at once, and asks no more than now and then', async () => {
    await isAwayFor(600);
    const before = await refused();
    for (let i = 0; i < 15; i += 1) {
      const answer = await stack.customer
        .find(`enterprises/${RUTS[0]}/erut`)
        .catch((error: unknown) => error);
      expect(answer).toMatchObject({ message: expect.stringContaining('answered 503') });
    }
    expect((await refused()) - before).toBeLessThanOrEqual(10);
    await isAwayFor(0);
  });

  test('after a short outage in the middle of traffic all goes on within seconds', async () => {
    const traffic = issueInParallel(30);
    await isAwayFor(3);
    const backAt = Date.now() + 3_000;
    const issued = await traffic;
    await allSettled(120);

    expect(await count({ status: 'ACCEPTED' })).toBe(WAITING + issued.length);
    const rows = await ledger();
    expect(new Set(rows.map(({ times_received }) => times_received))).toEqual(new Set([1]));
    const last = Math.max(...rows.map(({ received_at }) => Date.parse(received_at)));
    expect(last - backAt).toBeLessThan(30_000);
  }, 180_000);

  /** One that waits shows it in its details, and has no activity that is tried again and again. */
  async function expectParked(): Promise<void> {
    const [turn] = await orm.em
      .fork()
      .find(AuthorityTurn, { releasedFor: null }, { orderBy: { since: 'desc' }, limit: 1 });
    const { workflow } = new Client({ connection, namespace: stack.info().temporal_namespace });
    const handle = workflow.getHandle(cfeWorkflowId(turn?.cfeId ?? ''));
    const { currentDetails } = await handle.query<{ currentDetails?: string }>(
      '__temporal_workflow_metadata',
    );
    expect(currentDetails).toMatch(/^Waits for its turn/);
    expect((await handle.describe()).raw.pendingActivities ?? []).toEqual([]);
  }
});

const secondsBetween = (first: Row | undefined, last: Row | undefined): number =>
  (Date.parse(last?.received_at ?? '') - Date.parse(first?.received_at ?? '')) / 1_000;

/** The order of docs/decisions/0019-the-gate.md: never above the rate, enterprises in turn while all wait, the oldest first. */
function expectOrder(rows: readonly Row[]): void {
  const moments = rows.map(({ received_at }) => Date.parse(received_at));
  const mostWithin = (milliseconds: number): number =>
    Math.max(...moments.map((from) => moments.filter((at) => at >= from && at < from + milliseconds).length));
  // Slots are evenly apart (integration/gate); on the way to the authority a busy machine draws neighbours together.
  expect(mostWithin(1_000)).toBeLessThanOrEqual(2 * PER_SECOND);
  expect(mostWithin(5_000)).toBeLessThanOrEqual(6 * PER_SECOND);

  const had = new Map(RUTS.map((rut) => [rut, 0]));
  const apart: number[] = [];
  for (const { rut } of rows) {
    had.set(rut, (had.get(rut) ?? 0) + 1);
    const counts = [...had.values()];
    if (counts.every((received) => received < Math.floor(WAITING / RUTS.length)))
      apart.push(Math.max(...counts) - Math.min(...counts));
  }
  // 1, and 2 where neighbours on the way overtook each other.
  expect(Math.max(...apart)).toBeLessThanOrEqual(2);

  for (const rut of RUTS) {
    const numbers = rows.filter((row) => row.rut === rut).map(({ numero }) => numero);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}
