import { describe, expect, test } from '@jest/globals';
import { createVerdictWatch } from '../../../../src/api/receipts/verdictWatch.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { keptLog } from '../../../support/api/api.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { until } from '../../../support/until.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/cfes`;

interface CfeAnswer {
  cfe_id: string;
  cfe_status: string;
  security_code: string | null;
  rejection: unknown;
}

const post = (rut: string, headers: Record<string, string>) =>
  suite.owner.client.post<CfeAnswer>(path(rut), aCfeBody(), headers);
/** The CFE of an enterprise once it is stored. */
const taken = (rut: string) =>
  until('the CFE', 10, async () => (await suite.db.orm.em.fork().findOne(Cfe, { rut })) ?? undefined);
/** Does what the worker does when the authority has judged. */
const settle = async (rut: string, status: 'ACCEPTED' | 'REJECTED' = 'ACCEPTED') => {
  const { id } = await taken(rut);
  const rejection = status === 'REJECTED' ? [{ code: 'E05', message: 'm', detail: null }] : null;
  await suite.db.orm.em
    .fork()
    .nativeUpdate(
      Cfe,
      { id },
      { status, rejection, settledAt: new Date(), signedXml: '<CFE/>', digest: 'aBcDeF0123' },
    );
};
/** What comes of `work` while another request waits for its verdict, begun before and for no less time. */
async function whileAnotherWaits<T>(work: () => Promise<T>): Promise<T> {
  const rut = await ready();
  let over = false;
  const waiting = post(rut, { prefer: 'wait=30' }).finally(() => {
    over = true;
  });
  await taken(rut);
  const result = await work();
  expect(over).toBe(false);
  await settle(rut);
  await waiting;
  return result;
}

/** What is logged of a request once it has ended. */
const endOf = (id: string) =>
  until('the end of the request', 5, async () =>
    suite.api.lines.find(({ requestId, msg }) => requestId === id && msg === 'request'),
  );

describe('Prefer: wait on POST …/cfes', () => {
  test('201 with the verdict as soon as there is one', async () => {
    const rut = await ready();

    const answer = await whileAnotherWaits(async () => {
      const answering = post(rut, { prefer: 'wait=30' });
      await settle(rut, 'REJECTED');
      return answering;
    });

    expect(answer.status).toBe(201);
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    expect(answer.data).toMatchObject({
      cfe_status: 'REJECTED',
      security_code: 'aBcDeF',
      rejection: [{ code: 'E05', message: 'm', detail: null }],
    });
  });

  test('201 as it stands when the time is over', async () => {
    const headers = { prefer: 'wait=1', 'x-request-id': 'one-second' };
    const answer = await post(await ready(), headers);

    expect([answer.status, answer.data.cfe_status]).toEqual([201, 'PENDING']);
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
    const line = await endOf('one-second');
    expect(line['ms']).toBeGreaterThanOrEqual(1_000);
  });

  test('more than 30 counts as 30, and the answer says so', async () => {
    const rut = await ready();
    const answering = post(rut, { prefer: 'wait=3600' });
    await settle(rut);
    expect((await answering).headers.get('preference-applied')).toBe('wait=30');
  });

  test('without it, with one that cannot be read, and where nothing is waited for, the answer comes at once', async () => {
    const answers = [
      await post(await ready(), {}),
      await post(await ready(), { prefer: 'wait=long' }),
      await suite.owner.client.get(path(await ready()), { prefer: 'wait=5' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200]);
    expect(answers.map(({ headers }) => headers.get('preference-applied'))).toEqual([null, null, null]);
  });

  test('a refusal does not wait', async () => {
    const answer = await suite.owner.client.post(path(await ready()), {}, { prefer: 'wait=20' });
    expectRefusal(answer, 400, 'INVALID_INPUT');
    expect(answer.headers.get('preference-applied')).toBeNull();
  });

  test('with an Idempotency-Key: what was answered after waiting is answered again, and at once', async () => {
    const rut = await ready();
    const headers = { prefer: 'wait=30', 'idempotency-key': `wait-${rut}` };
    const answering = post(rut, headers);
    await settle(rut);
    const first = await answering;

    const second = await whileAnotherWaits(() => post(rut, headers));

    expect(first.data.cfe_status).toBe('ACCEPTED');
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
  });

  test('30 may wait at once while others are served', async () => {
    const ruts = await Promise.all(Array.from({ length: 30 }, ready));
    let answered = 0;
    const answering = ruts.map((rut) =>
      post(rut, { prefer: 'wait=30' }).finally(() => {
        answered += 1;
      }),
    );
    await Promise.all(ruts.map(taken));

    const read = await suite.owner.client.get(path(ruts[0] ?? ''));
    const answeredBefore = answered;
    await Promise.all(ruts.map((rut) => settle(rut)));

    expect(read.status).toBe(200);
    expect(answeredBefore).toBe(0);
    const statuses = (await Promise.all(answering)).map(({ data }) => data.cfe_status);
    expect(statuses).toEqual(Array(30).fill('ACCEPTED'));
  });

  test('a caller who hangs up waits no longer; the CFE is issued all the same', async () => {
    const rut = await ready();
    const hangUp = new AbortController();
    const answering = fetch(suite.api.baseUrl + path(rut), {
      method: 'POST',
      signal: hangUp.signal,
      headers: {
        'content-type': 'application/json',
        'x-api-key': suite.owner.apiKey,
        authorization: `Bearer ${suite.owner.token}`,
        'x-request-id': `hang-up-${rut}`,
        prefer: 'wait=30',
      },
      body: JSON.stringify(aCfeBody()),
    });
    await taken(rut);

    hangUp.abort();

    await expect(answering).rejects.toThrow();
    const line = await endOf(`hang-up-${rut}`);
    expect(line['ms']).toBeLessThan(30_000);
    expect(await suite.db.orm.em.fork().count(Cfe, { rut })).toBe(1);
  });
});

describe('the watch over verdicts', () => {
  /** Longer than a test may take. */
  const AN_HOUR = 3_600;
  const waiting = (seconds: number, signal = new AbortController().signal) => ({ seconds, signal });
  const aWatch = () => createVerdictWatch({ orm: suite.db.orm, logger: keptLog().logger });

  test('ends for all who wait when it is closed, and nobody waits afterwards', async () => {
    const watch = aWatch();
    const both = [1, 2].map((last) =>
      watch.wait(`00000000-0000-4000-8000-00000000000${last}`, waiting(AN_HOUR)),
    );

    watch.close();

    expect(await Promise.all(both)).toHaveLength(2);
    await watch.wait('00000000-0000-4000-8000-000000000001', waiting(AN_HOUR));
  });

  test('continues through an outage of the database', async () => {
    const { logger, lines } = keptLog();
    const rut = await ready();
    await post(rut, {});
    const { id } = await taken(rut);
    await settle(rut);
    let broken = true;
    const orm = {
      em: {
        fork() {
          if (broken) throw new Error('connection lost');
          return suite.db.orm.em.fork();
        },
      },
    };
    const mended = async () => {
      await until('a failed look', 5, async () => lines.length > 0 || undefined);
      broken = false;
    };
    await Promise.all([createVerdictWatch({ orm, logger }).wait(id, waiting(AN_HOUR)), mended()]);
    expect(broken).toBe(false);
  });
});
