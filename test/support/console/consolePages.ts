import { randomUUID } from 'node:crypto';
import { createCustomer } from '../../../src/commands/enterprises/customers.ts';
import { inviteMember } from '../../../src/commands/people/members.ts';
import { createUser } from '../../../src/commands/people/users.ts';
import { addWebhook, removeWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { type Audience, audienceOf, type PageRoute } from '../../../src/console/access/permissions.ts';
import { storeAttempts } from '../../../src/db/authority/attempts.ts';
import { Payment } from '../../../src/db/entities/enterprises.ts';
import { AccountInvitation, Person } from '../../../src/db/entities/people.ts';
import { Cfe, ReceiptExport, ReceiptExportPart } from '../../../src/db/entities/receipts.ts';
import { Webhook } from '../../../src/db/entities/webhooks.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { AuthorityCallRecord } from '../../../src/domain/authority/attempt.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { ENTERPRISE_PAGES } from './consoleEnterprisePages.ts';
import { EVIL, type Side, type World } from './consoleWorld.ts';

/** A page as it is asked, or a form as it is sent: of one account's things, made anew for each who asks. */
export interface Sample {
  readonly path: string;
  /** A file is its bytes. */
  readonly fields?: Readonly<Record<string, string | readonly string[] | Buffer>>;
}

/** A page or a form, how it is asked for, and whose it is. */
interface Asked {
  /**
   * Whose it is: an enterprise's (others are told 404, and who was granted VIEWER there is one), an account's, or everyone's own (a
   * list, one's own session), which shows others nothing of ours.
   */
  readonly of: 'enterprise' | 'account' | 'everyone';
  sample(side: Side, world: World): Sample | Promise<Sample>;
  /** The answer to who may; 200 of a page, 303 of a form unless told. */
  readonly answer?: number;
  /** What it answers is no page. */
  readonly isFile?: true;
  /** The form may fail with these rows, as it says on the page that follows. */
  readonly mayFail?: true;
}

/** A page or a form, and who gets what of it. */
export interface ConsolePage extends Asked {
  /** Who may, by the table. */
  readonly may: Audience;
}

/** By rows of the table of who may do what. */
export type Samples = Readonly<Partial<Record<PageRoute, Asked>>>;

/** A form about a colleague who never signed in. */
const personForm = (act: string, answer = 303): Asked => ({
  of: 'account',
  answer,
  sample: async ({ accountId, email }, { site }) => {
    const { id } = await site.deps.orm.em.fork().findOneOrFail(Person, { email });
    return { path: `/accounts/${accountId}/people/${id}/${act}`, fields: act === 'invite' ? {} : REASON };
  },
});
const at = (path: string, fields?: Sample['fields']) => (): Sample => ({
  path,
  ...(fields ? { fields } : {}),
});

const REASON = { reason: 'Lo pidió la cuenta' };

const SAMPLES: Samples = {
  'GET /': { of: 'everyone', sample: at('/') },
  'GET /accounts': { of: 'everyone', sample: at('/accounts') },
  'POST /accounts': {
    of: 'everyone',
    sample: at('/accounts', { name: 'Estudio Nuevo', email: 'nuevo@example.com', developer: 'yes' }),
  },
  'GET /accounts/{id}': {
    of: 'account',
    sample: ({ accountId }) => ({ path: `/accounts/${accountId}` }),
  },
  'POST /accounts/{id}/limit': {
    of: 'account',
    sample: ({ accountId }) => ({
      path: `/accounts/${accountId}/limit`,
      fields: { environment: 'production', per_hour: '2000', ...REASON },
    }),
  },
  'POST /accounts/{id}/grants': {
    of: 'account',
    sample: ({ accountId }, { theirs }) => ({
      path: `/accounts/${accountId}/grants`,
      fields: { rut: theirs.rut, role: 'VIEWER', ...REASON },
    }),
  },
  'POST /accounts/{id}/grants/{rut}/remove': {
    of: 'account',
    sample: ({ accountId }, { theirs }) => ({
      path: `/accounts/${accountId}/grants/${theirs.rut}/remove`,
      fields: REASON,
    }),
  },
  'POST /accounts/{id}/people': {
    of: 'account',
    sample: ({ accountId }) => ({
      path: `/accounts/${accountId}/people`,
      fields: { email: 'otra@example.com', role: 'VIEWER' },
    }),
    answer: 200,
  },
  'POST /accounts/{id}/people/{person}/invite': personForm('invite', 200),
  'POST /accounts/{id}/people/{person}/end': personForm('end'),
  'POST /accounts/{id}/people/{person}/disable': personForm('disable'),
  'GET /audit': { of: 'everyone', sample: at('/audit') },
  'GET /search': { of: 'everyone', sample: at('/search?q=nothing+goes+by+this') },
  'GET /cfes': { of: 'everyone', sample: at('/cfes') },
  'GET /exports': {
    of: 'everyone',
    // Who may have no file of that enterprise is offered no form.
    sample: async ({ rut }) => ({ path: `/exports?rut=${rut}` }),
  },
  'POST /exports': {
    of: 'enterprise',
    sample: async ({ rut }, { site }) => ({
      path: '/exports',
      fields: { rut, environment: 'production', month: await aMonthOf(site.deps.orm, rut) },
    }),
  },
  'GET /exports/{id}/zip': {
    of: 'enterprise',
    isFile: true,
    sample: async ({ rut }, { site }) => ({
      path: `/exports/${await anExport(site.deps.orm, rut, 'DONE')}/zip`,
    }),
  },
  'POST /exports/{id}/stop': {
    of: 'enterprise',
    sample: async ({ rut }, { site }) => ({
      path: `/exports/${await anExport(site.deps.orm, rut, 'RUNNING')}/stop`,
      fields: {},
    }),
  },
  'GET /help': { of: 'everyone', sample: at('/help') },
  'GET /me': { of: 'everyone', sample: at('/me') },
  'POST /me/sessions': {
    of: 'everyone',
    sample: at('/me/sessions', { session: '00000000-0000-4000-8000-000000000000' }),
  },
  'POST /me/password': {
    of: 'everyone',
    sample: at('/me/password', { old: 'not this one, surely', password: 'cuatro palabras mas largas' }),
    mayFail: true,
  },
  'GET /me/second-factor': { of: 'everyone', sample: at('/me/second-factor') },
  'POST /me/second-factor': {
    of: 'everyone',
    answer: 200,
    sample: at('/me/second-factor', { password: 'not this one, surely', code: '' }),
    mayFail: true,
  },
  'POST /me/second-factor/off': {
    of: 'everyone',
    sample: at('/me/second-factor/off', { password: 'not this one, surely', code: '' }),
    mayFail: true,
  },
  'POST /saved-filters': {
    of: 'everyone',
    sample: at('/saved-filters', { to: '/cfes?rut=219999830019', name: 'mine' }),
  },
  'POST /saved-filters/{id}/delete': {
    of: 'everyone',
    sample: at('/saved-filters/00000000-0000-4000-8000-000000000000/delete', { to: '/' }),
    mayFail: true,
  },
  'GET /webhooks': { of: 'everyone', sample: at('/webhooks') },
  // Everyone who may has an account of their own to send it for; for another's it is refused.
  'POST /webhooks': {
    of: 'everyone',
    mayFail: true,
    answer: 200,
    sample: ({ accountId }) => ({
      path: '/webhooks',
      fields: { account: accountId, once: randomUUID(), url: 'https://nuevo.example/', event: 'cae.low' },
    }),
  },
  'GET /webhooks/{id}': {
    of: 'account',
    sample: ({ webhookId }) => ({ path: `/webhooks/${webhookId}` }),
  },
  'POST /webhooks/{id}/change': {
    of: 'account',
    sample: async (side, world) => ({
      path: `/webhooks/${await aWebhook(side, world)}/change`,
      fields: { url: 'https://otro.example/', event: ['cae.low', 'cfe.updated'] },
    }),
  },
  'POST /webhooks/{id}/enabled': {
    of: 'account',
    sample: async (side, world) => ({
      path: `/webhooks/${await aWebhook(side, world)}/enabled`,
      fields: { enabled: 'no' },
    }),
  },
  'POST /webhooks/{id}/test': {
    of: 'account',
    sample: ({ webhookId }) => ({ path: `/webhooks/${webhookId}/test`, fields: {} }),
  },
  'POST /webhooks/{id}/secret': {
    of: 'account',
    answer: 200,
    sample: async (side, world) => ({
      path: `/webhooks/${await aWebhook(side, world)}/secret`,
      fields: { seen: '' },
    }),
  },
  'POST /webhooks/{id}/remove': {
    of: 'account',
    sample: async (side, world) => ({
      path: `/webhooks/${await aWebhook(side, world)}/remove`,
      fields: { sure: 'yes' },
    }),
  },
  'GET /deliveries': { of: 'everyone', sample: at('/deliveries') },
  'GET /deliveries/{id}': {
    of: 'account',
    sample: ({ deliveryId }) => ({ path: `/deliveries/${deliveryId}` }),
  },
  'POST /deliveries/{id}/redeliver': {
    of: 'account',
    sample: ({ deliveryId }) => ({
      path: `/deliveries/${deliveryId}/redeliver`,
      fields: { reason: 'volvió' },
    }),
  },
  'GET /keys': {
    of: 'account',
    sample: ({ accountId }) => ({ path: `/keys?account=${accountId}` }),
  },
  'POST /keys': {
    of: 'account',
    answer: 200,
    sample: ({ accountId }) => ({
      path: '/keys',
      fields: { account: accountId, once: randomUUID(), label: EVIL, environment: 'sandbox', scope: 'read' },
    }),
  },
  'POST /keys/{id}/revoke': {
    of: 'account',
    sample: ({ accountId, keyId }) => ({
      path: `/keys/${keyId}/revoke`,
      fields: { account: accountId, reason: 'not used any more' },
    }),
  },
  'GET /members': {
    of: 'account',
    sample: ({ accountId }) => ({ path: `/members?account=${accountId}` }),
  },
  'POST /members': {
    of: 'account',
    answer: 200,
    sample: ({ accountId }) => ({
      path: '/members',
      fields: { account: accountId, email: 'nadie.aun@example.com', role: 'VIEWER' },
    }),
  },
  'POST /members/invitations/{id}/withdraw': {
    of: 'account',
    sample: async ({ accountId }, { site }) => {
      const email = `invitada.${randomUUID()}@example.com`;
      await inviteMember(site.deps, { accountId, email, role: 'VIEWER' });
      const em = site.deps.orm.em.fork();
      const { id } = await em.findOneOrFail(AccountInvitation, { email });
      return { path: `/members/invitations/${id}/withdraw`, fields: { account: accountId } };
    },
  },
  'POST /members/{id}/role': {
    of: 'account',
    sample: async (side, world) => ({
      path: `/members/${await aColleague(side, world)}/role`,
      fields: { account: side.accountId, role: 'VIEWER' },
    }),
  },
  'POST /members/{id}/remove': {
    of: 'account',
    sample: async (side, world) => ({
      path: `/members/${await aColleague(side, world)}/remove`,
      fields: { account: side.accountId, reason: 'left' },
    }),
  },
  'GET /enterprises/{rut}/homologation': {
    of: 'enterprise',
    sample: ({ rut }) => ({ path: `/enterprises/${rut}/homologation` }),
  },
  'POST /enterprises/{rut}/homologation': {
    of: 'enterprise',
    // Members need an account with the sandbox.
    mayFail: true,
    sample: ({ rut }) => ({
      path: `/enterprises/${rut}/homologation`,
      fields: { set: 'TESTING', each: '52', ...REASON },
    }),
  },
  'POST /enterprises/{rut}/homologation/stop': {
    of: 'enterprise',
    // There may be none.
    mayFail: true,
    sample: ({ rut }) => ({ path: `/enterprises/${rut}/homologation/stop`, fields: REASON }),
  },
  'GET /enterprises/{rut}/postulacion': {
    of: 'enterprise',
    sample: ({ rut }) => ({ path: `/enterprises/${rut}/postulacion` }),
  },
  'GET /enterprises/{rut}/postulacion/pdf': {
    of: 'enterprise',
    isFile: true,
    sample: ({ rut }) => ({ path: `/enterprises/${rut}/postulacion/pdf` }),
  },
  'GET /enterprises/{rut}/customers': {
    of: 'enterprise',
    sample: ({ rut }) => ({ path: `/enterprises/${rut}/customers` }),
  },
  'POST /enterprises/{rut}/customers': {
    of: 'enterprise',
    sample: ({ rut }) => ({
      path: `/enterprises/${rut}/customers`,
      fields: {
        type: 'NIFE',
        document: randomUUID().slice(0, 18),
        legal_name: EVIL,
        email: ['', ''],
        send: ['0', '1'],
      },
    }),
  },
  'GET /enterprises/{rut}/customers/{id}': {
    of: 'enterprise',
    sample: async (side, world) => ({
      path: `/enterprises/${side.rut}/customers/${await aCustomer(side, world)}`,
    }),
  },
  'POST /enterprises/{rut}/customers/{id}': {
    of: 'enterprise',
    sample: async (side, world) => ({
      path: `/enterprises/${side.rut}/customers/${await aCustomer(side, world)}`,
      fields: { legal_name: EVIL, email: 'a@example.com', send: '0' },
    }),
  },
  'POST /enterprises/{rut}/customers/{id}/delete': {
    of: 'enterprise',
    sample: async (side, world) => ({
      path: `/enterprises/${side.rut}/customers/${await aCustomer(side, world)}/delete`,
      fields: { sure: 'yes' },
    }),
  },
  'GET /plan': { of: 'everyone', sample: at('/plan') },
  'GET /plan/{rut}': {
    of: 'enterprise',
    sample: ({ rut }) => ({ path: `/plan/${rut}` }),
  },
  'GET /plan/{rut}/payments/{id}': {
    of: 'enterprise',
    answer: 303,
    isFile: true,
    sample: async ({ rut }, { site }) => {
      const id = randomUUID();
      await site.deps.orm.em.fork().insert(Payment, {
        id,
        rut,
        planId: 'STANDARD',
        frequencyId: 'MONTHLY',
        amount: '990',
        currency: 'UYU',
        status: 'PENDING',
        redirectUrl: `javascript:alert('${id}')`,
        createdAt: new Date(),
        settledAt: null,
      });
      return { path: `/plan/${rut}/payments/${id}` };
    },
  },
  'POST /plan/{rut}': {
    of: 'enterprise',
    sample: ({ rut }) => ({ path: `/plan/${rut}`, fields: { plan: '["STANDARD","MONTHLY"]' } }),
  },
  ...ENTERPRISE_PAGES,
  'GET /cfes/{rut}/{environment}/{cfe_id}': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({ path: `/cfes/${rut}/production/${cfeId}` }),
  },
  'GET /cfes/{rut}/{environment}/{cfe_id}/xml': {
    of: 'enterprise',
    isFile: true,
    async sample({ rut, cfeId, cfeUuid }, { site }) {
      const em = site.deps.orm.em.fork();
      await em.execute(
        `update cfe set signed_xml = coalesce(signed_xml, '<CFE/>'), digest = coalesce(digest, 'eA==') where id = ?`,
        [cfeUuid],
      );
      return { path: `/cfes/${rut}/production/${cfeId}/xml` };
    },
  },
  'GET /cfes/{rut}/{environment}/{cfe_id}/exchange': {
    of: 'enterprise',
    async sample({ rut, cfeId, cfeUuid }, { site }) {
      const said = { code: '105', message: EVIL, detail: null };
      const call: AuthorityCallRecord = {
        operation: 'askVerdict',
        answer: 'code 105',
        result: 'notYet',
        at: new Date(),
        milliseconds: 3,
        detail: null,
        reasons: [said],
        request: EVIL,
        response: Buffer.from(EVIL),
      };
      await storeAttempts(site.deps.orm.em.fork(), cfeUuid, [call], null);
      const query = new URLSearchParams({ operation: call.operation, answer: call.answer });
      return { path: `/cfes/${rut}/production/${cfeId}/exchange?${query.toString()}` };
    },
  },
  'POST /cfes/{rut}/{environment}/{cfe_id}/support': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({
      path: `/cfes/${rut}/production/${cfeId}/support`,
      fields: { action: 'retry', reason: 'the certificate is new' },
    }),
    mayFail: true,
  },
  'POST /cfes/{rut}/{environment}/{cfe_id}/mails': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({
      path: `/cfes/${rut}/production/${cfeId}/mails`,
      fields: { destination: 'cliente@example.com' },
    }),
    mayFail: true,
  },
  'POST /cfes/{rut}/{environment}/{cfe_id}/mails/{mail_id}': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({
      path: `/cfes/${rut}/production/${cfeId}/mails/00000000-0000-4000-8000-000000000000`,
      fields: {},
    }),
    mayFail: true,
  },
  'GET /cfes/{rut}/{environment}/{cfe_id}/credit': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({ path: `/cfes/${rut}/production/${cfeId}/credit` }),
  },
  'POST /cfes/{rut}/{environment}/{cfe_id}/credit': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({
      path: `/cfes/${rut}/production/${cfeId}/credit`,
      fields: { take: 'all', reason: 'Devolución', once: randomUUID() },
    }),
    mayFail: true,
  },
  'POST /cfes/{rut}/{environment}/{cfe_id}/credit-notes': {
    of: 'enterprise',
    sample: ({ rut, cfeId }) => ({
      path: `/cfes/${rut}/production/${cfeId}/credit-notes`,
      fields: {
        once: '00000000-0000-4000-8000-000000000001',
        request: '{"reason":"Devolución"}',
        expected: '1220.00',
        why: 'the customer asked',
      },
    }),
    mayFail: true,
  },
  'GET /stuck': { of: 'everyone', sample: at('/stuck?stuck_reason=undecided') },
  'GET /runs': { of: 'everyone', sample: at('/runs') },
  'GET /runs/{id}': { of: 'account', sample: ({ runId }) => ({ path: `/runs/${runId}` }) },
  'GET /runs/new': {
    of: 'account',
    sample: ({ webhookId }) => ({ path: `/runs/new?kind=redeliver&webhook=${webhookId}` }),
  },
  'POST /runs': {
    of: 'account',
    sample: ({ webhookId }) => ({
      path: '/runs',
      fields: { kind: 'redeliver', webhook: webhookId, expected: '5', reason: 'volvieron' },
    }),
    // A webhook has one run at a time.
    mayFail: true,
  },
  'POST /runs/{id}/stop': {
    of: 'account',
    sample: ({ runId }) => ({ path: `/runs/${runId}/stop`, fields: { reason: 'basta' } }),
  },
};

/** Every page and form for those who are signed in, by method and path. */
export const CONSOLE_PAGES: Readonly<Record<string, ConsolePage>> = Object.fromEntries(
  Object.entries(SAMPLES).map(([name, row]) => [name, { ...row, may: audienceOf(name as PageRoute) }]),
);

/** A month in which that enterprise has a receipt. */
async function aMonthOf(orm: Orm, rut: string): Promise<string> {
  const em = orm.em.fork();
  const { id } = await em.findOneOrFail(Cfe, { rut });
  const createdAt = new Date(Date.now() - 60_000);
  const emissionDate = montevideoDate(createdAt);
  await em.nativeUpdate(Cfe, { id }, { createdAt, emissionDate });
  return emissionDate.slice(0, 7);
}

/** A file with receipts of that enterprise, made or being made; its id. */
async function anExport(orm: Orm, rut: string, state: 'DONE' | 'RUNNING'): Promise<string> {
  const id = `${rut}-2026-11-${randomUUID().slice(0, 6)}`;
  const em = orm.em.fork();
  await em.nativeUpdate(ReceiptExport, { rut, state: 'RUNNING' }, { state: 'STOPPED', endedAt: new Date() });
  const content = Buffer.from('zip');
  const isDone = state === 'DONE';
  await em.insert(ReceiptExport, {
    id,
    rut,
    environment: 'production',
    month: '2026-11',
    withPdfs: false,
    actor: 'console:ana@example.com',
    state,
    total: 1,
    done: isDone ? 1 : 0,
    leftOut: 0,
    entries: 1,
    contentBytes: content.length,
    directoryBytes: 0,
    parts: 1,
    lastCfe: null,
    createdAt: new Date(),
    movedAt: new Date(),
    endedAt: isDone ? new Date() : null,
  });
  await em.insert(ReceiptExportPart, {
    exportId: id,
    place: 1,
    content,
    directory: Buffer.alloc(0),
    leftOut: '',
  });
  return id;
}

/** A webhook of that account, for a form to change. */
async function aWebhook({ accountId }: Side, { site }: World): Promise<string> {
  const { deps } = site;
  const em = deps.orm.em.fork();
  for (const webhook of await em.find(Webhook, { accountId, url: 'https://pasajero.example/' }))
    if (webhook.removedAt === null) await removeWebhook(deps, { webhookId: webhook.id });
  const made = { accountId, url: 'https://pasajero.example/', events: ['cfe.updated'] };
  return (await addWebhook(deps, made)).webhook.id;
}

/** A customer of that enterprise, for a form to change. */
async function aCustomer({ rut }: Side, { site }: World): Promise<string> {
  const customer = { doc_type: 'NIFE', doc_number: randomUUID().slice(0, 18), legal_name: EVIL } as const;
  return (await createCustomer(site.deps, { rut, customer })).id;
}

/** A member of that account, for a form to change. */
async function aColleague({ accountId }: Side, { site }: World): Promise<string> {
  const email = `colega.${randomUUID()}@example.com`;
  return (await createUser(site.deps, { email, accountId, role: 'MEMBER' })).person.id;
}

/** Pages and forms for anyone, which tests of signing in ask: by method and path. */
export const PAGES_FOR_ANYONE = [
  'GET /sign-in',
  'POST /sign-in',
  'GET /sign-in/code',
  'POST /sign-in/code',
  'GET /sign-in/oidc',
  'GET /sign-in/oidc/return',
  'GET /join/{token}',
  'POST /join/{token}',
  'GET /invitation/{token}',
  'POST /invitation/{token}',
  'POST /language',
];

/** What ends the session that asks, tested by itself. */
export const PAGES_THAT_END_A_SESSION = ['POST /sign-out'];
