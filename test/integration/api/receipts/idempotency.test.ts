import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../../../src/commands/authority/addAuthorityCertificates.ts';
import { Certificate, Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { Cae } from '../../../../src/db/entities/numbers.ts';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { purgeExpiredRows } from '../../../../src/db/operations/purge.ts';
import { type Orm, openOrm } from '../../../../src/db/orm.ts';
import { keepAnswer, lockIdempotencyKey } from '../../../../src/db/people/idempotency.ts';
import { serviceKeys, startApi, type TestApi, type TestCaller } from '../../../support/api/api.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { type Answer, sendRaw } from '../../../support/api/http.ts';
import { idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { RETENTION } from '../../../support/database/retention.ts';
import {
  aReadyEnterprise,
  enterpriseBody,
  giveCae,
  giveCertificate,
} from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import {
  AUTHORITY_RUT_VARIABLES,
  aCertificate,
  anAuthority,
  costlyP12,
} from '../../../support/receipts/papers.ts';
import { until } from '../../../support/until.ts';

interface CfeAnswer {
  cfe_id: string;
  numero: number;
  cfe_status: string;
}

const HOUR = 3_600_000;
let later = 0;
const clock = () => new Date(Date.now() + later);

let db: TestDatabase;
let otherOrm: Orm;
let api: TestApi;
let other: TestApi;
let owner: TestCaller;
let dispatched = 0;
const authority = anAuthority();
const sandboxAuthority = anAuthority('sandbox', { rut: AUTHORITY_RUT_VARIABLES.sandbox });

beforeAll(async () => {
  db = await cloneDatabase({ pool: 20 });
  otherOrm = await openOrm({ databaseUrl: db.databaseUrl, pool: 20 });
  const keys = await serviceKeys();
  const outbox = { ...idleOutbox, dispatchStored: () => void (dispatched += 1) };
  api = await startApi({ orm: db.orm, keys, clock, outbox });
  other = await startApi({ orm: otherOrm, keys, clock });
  owner = await api.aCaller();
  const pem = authority.certificatePem + sandboxAuthority.certificatePem;
  await addAuthorityCertificates({ ...api.deps, authorityRuts: AUTHORITY_RUT_VARIABLES }, { pem });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await otherOrm?.close(true);
  await db?.[Symbol.asyncDispose]();
});

let made = 0;
const aKey = () => `order-${(made += 1)}`;
const ready = () => aReadyEnterprise(db.orm, owner.accountId);
const cfes = (rut: string) => `/enterprises/${rut}/cfes`;
const withKey = (caller: TestCaller, key: string) => caller.client.with({ 'idempotency-key': key });
const post = (path: string, key: string, body: unknown = aCfeBody(), caller = owner) =>
  withKey(caller, key).post<CfeAnswer>(path, body);
/** The same caller at the other process. */
const otherPost = (path: string, key: string, body: unknown = aCfeBody()) =>
  other.client
    .with({
      'x-api-key': owner.apiKey,
      authorization: `Bearer ${owner.token}`,
      'idempotency-key': key,
    })
    .post<CfeAnswer>(path, body);
const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed');
const stored = (rut: string) => db.orm.em.fork().count(Cfe, { rut });

const certificateBody = (rut: string) => {
  const { certB64, password } = aCertificate({ rut });
  return { cert_b64: certB64, password };
};

describe('Idempotency-Key on POST …/cfes', () => {
  test('the same key and body: the first answer again, byte for byte, and one number', async () => {
    const rut = await ready();
    const key = aKey();
    const body = aCfeBody({ type: 'EFACTURA' });
    const before = dispatched;

    const first = await post(cfes(rut), key, body);
    const second = await post(cfes(rut), key, body);

    expect([first.status, replayed(first)]).toEqual([201, null]);
    expect([second.status, replayed(second)]).toEqual([201, 'true']);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await stored(rut)).toBe(1);
    expect(dispatched).toBe(before + 1);
    const { workflowId } = await db.orm.em.fork().findOneOrFail(Cfe, { rut });
    expect(await db.orm.em.fork().count(OutboxMessage, { workflowId })).toBe(1);
  });

  test('the CFE as it was first answered, whatever has become of it since, years later', async () => {
    const rut = await ready();
    const key = aKey();
    const first = await post(cfes(rut), key);
    await db.orm.em.fork().nativeUpdate(
      Cfe,
      { rut },
      {
        status: 'REJECTED',
        settledAt: new Date(),
        signedXml: '<CFE/>',
        digest: 'abcdef0123',
        rejection: [{ code: 'E05', message: 'm', detail: null }],
      },
    );
    later = 3 * 365 * 24 * HOUR;
    await purgeExpiredRows(db.orm, { now: clock(), retention: RETENTION, batch: 100 });
    const token = await api.deps.tokens.issue(
      { accountId: owner.accountId, keyId: await keyIdOf(owner), environment: 'production' },
      clock(),
    );

    const second = await withKey(owner, key)
      .with({ authorization: `Bearer ${token}` })
      .post(cfes(rut), aCfeBody());
    later = 0;

    expect([second.status, replayed(second)]).toEqual([201, 'true']);
    expect(second.text).toBe(first.text);
  });

  test('50 at once with one key, at two processes: one CFE, one first answer, 49 times the same again', async () => {
    const rut = await ready();
    const key = aKey();
    const body = aCfeBody();

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? post : otherPost)(cfes(rut), key, body)),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await stored(rut)).toBe(1);
  });

  test('50 keys at once are 50 CFEs without gap', async () => {
    const rut = await ready();
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(cfes(rut), aKey())));
    const numbers = answers.map(({ data }) => data.numero).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  test('409 while the first is still at work, and nothing is done twice', async () => {
    const rut = await ready();
    const key = aKey();
    // Whoever takes a number waits for the row of its type's sequence: here for this transaction.
    const blocked = await db.orm.em.fork().transactional(async (em) => {
      await em.execute(
        `insert into cfe_sequence (rut, environment, type, last) values (?, 'production', 'ETICKET', 0)`,
        [rut],
      );
      const first = post(cfes(rut), key);
      await until('the first at work', 10, isKeyHeld);
      const second = await otherPost(cfes(rut), key);
      return { first, second };
    });

    expectRefusal(blocked.second, 409, 'IDEMPOTENCY_IN_PROGRESS');
    expect(blocked.second.headers.get('retry-after')).toBe('1');
    expect((await blocked.first).status).toBe(201);
    expect(replayed(await otherPost(cfes(rut), key))).toBe('true');
    expect(await stored(rut)).toBe(1);
  });

  test('the same request in other bytes is the same: blanks, order, forms of numbers and of strings', async () => {
    const rut = await ready();
    const key = aKey();
    const body = { ...aCfeBody(), extra: '{"adenda":"Año nuevo"}' };
    const text = JSON.stringify(body);
    const first = await post(cfes(rut), key, text);
    const reversed = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(reversed);
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, part]) => [name, reversed(part)]),
      );
    };
    const others = [
      JSON.stringify(body, null, 2),
      JSON.stringify(reversed(body)),
      text.replace(/:(\d+)([,}])/g, ':$1.0$2'),
      text.replace(/:(\d+)([,}])/g, ':$1.00e0$2'),
      text.replace(/:(\d+)([,}])/g, ':$1000E-3$2'),
      text.replace('"cfe_type"', '"\\u0063fe_type"').replace('"ETICKET"', '"\\u0045TICKET"'),
      text.replace('ñ', '\\u00f1'),
      JSON.stringify({ ...body, extra: '{ "adenda": "A\\u00f1o nuevo" }' }),
    ];
    expect(first.status).toBe(201);
    expect(new Set([text, ...others]).size).toBe(others.length + 1);
    for (const other of others) {
      const again = await post(cfes(rut), key, other);
      expect([again.status, replayed(again), again.text]).toEqual([201, 'true', first.text]);
    }
    expect(await stored(rut)).toBe(1);
  });

  /** The same request with another value at the path; undefined takes it away. */
  const changed = (path: readonly (string | number)[], value: unknown) => (rut: string, key: string) => {
    const body = structuredClone(aCfeBody());
    const last = path.at(-1) ?? '';
    const holder = path
      .slice(0, -1)
      .reduce<Record<string, unknown>>((at, step) => at[step] as Record<string, unknown>, body);
    holder[last] = value;
    return post(cfes(rut), key, body);
  };
  test.each<[string, (rut: string, key: string) => ReturnType<typeof post>, string]>([
    ['another amount', changed(['header', 'totals', 'pay_amount'], 5), '/header/totals/pay_amount'],
    ['another line', changed(['details', 0, 'item_name'], 'Otra cosa'), '/details/0/item_name'],
    ['one line more', changed(['details', 1], {}), '/details/1'],
    ['a field more', changed(['extra'], '{}'), '/extra'],
    [
      'a field less',
      changed(['header', 'doc_id', 'payment_method'], undefined),
      '/header/doc_id/payment_method',
    ],
    ['no lines', changed(['details'], []), '/details/0'],
    ['text for a number', changed(['header', 'totals', 'line_count'], '1'), '/header/totals/line_count'],
    ['a list for an object', changed(['header'], []), '/header'],
    ['another path', (_: string, key: string) => post('/enterprises', key, enterpriseBody()), ''],
  ])('422: the key with %s names its CFE and the first difference', async (_, again, path) => {
    const rut = await ready();
    const key = aKey();
    const first = await post(cfes(rut), key);

    const error = expectRefusal(await again(rut, key), 422, 'IDEMPOTENCY_KEY_REUSED');

    expect(error.details).toEqual({
      enterprise_rut: rut,
      cfe_id: first.data.cfe_id,
      fields: [
        {
          path,
          code: 'idempotency_key.reused',
          message: expect.any(String),
          docs: 'https://cfe.example/v1/docs/refused#idempotency_key.reused',
        },
      ],
    });
    expect(error.message).toContain(`CFE ${first.data.cfe_id} of ${rut}`);
    expect(JSON.stringify(error)).not.toMatch(/new key|another key/i);
    expect(await stored(rut)).toBe(1);
  });

  test('what is kept of a request tells its fields, and no value of them', async () => {
    const rut = await ready();
    const key = aKey();
    await post(cfes(rut), key, { ...aCfeBody(), extra: '{"adenda":"Muy personal"}' });
    const [row] = await db.orm.em
      .fork()
      .execute<{ outline: object }[]>(
        'select idempotency_outline as outline from cfe where idempotency_key = ?',
        [key],
      );
    const kept = JSON.stringify(row?.outline);
    expect(kept).toContain('"adenda":"');
    for (const value of ['personal', 'ETICKET', '2026']) expect(kept).not.toContain(value);
  });

  test('422: the key of another kind of request that was still at work when this one came', async () => {
    const rut = await ready();
    const scope = { accountId: owner.accountId, environment: 'production', key: aKey() } as const;
    const late = await db.orm.em.fork().transactional(async (em) => {
      await lockIdempotencyKey(em, scope, 1_000);
      const answer = post(cfes(rut), scope.key);
      await until('the request to wait for its key', 10, isKeyAwaited);
      const of = { hash: Buffer.from('of another'), outline: { check: '', body: {} } };
      await keepAnswer(em, scope, { ...of, answer: '{}', now: clock() });
      return { answer };
    });

    expectRefusal(await late.answer, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await stored(rut)).toBe(0);
    const numbers = await db.orm.em.fork().findOneOrFail(Cae, { rut, type: 'ETICKET' });
    expect(numbers.lastNumber).toBe(0);
  });

  test('a refusal is not kept: mended, the request goes through with the key', async () => {
    const rut = await ready();
    const key = aKey();

    expectRefusal(await post(cfes(rut), key, { ...aCfeBody(), details: [] }), 400, 'INVALID_INPUT');
    const mended = await post(cfes(rut), key);

    expect([mended.status, replayed(mended), mended.data.numero]).toEqual([201, null, 1]);
  });

  test('a key belongs to its account and environment', async () => {
    const rut = await ready();
    await giveCertificate(db.orm, rut, { environment: 'sandbox' });
    await giveCae(db.orm, rut, { environment: 'sandbox', serie: 'B' });
    const sandbox = await api.aCaller({ accountId: owner.accountId, environment: 'sandbox' });
    const stranger = await api.aCaller();
    const theirs = await aReadyEnterprise(db.orm, stranger.accountId);
    const key = aKey();

    const answers = [
      await post(cfes(rut), key),
      await post(cfes(rut), key, aCfeBody(), sandbox),
      await post(cfes(theirs), key, aCfeBody(), stranger),
    ];

    expect(answers.map((answer) => [answer.status, replayed(answer)])).toEqual([
      [201, null],
      [201, null],
      [201, null],
    ]);
    const again = await post(cfes(rut), key, aCfeBody(), sandbox);
    expect([replayed(again), again.text]).toEqual(['true', answers[1]?.text]);
  });

  test('in the sandbox the papers that lack are fetched before the key’s transaction, and stay though it is refused', async () => {
    const rut = await ready();
    const heldWhileFetching: unknown[] = [];
    const fetching = async <T>(papers: T): Promise<T> => {
      heldWhileFetching.push(await isKeyHeld());
      return papers;
    };
    const testKit = {
      certificate: () => {
        const { cert_b64, password } = certificateBody(rut);
        return fetching({ file: Buffer.from(cert_b64, 'base64'), password });
      },
      cae: () =>
        fetching({ file: Buffer.from(sandboxAuthority.caeXml({ rut, serie: 'T' })), startNumber: 1 }),
    };
    await using equipped = await startApi({ orm: db.orm, keys: api.deps, clock, testKit });
    const sandbox = await equipped.aCaller({ accountId: owner.accountId, environment: 'sandbox' });
    const key = aKey();

    const refused = await post(cfes(rut), key, { ...aCfeBody(), details: [] }, sandbox);
    const [first, second] = [
      await post(cfes(rut), key, aCfeBody(), sandbox),
      await post(cfes(rut), key, aCfeBody(), sandbox),
    ];

    expectRefusal(refused, 400, 'INVALID_INPUT');
    expect([first.status, second.text, replayed(second)]).toEqual([201, first.text, 'true']);
    expect(heldWhileFetching).toEqual([undefined, undefined]);
  });

  test('a certificate is opened while no transaction of its key is open, and not again for the first answer', async () => {
    const rut = await ready();
    const [key, lost] = [aKey(), aKey()];
    const path = `/enterprises/${rut}/certificate`;
    const body = certificateBody(rut);
    const costly = { ...body, cert_b64: costlyP12(body.cert_b64, 300_000) };
    const first = await post(path, key, body);

    const run = { isOver: false };
    const opening = post(path, lost, costly).finally(() => {
      run.isOver = true;
    });
    const held: unknown[] = [];
    // It begins to be opened meanwhile: those that come after these answers do not overtake it.
    for (let i = 0; i < 3; i += 1) await owner.client.get(path);
    // The queue behind it is full: a file that had to be opened would be refused.
    const waiting = Array.from({ length: 5 }, () => owner.client.post(path, costly));
    const again = post(path, key, body);
    while (!run.isOver) held.push(await isKeyHeld());

    expectFaults(await opening, [['/password', 'certificate.wrong_password', /./]]);
    expect(held.filter(Boolean)).toEqual([]);
    expect([first.status, replayed(await again), (await again).text]).toEqual([201, 'true', first.text]);
    const refused = (await Promise.all(waiting)).filter(({ status }) => status === 503);
    expect(refused.map(({ error, headers }) => [error.code, headers.get('retry-after')])).toContainEqual([
      'UNAVAILABLE',
      '3',
    ]);
    expect(await db.orm.em.fork().count(Certificate, { rut })).toBe(2);
  });

  test('403 comes before the first answer: who has no role any more learns nothing by a key', async () => {
    const rut = await ready();
    const key = aKey();
    await post(cfes(rut), key);
    await db.orm.em
      .fork()
      .nativeUpdate(Enterprise, { rut }, { ownerAccountId: (await api.aCaller()).accountId });

    expectRefusal(await post(cfes(rut), key), 403, 'FORBIDDEN');
  });
});

describe('Idempotency-Key on other routes', () => {
  test('POST /enterprises: once, then the first answer again for 24 hours, then anew', async () => {
    const key = aKey();
    const body = enterpriseBody();

    const first = await post('/enterprises', key, body);
    const second = await post('/enterprises', key, body);

    expect([first.status, replayed(first)]).toEqual([201, null]);
    expect([second.status, replayed(second), second.text]).toEqual([201, 'true', first.text]);
    const rows = () =>
      db.orm.em.fork().execute<unknown[]>('select 1 from idempotent_answer where key = ?', [key]);
    expect(await rows()).toHaveLength(1);

    later = 24 * HOUR + 1_000;
    const token = await api.deps.tokens.issue(
      { accountId: owner.accountId, keyId: await keyIdOf(owner), environment: 'production' },
      clock(),
    );
    const third = await withKey(owner, key)
      .with({ authorization: `Bearer ${token}` })
      .post('/enterprises', body);
    await purgeExpiredRows(db.orm, { now: clock(), retention: RETENTION, batch: 100 });
    later = 0;

    expectRefusal(third, 400, 'ALREADY_EXISTS');
    expect(await rows()).toEqual([]);
  });

  test('20 at once register an enterprise once', async () => {
    const key = aKey();
    const body = enterpriseBody();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? post : otherPost)('/enterprises', key, body)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
  });

  test('validate-efactura: 202 again, and the password is nowhere in what is kept', async () => {
    const rut = await ready();
    const key = aKey();
    const path = `/enterprises/${rut}/validate-efactura`;
    const body = { username: 'portal', password: 'muy-secreta-9' };

    const first = await post(path, key, body);
    const second = await post(path, key, body);

    expect([first.status, replayed(first)]).toEqual([202, null]);
    expect([second.status, replayed(second), second.text]).toEqual([202, 'true', first.text]);
    const reordered = '{"password": "muy-secret\\u0061-9", "username": "portal"}';
    expect(replayed(await post(path, key, reordered))).toBe('true');
    const other = await post(path, key, { ...body, password: 'otra' });
    const error = expectRefusal(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(error.details?.fields).toMatchObject([{ path: '/password', code: 'idempotency_key.reused' }]);
    expect(error.details).not.toHaveProperty('cfe_id');
    expect(other.text).not.toContain('secreta');
    const [row] = await db.orm.em
      .fork()
      .execute<{ kept: string }[]>('select t::text as kept from idempotent_answer t where key = ?', [key]);
    expect(row?.kept).not.toContain('muy-secreta-9');
  });

  test.each<[string, (rut: string) => unknown]>([
    ['caes', (rut) => ({ cae_b64: authority.cae({ rut, serie: 'Z' }), cae_start_number: 1 })],
    ['certificate', certificateBody],
    ['customers', () => ({ doc_type: 'NIFE', doc_number: 'BR-1', legal_name: 'Importadora Ltda.' })],
  ])('POST …/%s: 201, and the same again', async (name, bodyFor) => {
    const rut = await ready();
    const key = aKey();
    const path = `/enterprises/${rut}/${name}`;
    const body = bodyFor(rut);

    const first = await post(path, key, body);
    const answers = await Promise.all([post(path, key, body), otherPost(path, key, body)]);

    expect([first.status, replayed(first)]).toEqual([201, null]);
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [201, first.text],
      [201, first.text],
    ]);
    expect(answers.map(replayed)).toEqual(['true', 'true']);
  });

  test('reads, PUT and POST /tokens pay no heed to it', async () => {
    const rut = await ready();
    const key = aKey();
    const client = withKey(owner, key);
    expect((await client.get(`/enterprises/${rut}`)).status).toBe(200);
    expect(
      (await client.put(`/enterprises/${rut}`, { plan_id: 'FREE', frequency_id: 'MONTHLY' })).status,
    ).toBe(200);
    const tokens = [await client.post('/tokens', {}), await client.post('/tokens', {})];
    expect(tokens.map((answer) => [answer.status, replayed(answer)])).toEqual([
      [200, null],
      [200, null],
    ]);
  });
});

describe('the form of an Idempotency-Key', () => {
  test('as a quoted string it is the same key', async () => {
    const rut = await ready();
    const key = aKey();
    const first = await post(cfes(rut), key);
    const second = await post(cfes(rut), `"${key}"`);
    expect([replayed(second), second.text]).toEqual(['true', first.text]);
  });

  test('255 characters are taken', async () => {
    expect((await post(cfes(await ready()), 'k'.repeat(255))).status).toBe(201);
  });

  test.each([
    ['none', ''],
    ['256', 'k'.repeat(256)],
    ['one beyond ASCII', 'caf\u00e9'],
    ['a quoted nothing', '""'],
  ])('400: %s', async (_, key) => {
    const rut = await ready();
    const error = expectRefusal(await post(cfes(rut), key), 400, 'INVALID_INPUT');
    expect(error.details?.fields).toEqual([
      {
        path: '/headers/Idempotency-Key',
        code: 'idempotency_key.malformed',
        message: expect.any(String),
        docs: 'https://cfe.example/v1/docs/refused#idempotency_key.malformed',
      },
    ]);
    expect(await stored(rut)).toBe(0);
  });

  test('400: two of them', async () => {
    const rut = await ready();
    const answer = await sendRaw(api.baseUrl + cfes(rut), {
      method: 'POST',
      headers: {
        'x-api-key': owner.apiKey,
        authorization: `Bearer ${owner.token}`,
        'content-type': 'application/json',
        'idempotency-key': ['a', 'b'] as unknown as string,
      },
      chunks: [JSON.stringify(aCfeBody())],
    });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('idempotency_key.malformed');
  });
});

/** Whether some request of this database holds the turn of its key; whether one waits for it. */
const isKeyHeld = () => isLocked('granted');
const isKeyAwaited = () => isLocked('not granted');

async function isLocked(how: string): Promise<true | undefined> {
  const rows = await db.orm.em.fork().execute<unknown[]>(
    `select 1 from pg_locks where locktype = 'advisory' and ${how}
     and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.length > 0 || undefined;
}

async function keyIdOf(caller: TestCaller): Promise<string> {
  const [row] = await db.orm.em
    .fork()
    .execute<{ id: string }[]>('select id from api_key where account_id = ? and environment = ?', [
      caller.accountId,
      'production',
    ]);
  return row?.id ?? '';
}
