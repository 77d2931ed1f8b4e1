import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addBranch } from '../../../../src/commands/enterprises/branches.ts';
import { suspendEnterprise } from '../../../../src/commands/enterprises/suspension.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../../../src/domain/values/montevideo.ts';
import { startApi, type TestApi } from '../../../support/api/api.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import type { HttpClient } from '../../../support/api/http.ts';
import { isNote, validOriginal, validRequest } from '../../../support/arbitraries/cfeRequests.ts';
import { MUTATIONS } from '../../../support/arbitraries/mutations.ts';
import { SEED } from '../../../support/database/seeds.ts';
import { anEnterprise, aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { type JsonObject, toJson } from '../../../support/receipts/exactJson.ts';
import { day } from '../../../support/receipts/papers.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/cfes`;

interface Validation {
  valid: true;
  totals: Record<string, unknown>;
}

const validate = (rut: string, body: unknown, { client = suite.owner.client, headers = {} } = {}) =>
  client.post<Validation>(`${path(rut)}?validate_only=true`, body, headers);
const issue = (rut: string, body: unknown, { client = suite.owner.client, headers = {} } = {}) =>
  client.post<{ cfe_id: string; numero: number }>(path(rut), body, headers);

/** All that the database has, sequences too, but for the counts of requests and the last use of keys. */
async function everything(): Promise<string> {
  const em = suite.db.orm.em.fork();
  const tables = await em.execute<{ name: string }[]>(
    `select tablename as name from pg_tables where schemaname = 'public'
     and tablename not in ('request_count', 'failed_authentication', 'api_key') order by 1`,
  );
  const digests = [];
  for (const { name } of tables) {
    const [row] = await em.execute<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as digest from "${name}" t`,
    );
    digests.push(`${name} ${row?.digest}`);
  }
  const sequences = await em.execute(
    'select sequencename, last_value::text as last from pg_sequences order by 1',
  );
  return JSON.stringify([digests, sequences]);
}

/** Does `work`; nothing in the database is another afterwards. */
async function untouched<T>(work: () => Promise<T>): Promise<T> {
  const before = await everything();
  const result = await work();
  expect(await everything()).toBe(before);
  return result;
}

/** The totals as the stored CFE has them, by the names of the answer. */
async function totalsOf(rut: string, cfeId: string): Promise<Record<string, unknown>> {
  const [code, sequence] = cfeId.split('-').map(Number);
  const type = CFE_TYPE_NAMES.find((name) => CFE_TYPES[name].code === code);
  if (!type || !sequence) throw new Error(`${cfeId} is no cfe_id`);
  const { document } = await suite.db.orm.em
    .fork()
    .findOneOrFail(Cfe, { rut, type, sequence, environment: 'production' });
  const { totals, lines, pricesIncludeVat } = document;
  return {
    currency: totals.currency,
    exchange_rate: Number(totals.exchangeRate),
    prices_include_vat: pricesIncludeVat,
    line_count: lines.length,
    tax_free_amount: Number(totals.exempt),
    export_amount: Number(totals.exported),
    perceived_amount: Number(totals.perceived),
    suspended_amount: Number(totals.suspended),
    tax_other_net_amount: Number(totals.otherNet),
    tax_other_amount: Number(totals.otherVat),
    tax_minimum_net_amount: Number(totals.minimumNet),
    tax_minimum_amount: Number(totals.minimumVat),
    tax_basic_net_amount: Number(totals.basicNet),
    tax_basic_amount: Number(totals.basicVat),
    total_amount: Number(totals.total),
    non_billable_amount: Number(totals.nonBillable),
    pay_amount: Number(totals.pay),
  };
}

const some = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { seed: SEED, numRuns: count });

const WISHES = { today: montevideoDate(new Date()), maxLines: 4 };

/** Valid requests of a type; notes after their originals were issued. */
async function requests(rut: string, type: CfeType, count: number): Promise<JsonObject[]> {
  if (!isNote(type)) return some(validRequest(type, WISHES), count);
  const bodies = [];
  for (const original of some(validOriginal(type, WISHES), count)) {
    const { status, data } = await issue(rut, toJson(original));
    expect(status).toBe(201);
    const note = validRequest(type, { ...WISHES, original: { cfeId: data.cfe_id, body: original } });
    bodies.push(...some(note, 1));
  }
  return bodies;
}

describe('POST …/cfes?validate_only=true', () => {
  describe.each(CFE_TYPE_NAMES)('%s', (type) => {
    let rut: string;
    let bodies: JsonObject[];
    beforeAll(async () => {
      rut = await ready();
      bodies = await requests(rut, type, 4);
    });

    test('what is valid can be issued, with the totals that were told; nothing is stored before', async () => {
      const told = await untouched(async () => {
        const answers = [];
        for (const body of bodies) answers.push(await validate(rut, toJson(body)));
        return answers;
      });

      for (const [index, body] of bodies.entries()) {
        expect(told[index]).toMatchObject({ status: 200, data: { valid: true } });
        const issued = await issue(rut, toJson(body));
        expect(issued.status).toBe(201);
        expect(told[index]?.data.totals).toEqual(await totalsOf(rut, issued.data.cfe_id));
      }
    });
  });

  test('whatever is refused is refused in the same words, by every row of the table of mutations', async () => {
    const rut = await ready();
    const valid = (await Promise.all(CFE_TYPE_NAMES.map((type) => requests(rut, type, 1)))).flat();
    const applied = MUTATIONS.flatMap((mutation) => {
      const [spoilt] = valid.flatMap((body) => mutation.apply(body) ?? []);
      return spoilt ? [spoilt] : [];
    });
    // Some have nothing to spoil in the requests of the day.
    expect(applied.length).toBeGreaterThan(MUTATIONS.length / 2);

    await untouched(async () => {
      for (const { body, code } of applied) {
        const [trial, real] = [await validate(rut, toJson(body)), await issue(rut, toJson(body))];
        expect(expectRefusal(trial, 400, 'INVALID_INPUT')).toEqual(expectRefusal(real, 400, 'INVALID_INPUT'));
        expect(trial.error.details?.fields.map((fault) => fault.code)).toContain(code);
      }
    });
  });

  test('enterprise, certificate, CAE, branch and original are judged too', async () => {
    const { db, owner, api } = suite;
    const [pending, suspended, noCae, rut] = [
      await anEnterprise(db.orm, owner.accountId),
      await ready(),
      await aReadyEnterprise(db.orm, owner.accountId, { caes: [{ from: 1, to: 3, last: 3 }] }),
      await ready(),
    ];
    await suspendEnterprise(api.deps, { rut: suspended, reason: 'A test.' });
    const cases: [string, unknown, string][] = [
      [pending, aCfeBody(), 'enterprise.not_ready'],
      [suspended, aCfeBody(), 'enterprise.suspended'],
      [noCae, aCfeBody(), 'cae.none_left'],
      [rut, aCfeBody({ extra: { branch: 9 } }), 'branch.unknown'],
      [rut, aCfeBody({ type: 'ETICKET_NC', reference: '101-9' }), 'reference.unknown'],
      [rut, aCfeBody({ emissionDate: day(61) }), 'emission_date.too_late'],
    ];
    await untouched(async () => {
      for (const [at, body, code] of cases) {
        const [trial, real] = [await validate(at, body), await issue(at, body)];
        expect(trial.error).toEqual(real.error);
        expect(trial.error.details?.fields.map((fault) => fault.code)).toContain(code);
      }
    });
  });

  test('a branch is not marked as used, nor its lock kept', async () => {
    const rut = await ready();
    const place = { street_name: 'Sarandí 20', locality_name: 'Maldonado', department_name: 'Maldonado' };
    await addBranch(suite.api.deps, { rut, body: { branch: 7, ...place } });
    await untouched(async () => {
      expect((await validate(rut, aCfeBody({ extra: { branch: 7 } }))).status).toBe(200);
    });
    expect((await suite.owner.client.send('DELETE', `/enterprises/${rut}/branches/7`)).status).toBe(200);
  });

  test('Idempotency-Key and Prefer count for nothing, malformed ones too', async () => {
    const rut = await ready();
    const headers = { 'idempotency-key': 'trial-1', prefer: 'wait=20' };

    await untouched(async () => {
      const first = await validate(rut, aCfeBody(), { headers });
      expect([first.status, first.headers.get('preference-applied')]).toEqual([200, null]);
      const long = { 'idempotency-key': 'x'.repeat(300) };
      expect((await validate(rut, aCfeBody(), { headers: long })).status).toBe(200);
    });
    const key = { 'idempotency-key': 'trial-1' };
    const issued = await issue(rut, aCfeBody({ net: 7 }), { headers: key });
    expect([issued.status, issued.data.numero]).toEqual([201, 1]);
    const again = await validate(rut, aCfeBody({ net: 8 }), { headers: key });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  test('validate_only=false issues; anything else is refused', async () => {
    const rut = await ready();
    const other = await suite.owner.client.post(`${path(rut)}?validate_only=yes`, aCfeBody());
    expect(expectRefusal(other, 400, 'INVALID_INPUT').details?.fields).toEqual([
      expect.objectContaining({ path: '/query/validate_only' }),
    ]);
    expect((await suite.owner.client.post(`${path(rut)}?validate_only=false`, aCfeBody())).status).toBe(201);
  });

  describe('in the sandbox', () => {
    const asked: string[] = [];
    let kitted: TestApi;
    let client: HttpClient;
    beforeAll(async () => {
      const { orm } = suite.db;
      const gone = (what: string) => async () => {
        asked.push(what);
        throw new Error('ECONNREFUSED');
      };
      kitted = await startApi({
        orm,
        testKit: { certificate: gone('certificate'), cae: gone('cae') },
      });
      client = (await kitted.aCaller({ accountId: suite.owner.accountId, environment: 'sandbox' })).client;
    });
    afterAll(() => kitted[Symbol.asyncDispose]());

    test('papers that issuing would obtain first count as had, and are not obtained', async () => {
      const rut = await anEnterprise(suite.db.orm, suite.owner.accountId);
      await untouched(async () => {
        const answer = await validate(rut, aCfeBody(), { client });
        expect(answer).toMatchObject({ status: 200, data: { totals: { pay_amount: 122 } } });
        const refused = await validate(rut, aCfeBody({ emissionDate: day(61) }), { client });
        expect(refused.error.details?.fields.map(({ code }) => code)).toEqual(['emission_date.too_late']);
      });
      expect(asked).toEqual([]);
    });

    test('without a kit the answer is that of issuing', async () => {
      const rut = await anEnterprise(suite.db.orm, suite.owner.accountId);
      const { client: plain } = suite.sandbox;
      const [trial, real] = [
        await validate(rut, aCfeBody(), { client: plain }),
        await issue(rut, aCfeBody(), { client: plain }),
      ];
      expect(trial.error).toEqual(real.error);
      expect(trial.error.details?.fields.map(({ code }) => code)).toEqual([
        'enterprise.certificate_missing',
        'cae.none_left',
      ]);
    });
  });
});
