import { expect, test } from '@jest/globals';
import { setGrant } from '../../../../src/commands/people/grants.ts';
import { Branch } from '../../../../src/db/entities/enterprises.ts';
import { Cae } from '../../../../src/db/entities/numbers.ts';
import { AuditEntry } from '../../../../src/db/entities/operations.ts';
import { Event } from '../../../../src/db/entities/webhooks.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { customerBody } from '../../../support/enterprises/customers.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';

type Resource = Record<string, unknown>;

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const read = async <T = Resource>(path: string): Promise<T> => (await suite.owner.client.get<T>(path)).data;
const PLACE = { street_name: 'Gorlero 900', locality_name: 'Punta del Este', department_name: 'Maldonado' };

/** Resources that have an address of their own: where each is written, read, and made with little in it. */
const RESOURCES: readonly [
  name: string,
  make: (rut: string) => Promise<{ path: string; now: () => Promise<Resource> }>,
][] = [
  ['an enterprise', async (rut) => ({ path: `/enterprises/${rut}`, now: () => read(`/enterprises/${rut}`) })],
  [
    'an enterprise, from the list',
    async (rut) => ({
      path: `/enterprises/${rut}`,
      async now() {
        const { items } = await read<{ items: Resource[] }>('/enterprises?limit=100');
        return items.find((one) => one['rut'] === rut) ?? {};
      },
    }),
  ],
  [
    'its first branch',
    async (rut) => ({
      path: `/enterprises/${rut}/branches/1`,
      now: async () => (await read<Resource[]>(`/enterprises/${rut}/branches`))[0] ?? {},
    }),
  ],
  [
    'another branch',
    async (rut) => {
      await suite.owner.client.post(`/enterprises/${rut}/branches`, { branch: 7, ...PLACE });
      return {
        path: `/enterprises/${rut}/branches/7`,
        now: async () => (await read<Resource[]>(`/enterprises/${rut}/branches`))[1] ?? {},
      };
    },
  ],
  [
    'a customer',
    async (rut) => {
      const { doc_type, doc_number, legal_name } = customerBody();
      await suite.owner.client.post(`/enterprises/${rut}/customers`, { doc_type, doc_number, legal_name });
      const path = `/enterprises/${rut}/customers/${doc_type}/${doc_number}`;
      return { path, now: () => read(path) };
    },
  ],
];

test.each(RESOURCES)(
  '%s is written back as it was read: 200, nothing changes and nobody is told',
  async (_, make) => {
    const { path, now } = await make(await ready());
    const before = await now();
    const em = suite.db.orm.em.fork();
    const [events, acts] = [await em.count(Event), await em.count(AuditEntry)];

    const methods = path.split('/').length === 3 ? (['PUT', 'PATCH'] as const) : (['PUT'] as const);
    for (const method of methods) {
      const answer = await suite.owner.client.send(method, path, { body: before });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    }

    expect(await now()).toEqual(before);
    expect(await em.count(Event)).toBe(events);
    expect(await em.count(AuditEntry)).toBe(acts + methods.length);
  },
);

test('an enterprise: what is changed beside what stays is changed; what numbering moves meanwhile is no change', async () => {
  const rut = await ready();
  const before = await read(`/enterprises/${rut}`);
  await suite.db.orm.em.fork().nativeUpdate(Cae, { rut }, { lastNumber: 77 });

  const changed = { ...before, trade_name: 'Ñandú', scheduled_ready_date: '2026-01-02T00:00:00-03:00' };
  expect((await suite.owner.client.put(`/enterprises/${rut}`, changed)).status).toBe(200);
  expect(await read(`/enterprises/${rut}`)).toMatchObject({
    trade_name: 'Ñandú',
    scheduled_ready_date: '2026-01-02T03:00:00.000Z',
    role: 'OWNER',
  });
});

test('an enterprise: a changed field that PUT does not change is refused at its path, with how to change it', async () => {
  const rut = await ready();
  const before = await read<Resource & { certificate: object; caes: object[] }>(`/enterprises/${rut}`);
  const changed = {
    ...before,
    rut: '219999830019',
    role: 'VIEWER',
    status: 'SUSPENDED',
    has_logo: true,
    is_new_enterprise: !before['is_new_enterprise'],
    is_authorized_issuer: !before['is_authorized_issuer'],
    certificate: { ...before.certificate, status: 'EXPIRED' },
    caes: [],
    plan_metadata: null,
    efactura_metadata: null,
    colour: 'red',
  };

  expectFaults(await suite.owner.client.put(`/enterprises/${rut}`, changed), [
    ['/colour', 'body.unknown_field', /unknown field/],
  ]);
  const { colour: _, ...known } = changed;
  expectFaults(await suite.owner.client.put(`/enterprises/${rut}`, known), [
    ['/rut', 'body.read_only', `rut: must be "${rut}", as it was read; it is not changed here.`],
    ['/has_logo', 'body.read_only', /must be false, as it was read/],
    ['/role', 'body.read_only', /must be "OWNER"/],
    ['/status', 'body.read_only', /must be "READY"/],
    ['/is_new_enterprise', 'body.read_only', /must be/],
    ['/is_authorized_issuer', 'body.read_only', /must be true/],
    ['/certificate', 'body.read_only', 'certificate: must be as it was read; it is not changed here.'],
    ['/caes', 'body.read_only', /must be as it was read/],
    ['/plan_metadata', 'body.read_only', /must be as it was read/],
    ['/efactura_metadata', 'body.read_only', /must be as it was read/],
  ]);
  expect(await read(`/enterprises/${rut}`)).toEqual(before);
});

test('an enterprise: a start date that was set is not removed by null; before, null is what it is', async () => {
  const rut = await ready();
  expectFaults(await suite.owner.client.put(`/enterprises/${rut}`, { scheduled_ready_date: null }), [
    ['/scheduled_ready_date', 'enterprise.start_date_stays', /cannot be removed/],
  ]);
  expectFaults(await suite.owner.client.put(`/enterprises/${rut}`, { plan_id: null }), [
    ['/plan_id', 'body.null', /must not be null/],
  ]);
});

test('a branch: its code in the body is that in the path, and closing is not done by PUT', async () => {
  const rut = await ready();
  const path = `/enterprises/${rut}/branches/1`;
  const [first] = await read<Resource[]>(`/enterprises/${rut}/branches`);
  expectFaults(
    await suite.owner.client.put(path, { ...first, branch: 2, closed_at: '2026-01-01T00:00:00Z' }),
    [
      ['/branch', 'body.read_only', 'branch: must be 1, as it was read; it is not changed here.'],
      ['/closed_at', 'body.read_only', /must be null/],
    ],
  );
  expectFaults(await suite.owner.client.put(path, { ...first, branch: '1' }), [
    ['/branch', 'body.read_only', /must be 1/],
  ]);
  const other = await suite.owner.client.put(`/enterprises/${rut}/branches/9`, { ...first, branch: 9 });
  expectRefusal(other, 404, 'NOT_FOUND');
});

test('a closed branch that is written back as it was read: 404, it is no open one', async () => {
  const rut = await ready();
  const path = `/enterprises/${rut}/branches/7`;
  await suite.owner.client.post(`/enterprises/${rut}/branches`, { branch: 7, ...PLACE });
  const closedAt = new Date('2026-03-01T12:00:00Z');
  await suite.db.orm.em.fork().nativeUpdate(Branch, { rut, branch: 7 }, { closedAt });
  const [, closed] = await read<Resource[]>(`/enterprises/${rut}/branches`);
  expect(closed).toMatchObject({ branch: 7, closed_at: closedAt.toISOString() });

  expectRefusal(await suite.owner.client.put(path, closed), 404, 'NOT_FOUND');
  expectRefusal(await suite.owner.client.put(path, PLACE), 404, 'NOT_FOUND');
  expectFaults(await suite.owner.client.put(path, { ...closed, closed_at: null }), [
    ['/closed_at', 'body.read_only', /must be "2026-03-01T12:00:00.000Z"/],
  ]);
});

test('a customer: null counts as left out, where it is created too; what must be there is not null', async () => {
  const rut = await ready();
  const { doc_type, doc_number, legal_name } = customerBody();
  const bare = { doc_type, doc_number, legal_name };
  const nothing = Object.fromEntries(
    ['fiscal_address', 'city', 'department', 'country', 'country_code', 'notifications'].map((name) => [
      name,
      null,
    ]),
  );
  const created = await suite.owner.client.post(`/enterprises/${rut}/customers`, { ...bare, ...nothing });
  expect(created).toMatchObject({ status: 201, data: { ...bare, ...nothing, notifications: [] } });
  expectFaults(
    await suite.owner.client.post(`/enterprises/${rut}/customers`, {
      doc_type,
      doc_number,
      legal_name: null,
    }),
    [['/legal_name', 'body.null', /must not be null/]],
  );
});

test('who reads a customer: any role; an unknown one is 404', async () => {
  const rut = await ready();
  const body = customerBody();
  await suite.owner.client.post(`/enterprises/${rut}/customers`, body);
  const path = `/enterprises/${rut}/customers/RUC/${body.doc_number}`;
  const { accountId, client } = await suite.api.aCaller();
  expectRefusal(await client.get(path), 403, 'FORBIDDEN');
  await setGrant(suite.api.deps, { accountId, rut, role: 'VIEWER' });
  expect((await client.get(path)).data).toEqual(body);
  expectRefusal(await client.get(`/enterprises/${rut}/customers/NIFE/1`), 404, 'NOT_FOUND');
});
