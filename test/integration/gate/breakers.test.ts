import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { listEndpointStates, lockEndpoint } from '../../../src/db/authority/authorityEndpoints.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import type { Breakers, CallPermit } from '../../../src/dgi/calls.ts';
import { type Endpoint, FAILURES_TO_OPEN } from '../../../src/domain/authority/breaker.ts';
import { createBreakers } from '../../../src/gate/breakers.ts';
import { anHourAhead } from '../../support/clocks.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { until } from '../../support/until.ts';

const RECEPTION: Endpoint = 'production/reception';
/** By then every process knows what another has found out. */
const KNOWN_EVERYWHERE = 300;

describe('breakers that two processes share', () => {
  let db: TestDatabase;
  let other: Orm;
  let now: Date;
  let processes: Breakers[];
  beforeEach(async () => {
    db = await cloneDatabase({ worker: true });
    other = await openOrm({ databaseUrl: db.urlOf('worker'), pool: 10 });
    now = new Date('2026-11-20T12:00:00Z');
    processes = [db.worker, other].map((orm) => createBreakers({ orm, clock: () => now, chance: () => 0 }));
  });
  afterEach(async () => {
    await other.close(true);
    await db[Symbol.asyncDispose]();
  });

  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const process = (index: number): Breakers => {
    const one = processes[index];
    if (!one) throw new Error('there are two');
    return one;
  };
  const ask = (of: Breakers, endpoint: Endpoint = RECEPTION) => of.permit({ endpoint, isProbe: false });
  const probe = (of: Breakers) => of.permit({ endpoint: RECEPTION, isProbe: true });
  async function call(
    of: Breakers,
    how: 'answered' | 'failed',
    endpoint: Endpoint = RECEPTION,
  ): Promise<boolean> {
    const permit = await ask(of, endpoint);
    await permit?.ended(how);
    return permit !== null;
  }
  async function failsTillOpen(): Promise<void> {
    for (let i = 0; i < FAILURES_TO_OPEN; i += 1) expect(await call(process(i % 2), 'failed')).toBe(true);
    passes(KNOWN_EVERYWHERE);
  }
  const openSince = async (endpoint: Endpoint) =>
    (await listEndpointStates(db.orm.em.fork(), () => now)).find((state) => state.endpoint === endpoint)
      ?.openSince;

  test('failures of both count together; once open, neither calls, and other endpoints go on', async () => {
    await failsTillOpen();

    expect(await ask(process(0))).toBeNull();
    expect(await ask(process(1))).toBeNull();
    expect(await call(process(0), 'answered', 'production/consultation')).toBe(true);
    expect(await call(process(1), 'answered', 'sandbox/reception')).toBe(true);
    expect(await openSince(RECEPTION)).toBeInstanceOf(Date);
    expect(await openSince('credentials')).toBeNull();
  });

  test('one that nobody asks anything of any more is not told as away, and tried by the next who comes', async () => {
    await failsTillOpen();
    passes(600_000);
    expect(await openSince(RECEPTION)).toBeNull();
    expect(await call(process(0), 'failed')).toBe(true);
    expect(await openSince(RECEPTION)).toBeInstanceOf(Date);
  });

  test('an answer to either forgets the failures of both', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let i = 1; i < FAILURES_TO_OPEN; i += 1) await call(process(0), 'failed');
      passes(KNOWN_EVERYWHERE);
      await call(process(1), 'answered');
      passes(KNOWN_EVERYWHERE);
    }
    expect(await openSince(RECEPTION)).toBeNull();
  });

  test('when a probe is due, one of forty that ask at once goes', async () => {
    await failsTillOpen();
    passes(1_000);

    const asked = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(process(i % 2))));

    expect(asked.filter((permit): permit is CallPermit => permit !== null)).toHaveLength(1);
  });

  test('a probe that works lets both through again; one that fails makes the pause longer', async () => {
    await failsTillOpen();
    passes(1_000);
    expect(await call(process(0), 'failed')).toBe(true);
    passes(1_999);
    expect(await ask(process(1))).toBeNull();
    passes(1);

    expect(await call(process(1), 'answered')).toBe(true);

    passes(KNOWN_EVERYWHERE);
    expect(await call(process(0), 'answered')).toBe(true);
    expect(await openSince(RECEPTION)).toBeNull();
  });

  test('a process whose own clock is an hour ahead keeps no probe back: the time is PostgreSQL’s', async () => {
    const [one, two] = [db.worker, other].map((orm) => createBreakers({ orm, chance: () => 0 }));
    if (!one || !two) throw new Error('there are two');
    await anHourAhead(async () => {
      for (let i = 0; i < FAILURES_TO_OPEN; i += 1) await call(one, 'failed');
    });
    expect(await ask(two)).toBeNull();

    await until('the probe', 10, async () => (await call(two, 'answered')) || undefined);

    expect(await openSince(RECEPTION)).toBeNull();
  });

  test('an answer to a call that was made before it opened closes nothing: the probe does', async () => {
    const early = await ask(process(0));
    await failsTillOpen();
    await early?.ended('answered');
    passes(KNOWN_EVERYWHERE);
    expect(await ask(process(0))).toBeNull();
  });

  test('while a CFE is to be the probe, no other call takes its place', async () => {
    await failsTillOpen();
    await db.orm.em.fork().transactional(async (em) => {
      (await lockEndpoint(em, RECEPTION, () => now)).setProber(randomUUID());
    });
    passes(1_000);

    expect(await ask(process(0))).toBeNull();
    const permit = await probe(process(1));
    expect(permit).not.toBeNull();
    await permit?.ended('answered');
    passes(KNOWN_EVERYWHERE);
    expect(await ask(process(0))).not.toBeNull();
  });

  test('in quiet times a call costs no statement but a look every 250 ms', async () => {
    let looks = 0;
    const { em } = db.orm;
    const counting = {
      em: {
        fork: () => {
          looks += 1;
          return em.fork();
        },
      },
    } as unknown as Orm;
    const quiet = createBreakers({ orm: counting, clock: () => now });
    for (let i = 0; i < 100; i += 1) {
      expect(await call(quiet, 'answered')).toBe(true);
      passes(5);
    }
    expect(looks).toBeLessThanOrEqual(3);
  });
});
