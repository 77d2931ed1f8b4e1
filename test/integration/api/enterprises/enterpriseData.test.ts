import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { setGrant } from '../../../../src/commands/people/grants.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { Event } from '../../../../src/db/entities/webhooks.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { A_JPEG, aPng } from '../../../support/console/pictures.ts';
import { anEnterprise, aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';

const suite = useApi();
const pending = () => anEnterprise(suite.db.orm, suite.owner.accountId);
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const put = (rut: string, body: object) => suite.owner.client.put(`/enterprises/${rut}`, body);
const read = async (rut: string) =>
  (await suite.owner.client.get<Record<string, unknown>>(`/enterprises/${rut}`)).data;
const issue = (rut: string, extra?: object) =>
  suite.owner.client.post<{ cfe_id: string }>(`/enterprises/${rut}/cfes`, {
    ...aCfeBody(),
    ...(extra ? { extra: JSON.stringify(extra) } : {}),
  });
const issuers = async (rut: string) =>
  (await suite.db.orm.em.fork().find(Cfe, { rut }, { orderBy: { sequence: 'asc' } })).map(
    ({ document }) => document.issuer,
  );

const DATA = {
  legal_name: 'Comercial Ñandú SRL',
  trade_name: 'Ñandú Centro',
  phone_number: '2901 2345',
  email: 'facturas@example.com.uy',
  website: 'www.example.com.uy',
  department_name: 'Canelones',
  locality_name: 'Las Piedras',
  street_name: 'Av. Artigas 12',
  branch: 3,
  issuer_since: '2019-06-01',
  resolution: '798/2012',
  exemption_norm: 'Ley 16.060, artículo 3',
  vat_up_to_date: false,
};

describe('the data of an enterprise', () => {
  test('are corrected one by one or together, and told by an event', async () => {
    const rut = await pending();

    expect((await put(rut, { ...DATA, logo_b64: aPng(300, 100).toString('base64') })).status).toBe(200);

    expect(await read(rut)).toMatchObject({ ...DATA, has_logo: true });
    const [event] = await suite.db.orm.em.fork().find(Event, { rut, name: 'enterprise.updated' });
    const { changes } = (JSON.parse(event?.body ?? '') as { data: { changes: object } }).data;
    expect(Object.keys(changes).toSorted()).toEqual([...Object.keys(DATA), 'has_logo'].toSorted());
    expect(event?.body).not.toContain(aPng(300, 100).toString('base64').slice(0, 40));
  });

  test('that may be missing are removed by null; those that a receipt needs are not', async () => {
    const rut = await pending();
    await put(rut, { ...DATA, logo_b64: A_JPEG.toString('base64') });

    const optional = [
      'trade_name',
      'phone_number',
      'email',
      'website',
      'issuer_since',
      'resolution',
      'exemption_norm',
    ];
    const nothing = Object.fromEntries(optional.map((field) => [field, null]));
    expect((await put(rut, { ...nothing, logo_b64: null })).status).toBe(200);
    expect(await read(rut)).toMatchObject({ ...nothing, has_logo: false, legal_name: DATA.legal_name });

    expectFaults(await put(rut, { legal_name: null, branch: null }), [
      ['/legal_name', 'body.null', /must not be null/],
      ['/branch', 'body.null', /must not be null/],
    ]);
  });

  test('are refused by name and rule', async () => {
    expectFaults(
      await put(await pending(), {
        email: `${'a'.repeat(60)}@${'example.'.repeat(3)}com.uy`,
        website: 'our shop',
        issuer_since: '1999-01-01',
        resolution: '798-2012',
        logo_b64: Buffer.from('GIF89a').toString('base64'),
        branch: 10_000,
      }),
      [
        ['/email', 'text.too_long', /at most 80 characters/],
        ['/website', 'website.malformed', /web address/],
        ['/issuer_since', 'date.out_of_range', /from 2011-10-01/],
        ['/resolution', 'resolution.malformed', /798\/2012/],
        ['/logo_b64', 'logo.unusable', /PNG or JPEG/],
        ['/branch', 'number.out_of_range', /0 to 9999/],
      ],
    );
  });

  test('count for what is numbered afterwards; what is numbered keeps what it was numbered with', async () => {
    const rut = await ready();
    const logo = aPng(200, 80);
    await issue(rut);
    await put(rut, { ...DATA, logo_b64: logo.toString('base64') });
    await issue(rut);
    await put(rut, { street_name: 'Otra 1', logo_b64: null });

    const [first, second] = await issuers(rut);
    expect(first).toEqual({
      rut,
      legalName: 'Comercial Ñandú S.A.',
      tradeName: 'Ñandú',
      branch: 1,
      address: 'Rincón 501',
      city: 'Montevideo',
      department: 'Montevideo',
    });
    expect(second).toEqual({
      rut,
      legalName: DATA.legal_name,
      tradeName: DATA.trade_name,
      phone: DATA.phone_number,
      email: DATA.email,
      branch: 3,
      address: DATA.street_name,
      city: DATA.locality_name,
      department: DATA.department_name,
      website: DATA.website,
      issuerSince: DATA.issuer_since,
      resolution: DATA.resolution,
      exemptionNorm: DATA.exemption_norm,
      vatNotUpToDate: true,
      logoSha256: createHash('sha256').update(logo).digest('hex'),
    });
  });
});

describe('GET /enterprises', () => {
  test('lists those at which the caller has a role, with the role, a page at a time', async () => {
    const caller = await suite.api.aCaller();
    const own = await anEnterprise(suite.db.orm, caller.accountId);
    const granted = await ready();
    await pending();
    await setGrant(suite.api.deps, { accountId: caller.accountId, rut: granted, role: 'VIEWER' });
    const list = async (query = '') =>
      (
        await caller.client.get<{ items: { rut: string; role: string }[]; total: number }>(
          `/enterprises${query}`,
        )
      ).data;

    const all = await list();

    const roles: Record<string, string> = { [own]: 'OWNER', [granted]: 'VIEWER' };
    const expected = [own, granted].toSorted().map((rut) => [rut, roles[rut]]);
    expect(all.items.map(({ rut, role }) => [rut, role])).toEqual(expected);
    expect(all.total).toBe(2);
    expect(all.items.find(({ rut }) => rut === own)).toEqual(
      (await caller.client.get(`/enterprises/${own}`)).data,
    );
    expect((await list('?skip=1&limit=1')).items.map(({ rut }) => rut)).toEqual([expected[1]?.[0]]);
    expect((await list('?status=READY')).items.map(({ rut }) => rut)).toEqual([granted]);
    expect(await (await suite.api.aCaller()).client.get('/enterprises')).toMatchObject({
      status: 200,
      data: { items: [], total: 0 },
    });
    expectFaults(await caller.client.get('/enterprises?limit=0&status=GONE'), [
      ['/query/limit', 'number.out_of_range', /1 to 100/],
      ['/query/status', 'body.not_one_of', /PENDING/],
    ]);
  });
});

describe('branches', () => {
  const place = { street_name: 'Sarandí 20', locality_name: 'Maldonado', department_name: 'Maldonado' };
  const at = (rut: string, branch?: number) =>
    `/enterprises/${rut}/branches${branch === undefined ? '' : `/${branch}`}`;
  const add = (rut: string, branch: number, more: object = {}) =>
    suite.owner.client.post(at(rut), { branch, ...place, ...more });
  const remove = (rut: string, branch: number) => suite.owner.client.send('DELETE', at(rut, branch));
  const listed = async (rut: string) =>
    (await suite.owner.client.get<{ branch: number; closed_at: string | null }[]>(at(rut))).data;

  test('the enterprise’s own is the first; others are added, changed and deleted', async () => {
    const rut = await pending();

    expect(await add(rut, 7, { phone_number: '4222 1111' })).toMatchObject({
      status: 201,
      data: { branch: 7, ...place, phone_number: '4222 1111', closed_at: null },
    });
    expect(await add(rut, 2)).toMatchObject({ status: 201, data: { phone_number: null } });
    expect((await listed(rut)).map(({ branch }) => branch)).toEqual([1, 2, 7]);

    const moved = { ...place, street_name: 'Gorlero 800' };
    expect(await suite.owner.client.put(at(rut, 7), moved)).toMatchObject({
      status: 200,
      data: { branch: 7, ...moved, phone_number: null },
    });
    expect((await remove(rut, 2)).data).toBe(true);
    expect(await listed(rut)).toMatchObject([{ branch: 1 }, { branch: 7, ...moved }]);
  });

  test('the first is changed like the others, which changes the enterprise; it is not deleted', async () => {
    const rut = await pending();

    await suite.owner.client.put(at(rut, 1), { ...place, phone_number: '2222 0000' });

    expect(await read(rut)).toMatchObject({ ...place, phone_number: '2222 0000', branch: 1 });
    expectFaults(await remove(rut, 1), [['/path/branch', 'branch.first', /cannot be deleted/]]);
  });

  test('no two have one code, and what is not there is not found', async () => {
    const rut = await pending();
    await add(rut, 7);

    expectRefusal(await add(rut, 7), 400, 'ALREADY_EXISTS');
    expectRefusal(await add(rut, 1), 400, 'ALREADY_EXISTS');
    expectFaults(await put(rut, { branch: 7 }), [['/branch', 'branch.taken', /another branch/]]);
    expectRefusal(await suite.owner.client.put(at(rut, 8), place), 404, 'NOT_FOUND');
    expectRefusal(await remove(rut, 8), 404, 'NOT_FOUND');
    expectFaults(await suite.owner.client.send('DELETE', `${at(rut)}/north`), [
      ['/path/branch', 'number.out_of_range', /0 to 9999/],
    ]);
  });

  test('a CFE is issued from the one that it names, by number or digits', async () => {
    const rut = await ready();
    await put(rut, { phone_number: '2901 0000' });
    await add(rut, 7);

    expect((await issue(rut, { branch: 7 })).status).toBe(201);
    expect((await issue(rut, { branch: '7', adenda: 'Gracias' })).status).toBe(201);
    expect((await issue(rut, { branch: 1 })).status).toBe(201);

    expect((await issuers(rut)).map(({ branch, address, phone }) => [branch, address, phone])).toEqual([
      [7, 'Sarandí 20', '2901 0000'],
      [7, 'Sarandí 20', '2901 0000'],
      [1, 'Rincón 501', '2901 0000'],
    ]);
    expectFaults(await issue(rut, { branch: 8 }), [
      ['/extra/branch', 'branch.unknown', /8 is not an open branch/],
    ]);
    expectFaults(await issue(rut, { branch: 'north' }), [
      ['/extra/branch', 'number.out_of_range', /0 to 9999/],
    ]);
  });

  test('one that was issued from is closed, listed as such, and can be opened again', async () => {
    const rut = await ready();
    await add(rut, 7);
    await issue(rut, { branch: 7 });

    expect((await remove(rut, 7)).status).toBe(200);

    expect(await listed(rut)).toMatchObject([{ branch: 1, closed_at: null }, { branch: 7 }]);
    expect((await listed(rut))[1]?.closed_at).not.toBeNull();
    expectFaults(await issue(rut, { branch: 7 }), [
      ['/extra/branch', 'branch.unknown', /not an open branch/],
    ]);
    expectRefusal(await remove(rut, 7), 404, 'NOT_FOUND');
    expect((await add(rut, 7, { street_name: 'Otra 2' })).status).toBe(201);
    expect((await issue(rut, { branch: 7 })).status).toBe(201);
  });

  test('of many that are added with one code at once, one is', async () => {
    const rut = await pending();

    const answers = await Promise.all(Array.from({ length: 16 }, () => add(rut, 7)));

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(15);
    expect((await listed(rut)).map(({ branch }) => branch)).toEqual([1, 7]);
  });

  test('closing and issuing at once: every receipt is of a branch that is still listed', async () => {
    const rut = await ready();
    await add(rut, 7);

    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => issue(rut, { branch: 7 })),
      remove(rut, 7),
      ...Array.from({ length: 8 }, () => issue(rut, { branch: 7 })),
    ]);

    const issued = (await issuers(rut)).length;
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(issued);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(16 - issued);
    expect((await listed(rut)).map(({ branch }) => branch)).toEqual(issued > 0 ? [1, 7] : [1]);
  });
});
