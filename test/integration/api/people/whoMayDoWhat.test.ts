import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from '../../../../src/api/route.ts';
import { ROUTES } from '../../../../src/api/routes/index.ts';
import { removeGrant, setGrant } from '../../../../src/commands/people/grants.ts';
import type { Role } from '../../../../src/domain/people/roles.ts';
import type { TestCaller } from '../../../support/api/api.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import type { Answer, HttpClient } from '../../../support/api/http.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';

/** What the table says of a route: the least role at its enterprise (null: it needs none), and where it is served. */
type Row = [least: Role | null, served: 'production' | 'both'];

/** Who may do what (docs/contract.md#roles): every route, in one place. */
const TABLE: Readonly<Record<string, Row>> = {
  'POST /tokens': [null, 'both'],
  'POST /enterprises': [null, 'production'],
  'GET /enterprises': [null, 'production'],
  'GET /enterprises/{rut}': ['VIEWER', 'production'],
  'PUT /enterprises/{rut}': ['OWNER', 'production'],
  'PATCH /enterprises/{rut}': ['OWNER', 'production'],
  'POST /enterprises/{rut}/branches': ['OWNER', 'production'],
  'GET /enterprises/{rut}/branches': ['VIEWER', 'production'],
  'PUT /enterprises/{rut}/branches/{branch}': ['OWNER', 'production'],
  'DELETE /enterprises/{rut}/branches/{branch}': ['OWNER', 'production'],
  'GET /enterprises/{rut}/erut': [null, 'production'],
  'GET /erut/{rut}': [null, 'production'],
  'GET /enterprises/{rut}/efactura-status': ['VIEWER', 'production'],
  'POST /enterprises/{rut}/validate-efactura': ['MEMBER', 'production'],
  'POST /enterprises/{rut}/certificate': ['OWNER', 'production'],
  'GET /enterprises/{rut}/certificate': ['VIEWER', 'production'],
  'POST /enterprises/{rut}/caes': ['MEMBER', 'production'],
  'GET /enterprises/{rut}/caes': ['VIEWER', 'production'],
  'POST /enterprises/{rut}/customers': ['MEMBER', 'production'],
  'GET /enterprises/{rut}/customers': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/customers/{doc_type}/{doc_number}': ['VIEWER', 'production'],
  'PUT /enterprises/{rut}/customers/{doc_type}/{doc_number}': ['MEMBER', 'production'],
  'DELETE /enterprises/{rut}/customers/{doc_type}/{doc_number}': ['MEMBER', 'production'],
  'POST /enterprises/{rut}/cfes': ['MEMBER', 'both'],
  'POST /enterprises/{rut}/cfes/preview': ['MEMBER', 'production'],
  'GET /enterprises/{rut}/cfes': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/cfes/{cfe_id}': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/cfes/{cfe_id}/pdf': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/cfes/{cfe_id}/xml': ['VIEWER', 'production'],
  'POST /enterprises/{rut}/cfes/{cfe_id}/credit-notes': ['MEMBER', 'both'],
  'GET /enterprises/{rut}/cfes/{cfe_id}/credit': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/daily-reports': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/daily-reports/{date}': ['VIEWER', 'production'],
  'GET /enterprises/{rut}/daily-reports/{date}/xml': ['VIEWER', 'production'],
  'POST /enterprises/{rut}/homologation': ['OWNER', 'production'],
  'GET /enterprises/{rut}/homologation': ['VIEWER', 'production'],
  'DELETE /enterprises/{rut}/homologation': ['OWNER', 'production'],
  'POST /enterprises/{rut}/cfes/{cfe_id}/emails': ['MEMBER', 'production'],
  'GET /enterprises/{rut}/cfes/{cfe_id}/emails': ['VIEWER', 'production'],
  'GET /events': [null, 'production'],
  'GET /authority': [null, 'both'],
};

const RANK: Readonly<Record<Role, number>> = { VIEWER: 0, MEMBER: 1, OWNER: 2 };

/** Past all that asks who calls; whatever the handler then makes of an empty body is not the question here. */
const LET_IN = 'let in';
type Expected = typeof LET_IN | `${number} ${string}`;

interface CallerKind {
  name: string;
  client: () => HttpClient;
  expected: (row: Row, route: Route) => Expected;
}

const suite = useApi();
let rut: string;
const callers: Record<string, TestCaller> = {};
const clientOf = (name: string) => () => (callers[name] ?? suite.stranger).client;
const inMode = (name: string, mode: string) => () => clientOf(name)().with({ 'x-sandbox-mode': mode });
const unknownKey = () => suite.api.deps.apiKeys.create('production').text;

beforeAll(async () => {
  const { api, db, owner, stranger, sandbox } = suite;
  rut = await aReadyEnterprise(db.orm, owner.accountId);
  const [member, viewer, plain] = [
    await api.aCaller(),
    await api.aCaller(),
    await api.aCaller({ isDeveloper: false }),
  ];
  await setGrant(api.deps, { accountId: member.accountId, rut, role: 'MEMBER' });
  await setGrant(api.deps, { accountId: viewer.accountId, rut, role: 'VIEWER' });
  await setGrant(api.deps, { accountId: plain.accountId, rut, role: 'MEMBER' });
  const key = (of: TestCaller) => api.aCaller({ accountId: of.accountId, environment: 'sandbox' });
  Object.assign(callers, {
    owner,
    member,
    viewer,
    stranger,
    plain,
    sandboxOwner: sandbox,
    sandboxViewer: await key(viewer),
    sandboxStranger: await key(stranger),
    sandboxPlain: await key(plain),
  });
});

// The table has nearly as many failures to authenticate as one address may have in ten minutes.
afterEach(() => suite.db.orm.em.fork().execute('delete from failed_authentication'));

/** What a caller with that role is answered where the route is served. */
const byRole =
  (held: Role | null) =>
  ([least]: Row): Expected =>
    least === null || (held !== null && RANK[held] >= RANK[least]) ? LET_IN : '403 FORBIDDEN';
/** The same for a sandbox key with X-Sandbox-Mode true. */
const inSandbox =
  (held: Role | null) =>
  (row: Row): Expected =>
    row[1] === 'both' ? byRole(held)(row) : '400 INVALID_INPUT';
const unknown = (_: Row, { auth }: Route): Expected =>
  auth === 'key' ? '401 INVALID_API_KEY' : '401 UNAUTHORIZED';
const wrongEnvironment = (_: Row, { auth }: Route): Expected =>
  auth === 'key' ? '401 INVALID_API_KEY' : '403 FORBIDDEN';

const KINDS: readonly CallerKind[] = [
  { name: 'the OWNER', client: clientOf('owner'), expected: byRole('OWNER') },
  { name: 'a MEMBER', client: clientOf('member'), expected: byRole('MEMBER') },
  { name: 'a VIEWER', client: clientOf('viewer'), expected: byRole('VIEWER') },
  { name: 'a stranger', client: clientOf('stranger'), expected: byRole(null) },
  { name: 'a MEMBER who is no developer', client: clientOf('plain'), expected: byRole('MEMBER') },
  { name: 'nobody: no key', client: () => suite.api.client, expected: unknown },
  {
    name: 'an unknown key',
    client: () => suite.owner.client.with({ 'x-api-key': unknownKey() }),
    expected: unknown,
  },
  {
    name: 'a key that is none',
    client: () => suite.owner.client.with({ 'x-api-key': 'cfe_live_x' }),
    expected: unknown,
  },
  {
    name: 'a key with a token of another',
    client: () => suite.owner.client.with({ authorization: `Bearer ${suite.stranger.token}` }),
    expected: (_, { auth }) => (auth === 'key' ? LET_IN : '401 UNAUTHORIZED'),
  },
  { name: 'a sandbox key of the OWNER', client: clientOf('sandboxOwner'), expected: inSandbox('OWNER') },
  { name: 'a sandbox key of a VIEWER', client: clientOf('sandboxViewer'), expected: inSandbox('VIEWER') },
  { name: 'a sandbox key of a stranger', client: clientOf('sandboxStranger'), expected: inSandbox(null) },
  {
    name: 'a sandbox key of who is no developer',
    client: clientOf('sandboxPlain'),
    expected: ([, served]) => (served === 'both' ? '403 FORBIDDEN' : '400 INVALID_INPUT'),
  },
  {
    name: 'a sandbox key in production',
    client: inMode('sandboxOwner', 'false'),
    expected: wrongEnvironment,
  },
  {
    name: 'a production key in the sandbox',
    client: inMode('owner', 'true'),
    expected: (row, route) => (row[1] === 'both' ? wrongEnvironment(row, route) : '400 INVALID_INPUT'),
  },
  {
    name: 'the OWNER with a mode that is none',
    client: inMode('owner', 'yes'),
    expected: () => '400 INVALID_INPUT',
  },
];

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;
const pathOf = (route: Route, forRut: string) =>
  route.path
    .replace('{rut}', forRut)
    .replace('{branch}', '7')
    .replace('{date}', '2026-01-05')
    .replace('{doc_type}', 'RUC')
    .replace('{doc_number}', '219999830019')
    .replace('{cfe_id}', '101-1');
const call = (client: HttpClient, route: Route, forRut: string) =>
  client.send(route.method, pathOf(route, forRut), route.body ? { body: {} } : {});

function outcomeOf({ status, error }: Answer): Expected {
  const isAboutTheCaller =
    status === 401 ||
    status === 403 ||
    (error?.details?.fields ?? []).some(({ path }) => path === '/headers/X-Sandbox-Mode');
  return isAboutTheCaller ? `${status} ${error.code}` : LET_IN;
}

describe('the table of who may do what', () => {
  test('has every route there is, and says what the routes say', () => {
    expect(Object.fromEntries(ROUTES.map((route) => [nameOf(route), [route.role, route.sandbox]]))).toEqual(
      Object.fromEntries(
        Object.entries(TABLE).map(([name, [least, served]]) => [name, [least, served === 'both']]),
      ),
    );
  });

  describe.each(ROUTES.map((route) => [nameOf(route), route] as const))('%s', (name, route) => {
    const row = TABLE[name] ?? [null, 'production'];

    test.each(KINDS.map((kind) => [kind.name, kind] as const))('%s', async (_, { client, expected }) => {
      const answer = await call(client(), route, rut);
      expect(outcomeOf(answer)).toBe(expected(row, route));
      expect(answer.status).toBeLessThan(500);
    });

    if (row[0] !== null) {
      test.each(['owner', 'stranger'])(
        '404 and not 403 for a RUT that is not registered: the %s',
        async (who) => {
          const answer = await call(clientOf(who)(), route, aRut());
          expect([answer.status, answer.error.code]).toEqual([404, 'NOT_FOUND']);
        },
      );
    }
  });
});

describe('grants', () => {
  test('role in the answer is the caller’s', async () => {
    const roles = ['owner', 'member', 'viewer'].map(async (who) => {
      const { data } = await clientOf(who)().get<{ role: string }>(`/enterprises/${rut}`);
      return data.role;
    });
    expect(await Promise.all(roles)).toEqual(['OWNER', 'MEMBER', 'VIEWER']);
  });

  test('act from the next request on, at their enterprise alone', async () => {
    const { api, db, owner } = suite;
    const someone = await api.aCaller();
    const other = await aReadyEnterprise(db.orm, owner.accountId);
    const status = async (of: string) => (await someone.client.get(`/enterprises/${of}`)).status;

    await setGrant(api.deps, { accountId: someone.accountId, rut: other, role: 'VIEWER' });
    expect([await status(other), await status(rut)]).toEqual([200, 403]);

    await removeGrant(api.deps, { accountId: someone.accountId, rut: other });
    expect(await status(other)).toBe(403);
  });
});

describe('a key that only reads', () => {
  test.each(
    ROUTES.filter(({ auth }) => auth === 'token').map(
      (route) => [`${route.method} ${route.path}`, route] as const,
    ),
  )('%s', async (_, route) => {
    const reader = await suite.api.aCaller({ accountId: suite.owner.accountId, scope: 'read' });
    const answer = await call(reader.client, route, rut);
    const isRefused = answer.status === 403 && /read-only/.test(JSON.stringify(answer.error));
    expect(isRefused).toBe(route.method !== 'GET' && !route.storesNothing);
  });
});
