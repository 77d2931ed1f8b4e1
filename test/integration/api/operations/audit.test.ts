import { describe, expect, test } from '@jest/globals';
import { ROUTES } from '../../../../src/api/routes/index.ts';
import { addBranch } from '../../../../src/commands/enterprises/branches.ts';
import { startTestRun } from '../../../../src/commands/enterprises/homologation.ts';
import { findLastTestRun } from '../../../../src/db/enterprises/homologations.ts';
import { Mail } from '../../../../src/db/entities/mail.ts';
import type { AuditAction } from '../../../../src/domain/operations/audit.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import type { Answer } from '../../../support/api/http.ts';
import { customerBody, giveCustomers } from '../../../support/enterprises/customers.ts';
import { anEnterprise, aReadyEnterprise, enterpriseBody } from '../../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../../support/mail/receipts.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { aCertificate, aRut } from '../../../support/receipts/papers.ts';

const suite = useApi();
const enterprise = () => anEnterprise(suite.db.orm, suite.owner.accountId);
const client = () => suite.owner.client;
const branchBody = (branch: number) => ({
  branch,
  street_name: 'Sarandí 20',
  locality_name: 'Maldonado',
  department_name: 'Maldonado',
});
const plan = { plan_id: 'FREE', frequency_id: 'MONTHLY' };

interface AuditRow {
  actor: string;
  action: string;
  subject: string;
  account_id: string | null;
  key_id: string | null;
  address: string | null;
  rut: string | null;
  reason: string | null;
}
const auditOf = (rut: string) =>
  suite.db.orm.em
    .fork()
    .execute<AuditRow[]>(
      'select actor, action, subject, account_id, key_id, address, rut, reason from audit where rut = ? order by id',
      [rut],
    );

/** The ids of an enterprise's customers. */
const customerIds = async (rut: string) =>
  (
    await suite.db.orm.em.fork().execute<{ id: string }[]>('select id from customer where rut = ?', [rut])
  ).map(({ id }) => id);
const customerPath = (rut: string, { doc_type, doc_number }: { doc_type: string; doc_number: string }) =>
  `/enterprises/${rut}/customers/${doc_type}/${doc_number}`;

interface Call {
  rut: string;
  /** What the audit calls the thing: the RUT unless told. */
  subject?: () => Promise<string | undefined>;
  send: () => Promise<Answer>;
}

/** Every route that changes something: what the audit says of it, and a call that is done. */
const ACTS: Readonly<Record<string, [AuditAction, () => Promise<Call>]>> = {
  createEnterprise: [
    'enterprise.create',
    async () => {
      const rut = aRut();
      return { rut, send: () => client().post('/enterprises', enterpriseBody(rut)) };
    },
  ],
  updateEnterprise: [
    'enterprise.update',
    async () => {
      const rut = await enterprise();
      return { rut, send: () => client().put(`/enterprises/${rut}`, plan) };
    },
  ],
  patchEnterprise: [
    'enterprise.update',
    async () => {
      const rut = await enterprise();
      return { rut, send: () => client().send('PATCH', `/enterprises/${rut}`, { body: plan }) };
    },
  ],
  validateCredentials: [
    'credentials.validate',
    async () => {
      const rut = await enterprise();
      return { rut, send: () => client().post(`/enterprises/${rut}/validate-efactura`, {}) };
    },
  ],
  uploadCertificate: [
    'certificate.upload',
    async () => {
      const rut = await enterprise();
      const { certB64, password } = aCertificate({ rut });
      const body = { cert_b64: certB64, password };
      return { rut, send: () => client().post(`/enterprises/${rut}/certificate`, body) };
    },
  ],
  uploadCae: [
    'cae.upload',
    async () => {
      const rut = await enterprise();
      const body = { cae_b64: suite.authority.cae({ rut }), cae_start_number: 1 };
      return { rut, send: () => client().post(`/enterprises/${rut}/caes`, body) };
    },
  ],
  createBranch: [
    'branch.add',
    async () => {
      const rut = await enterprise();
      const send = () => client().post(`/enterprises/${rut}/branches`, branchBody(7));
      return { rut, send, subject: async () => `${rut}/7` };
    },
  ],
  updateBranch: [
    'branch.update',
    async () => {
      const rut = await enterprise();
      const { branch: _, ...place } = branchBody(1);
      const send = () => client().put(`/enterprises/${rut}/branches/1`, place);
      return { rut, send, subject: async () => `${rut}/1` };
    },
  ],
  deleteBranch: [
    'branch.delete',
    async () => {
      const rut = await enterprise();
      await addBranch(suite.api.deps, { rut, body: branchBody(7) });
      const send = () => client().send('DELETE', `/enterprises/${rut}/branches/7`);
      return { rut, send, subject: async () => `${rut}/7` };
    },
  ],
  startHomologation: [
    'homologation.start',
    async () => {
      const rut = await enterprise();
      const send = () => client().post(`/enterprises/${rut}/homologation`, { set: 'TESTING' });
      return { rut, send, subject: () => testRunOf(rut) };
    },
  ],
  stopHomologation: [
    'homologation.stop',
    async () => {
      const rut = await enterprise();
      await startTestRun(suite.api.deps, { rut, set: 'TESTING', accountId: null });
      const send = () => client().send('DELETE', `/enterprises/${rut}/homologation`);
      return { rut, send, subject: () => testRunOf(rut) };
    },
  ],
  createCustomer: [
    'customer.create',
    async () => {
      const rut = await enterprise();
      const send = () => client().post(`/enterprises/${rut}/customers`, customerBody());
      return { rut, send, subject: async () => (await customerIds(rut))[0] };
    },
  ],
  updateCustomer: [
    'customer.update',
    async () => {
      const { rut, customer, id } = await aCustomer();
      const send = () =>
        client().put(customerPath(rut, customer), { ...customer, legal_name: 'Otro nombre' });
      return { rut, send, subject: async () => id };
    },
  ],
  sendMail: [
    'mail.send',
    async () => {
      const { accountId } = suite.owner;
      const rut = await aReadyEnterprise(suite.db.orm, accountId);
      const [cfe] = await giveCfes(suite.db.orm, { accountId, rut }, { status: 'ACCEPTED' });
      const path = `/enterprises/${rut}/cfes/101-${cfe?.sequence}/emails`;
      const send = () => client().post(path, { destination: 'compras@example.com' });
      const subject = async () => (await suite.db.orm.em.fork().findOne(Mail, { rut }))?.id;
      return { rut, send, subject };
    },
  ],
  deleteCustomer: [
    'customer.delete',
    async () => {
      const { rut, customer, id } = await aCustomer();
      const send = () => client().send('DELETE', customerPath(rut, customer));
      return { rut, send, subject: async () => id };
    },
  ],
};

/** Routes that are no GET and leave no row in the audit, and why. */
const UNAUDITED: Readonly<Record<string, string>> = {
  createToken:
    'changes nothing: a token is a signed text that is stored nowhere; api_key.last_used_at tells of use',
  previewCfe: 'computes, and stores nothing',
  creditCfe: 'as issueCfe: the note is its own record',
  issueCfe:
    'the CFE is its own record: its row keeps account, Idempotency-Key and moment, and never goes; a second row would double the writes of the busiest call',
};

const testRunOf = async (rut: string) => (await findLastTestRun(suite.db.orm.em.fork(), rut))?.id;

async function aCustomer() {
  const rut = await enterprise();
  const { outbox, orm, clock } = suite.api.deps;
  const [customer] = await giveCustomers({ outbox, orm, clock }, rut, [
    { doc_type: 'NIFE', doc_number: 'BR-445566' },
  ]);
  const [id] = await customerIds(rut);
  if (!customer || !id) throw new Error('no customer was kept');
  return { rut, customer, id };
}

describe('the audit of the API', () => {
  test('knows every route that is no GET', () => {
    const changing = ROUTES.filter(({ method }) => method !== 'GET').map(({ name }) => name);
    expect([...Object.keys(ACTS), ...Object.keys(UNAUDITED)].sort()).toEqual(changing.sort());
  });

  test.each(Object.entries(ACTS).map(([name, [action, prepare]]) => ({ name, action, prepare })))(
    '$name leaves one row, $action, by the calling account, its key and its address',
    async ({ action, prepare }) => {
      const { rut, send, subject = async () => rut } = await prepare();
      const before = await auditOf(rut);

      const answer = await send();

      expect(answer.status).toBeLessThan(300);
      const rows = (await auditOf(rut)).slice(before.length);
      expect(rows).toEqual([
        expect.objectContaining({
          actor: `account:${suite.owner.accountId}`,
          action,
          subject: await subject(),
          key_id: suite.owner.keyId,
          address: '127.0.0.1',
          rut,
        }),
      ]);
    },
  );

  test('issuing leaves none: the row of the CFE says by whom and when', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);

    await client().post(`/enterprises/${rut}/cfes`, aCfeBody());

    expect(await auditOf(rut)).toEqual([]);
    const rows = await suite.db.orm.em
      .fork()
      .execute('select account_id, created_at is not null as dated from cfe where rut = ?', [rut]);
    expect(rows).toEqual([{ account_id: suite.owner.accountId, dated: true }]);
  });

  test('what was refused, or answered again for its Idempotency-Key, leaves none', async () => {
    const [rut, body] = [await enterprise(), customerBody()];
    const headers = { 'idempotency-key': 'customer-1' };
    const create = (more = {}) => client().post(`/enterprises/${rut}/customers`, body, more);

    await create(headers);
    expect((await create(headers)).headers.get('idempotent-replayed')).toBe('true');
    expect((await create()).status).toBe(400);
    const unknown = { doc_type: 'NIFE', doc_number: 'nobody' };
    expect((await client().send('DELETE', customerPath(rut, unknown))).status).toBe(404);

    expect((await auditOf(rut)).map(({ action }) => action)).toEqual(['customer.create']);
  });

  test('names no person: neither document nor name of a customer', async () => {
    const { rut, customer } = await aCustomer();
    await client().send('DELETE', customerPath(rut, customer));

    const text = JSON.stringify(await auditOf(rut));

    expect(text).toContain('customer.delete');
    for (const word of [customer.doc_number, customer.legal_name]) expect(text).not.toContain(word);
  });
});
