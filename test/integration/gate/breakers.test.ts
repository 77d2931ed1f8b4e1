import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { endpointStates, lockEndpoint } from '../../../src/db/authorityEndpoints.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import type { Guard, Pass } from '../../../src/dgi/guard.ts';
import { type Endpoint, FAILURES_TO_OPEN } from '../../../src/domain/breaker.ts';
import { createBreakers } from '../../../src/gate/breakers.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';

const RECEPTION: Endpoint = 'production/reception';
/** By then every process knows what another has found out. */
const KNOWN_EVERYWHERE = 300;

describe('breakers that two processes share', () => {
  let db: TestDatabase;
  let other: Orm;
  let now: Date;
  let processes: Guard[];
  beforeEach(async () => {
    db = await cloneDatabase();
    other = await openOrm({ databaseUrl: db.databaseUrl, pool: 10 });
    now = new Date('2026-11-20T12:00:00Z');
    processes = [db.orm, other].map((orm) => createBreakers({ orm, clock: () => now, chance: () => 0 }));
  });
  afterEach(async () => {
    await other.close(true);
    await db[Symbol.asyncDispose]();
  });

  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const guard = (index: number): Guard => {
    const one = processes[index];
    if (!one) throw new Error('there are two');
    return one;
  };
  const ask = (of: Guard, endpoint: Endpoint = RECEPTION) => of.pass({ endpoint, isProbe: false });
  const probe = (of: Guard) => of.pass({ endpoint: RECEPTION, isProbe: true });
  async function call(
    of: Guard,
    how: 'answered' | 'failed',
    endpoint: Endpoint = RECEPTION,
  ): Promise<boolean> {
    const pass = await ask(of, endpoint);
    await pass?.ended(how);
    return pass !== null;
  }
  async function failsTillOpen(): Promise<void> {
    for (let i = 0; i < FAILURES_TO_OPEN; i += 1) expect(await call(guard(i % 2), 'failed')).toBe(true);
    passes(KNOWN_EVERYWHERE);
  }
  const openSince = async (endpoint: Endpoint) =>
    (await endpointStates(db.orm.em.fork(), now)).find((state) => state.endpoint === endpoint)?.openSince;

  test('failures of both count together; once open, neither calls, and other endpoints go on', async () => {
    await failsTillOpen();

    expect(await ask(guard(0))).toBeNull();
    expect(await ask(guard(1))).toBeNull();
    expect(await call(guard(0), 'answered', 'production/consultation')).toBe(true);
    expect(await call(guard(1), 'answered', 'sandbox/reception')).toBe(true);
    expect(await openSince(RECEPTION)).toBeInstanceOf(Date);
    expect(await openSince('credentials')).toBeNull();
  });

  test('one that nobody asks anything of any more is not told as away, and tried by the next who comes', async () => {
    await failsTillOpen();
    passes(600_000);
    expect(await openSince(RECEPTION)).toBeNull();
    expect(await call(guard(0), 'failed')).toBe(true);
    expect(await openSince(RECEPTION)).toBeInstanceOf(Date);
  });

  test('an answer to either forgets the failures of both', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let i = 1; i < FAILURES_TO_OPEN; i += 1) await call(guard(0), 'failed');
      passes(KNOWN_EVERYWHERE);
      await call(guard(1), 'answered');
      passes(KNOWN_EVERYWHERE);
    }
    expect(await openSince(RECEPTION)).toBeNull();
  });

  test('when a probe is due, one of forty that ask at once goes', async () => {
    await failsTillOpen();
    passes(1_000);

    const asked = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(guard(i % 2))));

    expect(asked.filter((pass): pass is Pass => pass !== null)).toHaveLength(1);
  });

  test('a probe that works lets both through again; one that fails makes the pause longer', async () => {
    await failsTillOpen();
    passes(1_000);
    expect(await call(guard(0), 'failed')).toBe(true);
    passes(1_999);
    expect(await ask(guard(1))).toBeNull();
    passes(1);

    expect(await call(guard(1), 'answered')).toBe(true);

    passes(KNOWN_EVERYWHERE);
    expect(await call(guard(0), 'answered')).toBe(true);
    expect(await openSince(RECEPTION)).toBeNull();
  });

  test('a process whose clock was an hour ahead when it opened keeps no probe back', async () => {
    passes(3_600_000);
    await failsTillOpen();
    passes(-3_600_000);

    expect(await call(guard(1), 'answered')).toBe(true);
    expect(await openSince(RECEPTION)).toBeNull();
  });

  test('an answer to a call that was made before it opened closes nothing: the probe does', async () => {
    const early = await ask(guard(0));
    await failsTillOpen();
    await early?.ended('answered');
    passes(KNOWN_EVERYWHERE);
    expect(await ask(guard(0))).toBeNull();
  });

  test('while a CFE is to be the probe, no other call takes its place', async () => {
    await failsTillOpen();
    await db.orm.em.fork().transactional(async (em) => {
      (await lockEndpoint(em, RECEPTION)).proberId = randomUUID();
    });
    passes(1_000);

    expect(await ask(guard(0))).toBeNull();
    const pass = await probe(guard(1));
    expect(pass).not.toBeNull();
    await pass?.ended('answered');
    passes(KNOWN_EVERYWHERE);
    expect(await ask(guard(0))).not.toBeNull();
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
