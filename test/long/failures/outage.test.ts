import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import type { CfeView } from '../../../local/demo/customer.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { createChance } from '../../../tools/drills/chaos/chance.ts';
import { type LossyAuthority, startLossyAuthority } from '../../../tools/drills/chaos/lossyAuthority.ts';
import { statusOf } from '../../support/processes/processes.ts';
import { freePort } from '../../support/processes/services.ts';
import { aRut } from '../../support/receipts/papers.ts';
import {
  type ExtraProgram,
  issue as issueAt,
  ledgerOf,
  startBeside,
  startTestStack,
} from '../../support/stacks.ts';
import { detailsOf } from '../../support/temporal/temporal.ts';
import { until } from '../../support/until.ts';
import { useStack } from '../../support/useStack.ts';

/** Low enough for a slow machine to keep up with, if each CFE went by itself. */
const PER_SECOND = 4;
const WAITING = 1_500;
const RUTS = [aRut(), aRut(), aRut()];
/** As many CFEs as share a sobre unless told otherwise. */
const SHARE = 100;
/** Sobres that an enterprise may have begun before the outage is known: each of few CFEs. */
const BEGUN = 4;

describe('the authority is away', () => {
  let worker: ExtraProgram;
  let connection: Connection;
  /** Counts the calls. */
  let line: LossyAuthority;
  afterAll(async () => {
    await connection?.close();
    await worker?.stop();
    await line?.close();
  });
  const settings = (): Record<string, string> => ({
    CFE_DGI_SENDS_PER_SECOND: String(PER_SECOND),
    CFE_DGI_PRODUCTION_RECEPTION_URL: `${line.url}/production/ws_efactura`,
    CFE_DGI_PRODUCTION_CONSULTATION_URL: `${line.url}/production/ws_consultas`,
  });
  const stack = useStack(
    async () => {
      const port = await freePort();
      line = await startLossyAuthority(`http://127.0.0.1:${port}`, 0, createChance(1));
      return startTestStack({ ...settings(), CFE_SIMULATOR_PORT: String(port) });
    },
    async (of) => {
      worker = await startBeside(of, 'worker', settings());
      await Promise.all(RUTS.map((rut) => of.onboard([101], rut)));
      connection = await Connection.connect({ address: of.info().temporal_address });
    },
  );

  const portal = () => got.extend({ prefixUrl: `${stack.info().simulator_url}/portal` });
  const isAwayFor = (seconds: number) => portal().put('outage', { json: { seconds } });
  const refused = async () => (await portal().get('outage').json<{ refused: number }>()).refused;
  const ledger = () => ledgerOf(stack.info().simulator_url);
  const issue = (rut: string): Promise<CfeView> => issueAt(stack.customer, rut);
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
  const count = (where: object) => stack.orm.em.fork().count(Cfe, where);
  const allSettled = () => until('all verdicts', 150, async () => (await count({ settledAt: null })) === 0);

  test('receipts are taken and wait as rows; once it is back they share a few sobres, in order, at the rate', async () => {
    await isAwayFor(600);

    const issued = await issueInParallel(WAITING);

    expect(new Set(issued.map(({ cfe_status }) => cfe_status))).toEqual(new Set(['PENDING']));
    await until('all to be signed', 120, async () => (await count({ digest: null })) === 0);
    expect(await statusOf(stack.info().base_url.replace('/v1', '/readyz'))).toBe(200);
    expect(await statusOf(`${worker.healthUrl}/readyz`)).toBe(200);
    // Those by which it was found out, and the prober; all else has neither sobre nor run.
    const begun = await sobres();
    expect(begun).toBeLessThanOrEqual(BEGUN * RUTS.length);
    expect(await count({ sobreId: null })).toBeGreaterThanOrEqual(WAITING - begun * SHARE);
    await until('the list of runs', 30, async () => (await runs()) === begun);
    // The calls that found it out, a few beside them, and the probes: not one a CFE.
    expect(await refused()).toBeLessThan(25);
    await expectParked();

    const callsBefore = line.answers().passed;
    const backAt = new Date();
    await isAwayFor(0);
    await allSettled();

    expect(await count({ status: 'ACCEPTED' })).toBe(WAITING);
    const rows = await ledger();
    expect(rows.map(({ times_received }) => times_received)).toEqual(rows.map(() => 1));
    expect(rows).toHaveLength(WAITING);
    // What filled a sobre, and a rest of each enterprise.
    const made = (await sobres()) - begun;
    expect(made).toBeLessThanOrEqual(WAITING / SHARE + RUTS.length);
    await until('the list of runs', 30, async () => (await runs()) === begun + made);
    expect((line.answers().passed - callsBefore) / WAITING).toBeLessThanOrEqual(0.05);
    await expectOrder(backAt);
  });

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

  test('after a short outage in the middle of traffic all goes on, and nothing is sent twice', async () => {
    const traffic = issueInParallel(30);
    await isAwayFor(3);
    const issued = await traffic;
    await allSettled();

    expect(await count({ status: 'ACCEPTED' })).toBe(WAITING + issued.length);
    const rows = await ledger();
    expect(new Set(rows.map(({ times_received }) => times_received))).toEqual(new Set([1]));
  });

  const sobres = () => stack.orm.em.fork().count(Sobre, {});
  const workflows = () => new Client({ connection, namespace: stack.info().temporal_namespace }).workflow;
  async function runs(): Promise<number> {
    return (await workflows().count("WorkflowType = 'issueCfes'")).count;
  }

  /** A sobre that waits for its slot shows it in its details, and has no activity that is tried again and again. */
  async function expectParked(): Promise<void> {
    const waiting = await stack.orm.em
      .fork()
      .find(Sobre, { slot: null, state: { $in: ['PREPARED', 'SENDING'] } });
    for (const { workflowId } of waiting) {
      const handle = workflows().getHandle(workflowId);
      expect(await detailsOf(handle)).toMatch(/^Waits for a slot/);
      expect((await handle.describe()).raw.pendingActivities ?? []).toEqual([]);
    }
  }

  /**
   * The order of docs/decisions/gate.md: enterprises in turn while all wait, never above the rate; of each
   * enterprise the oldest first.
   */
  async function expectOrder(backAt: Date): Promise<void> {
    const rows = await stack.orm.em
      .fork()
      .execute<{ rut: string; slot: string; first: number; last: number }[]>(
        `select sobre.rut, slot, min(sequence) as first, max(sequence) as last
       from sobre join cfe on sobre_id = sobre.id group by sobre.id order by slot, sobre.created_at`,
      );
    for (const ofRut of Map.groupBy(rows, ({ rut }) => rut).values()) {
      const inOrder = ofRut.toSorted((a, b) => a.first - b.first);
      expect(inOrder.slice(1).every(({ first }, i) => first > (inOrder[i]?.last ?? 0))).toBe(true);
    }
    const drained = rows.filter(({ slot }) => Date.parse(slot) > backAt.getTime());
    expect(drained.length).toBeGreaterThan(RUTS.length);
    const slots = drained.map(({ slot }) => Date.parse(slot));
    for (const [i, slot] of slots.slice(1).entries())
      expect(slot - (slots[i] ?? 0)).toBeGreaterThanOrEqual(1_000 / PER_SECOND - 1);
    // Whoever has had a full sobre waits until the others have had one.
    const turns = drained.slice(0, 2 * RUTS.length).map(({ rut }) => rut);
    expect(new Set(turns.slice(0, RUTS.length)).size).toBe(RUTS.length);
  }
});
