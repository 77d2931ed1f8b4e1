import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GROUPS } from '../../../src/cli/groups/index.ts';
import type { Verb } from '../../../src/cli/verb.ts';
import { addAuthorityCertificates } from '../../../src/commands/authority/addAuthorityCertificates.ts';
import { addBranch } from '../../../src/commands/enterprises/branches.ts';
import { createCustomer } from '../../../src/commands/enterprises/customers.ts';
import { startTestRun } from '../../../src/commands/enterprises/homologation.ts';
import { updateEnterprise } from '../../../src/commands/enterprises/updateEnterprise.ts';
import { sendMail } from '../../../src/commands/mail/mails.ts';
import { startRun } from '../../../src/commands/operations/runs.ts';
import { createApiKey } from '../../../src/commands/people/apiKeys.ts';
import { setGrant } from '../../../src/commands/people/grants.ts';
import { createUser } from '../../../src/commands/people/users.ts';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { addWebhook, testWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { createApiKeys } from '../../../src/crypto/apiKeys.ts';
import type { Sealer } from '../../../src/crypto/sealed.ts';
import { ProviderReportFile } from '../../../src/db/entities/reports.ts';
import { Delivery } from '../../../src/db/entities/webhooks.ts';
import { listPayments } from '../../../src/db/people/payments.ts';
import { putRates } from '../../../src/db/receipts/rates.ts';
import { startReporting } from '../../../src/db/reports/dailyReports.ts';
import { beginService } from '../../../src/db/reports/providerReports.ts';
import { CustomerBody } from '../../../src/domain/enterprises/customer.ts';
import type { AuditAction } from '../../../src/domain/operations/audit.ts';
import { readRows } from '../../../src/domain/operations/operatorFiles.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount, idleIssuing } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aPepper, pepperVariable } from '../../support/database/pepper.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { anEnterprise, aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../support/mail/receipts.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { AUTHORITY_RUT_VARIABLES, aCertificate, anAuthority, aRut } from '../../support/receipts/papers.ts';
import { storeSubmission } from '../../support/reports/submission.ts';

const [KEK, OLDER_KEK, PEPPER] = [aKeyPair('k1'), aKeyPair('k0'), aPepper()];
const RATE = { currency: 'USD', rate: '40.125', source: 'BCU' } as const;
const PRODUCTION = ['--environment', 'production'];

let db: TestDatabase;
let cli: Cli;
let folder: string;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  folder = mkdtempSync(join(tmpdir(), 'cfe-verbs-'));
  cli = cliOn(db.urlOf('operator'), {
    CFE_KEY_ENCRYPTION_KEYS: `${KEK.privateText},${OLDER_KEK.privateText}`,
    CFE_SEALING_KEY: KEK.publicText,
    CFE_PEPPER: pepperVariable(PEPPER),
    CFE_CERTIFICATE_CA_FILE: 'any',
  });
  account = await anAccount(db.orm);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db[Symbol.asyncDispose]();
});

const deps = () => ({
  orm: db.orm,
  clock: () => new Date(),
  ...idleIssuing,
  apiKeys: createApiKeys([PEPPER]),
  sealer: KEK.sealer,
  checkoutUrl: 'https://pay.example',
  localReceivers: false,
});
const enterprise = () => anEnterprise(db.orm, account);
/** One that reports here since the beginning of March. */
async function withObligation(): Promise<string> {
  const rut = await enterprise();
  await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-01'));
  return rut;
}
async function aProviderReport(): Promise<string[]> {
  const em = db.orm.em.fork();
  const stored = { rut: '219999820013', product: 'CFEAPI1', xml: '<Declaracion/>' };
  em.create(ProviderReportFile, {
    period: '202011',
    sequence: 1,
    ...stored,
    builtAt: new Date(),
    receivedAt: null,
  });
  await em.flush();
  return ['202011'];
}
async function withTestRun(): Promise<string> {
  const rut = await enterprise();
  const kit = { testKit: null, certificateAuthorities: [] };
  await startTestRun({ ...deps(), ...kit }, { rut, set: 'SIMULATION', accountId: null });
  return rut;
}
/** RUT and day of a report that was written. */
async function aReport(): Promise<string[]> {
  const rut = await enterprise();
  await storeSubmission(db.orm, { rut, environment: 'production', date: '2026-03-10' });
  return [rut, '2026-03-10'];
}
function aFile(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
async function aWebhook(more: { sealer?: Sealer } = {}): Promise<string> {
  const input = { accountId: account, url: 'https://hooks.example.com/', events: ['cfe.updated'] };
  return (await addWebhook({ ...deps(), ...more }, input)).webhook.id;
}
const BRANCH = ['--street-name', '18 de Julio 1', '--locality-name', 'Salto', '--department-name', 'Salto'];
async function aBranch(): Promise<string[]> {
  const rut = await enterprise();
  const body = { branch: 2, street_name: 'Uruguay 1', locality_name: 'Salto', department_name: 'Salto' };
  await addBranch(deps(), { rut, body });
  return [rut, '2'];
}
const CUSTOMER = JSON.stringify({ doc_type: 'RUC', doc_number: '214844360018', legal_name: 'Cliente SA' });
async function aCustomer(): Promise<string[]> {
  const rut = await enterprise();
  await createCustomer(deps(), { rut, customer: readRows(CustomerBody, CUSTOMER) });
  return [rut, 'RUC', '214844360018'];
}
let users = 0;
async function aUser(): Promise<string> {
  const email = `beto${(users += 1)}@example.com`;
  return (await createUser(deps(), { email, accountId: account, role: 'OWNER' })).person.email;
}
async function aDelivery(): Promise<string> {
  const { id } = await testWebhook(deps(), { webhookId: await aWebhook() });
  await db.orm.em.fork().nativeUpdate(Delivery, { id }, { status: 'FAILED', settledAt: new Date() });
  return id;
}
/** A run of a webhook's deliveries, of which one failed. */
async function aRun(): Promise<string> {
  const webhook = (await db.orm.em.fork().findOneOrFail(Delivery, { id: await aDelivery() })).webhookId;
  const input = { kind: 'redeliver', filter: { webhook }, reason: 'volvió', accounts: null } as const;
  return (await startRun(deps(), input)).id;
}
async function aMail(): Promise<string> {
  const rut = await aReadyEnterprise(db.orm, account, { caes: [{ type: 'ETICKET' }] });
  const [cfe] = await giveCfes(db.orm, { accountId: account, rut }, { status: 'ACCEPTED' });
  return (
    await sendMail(deps(), { accountId: account, cfeUuid: cfe?.id ?? '', destination: 'a@example.com' })
  ).id;
}
async function aPayment(): Promise<string> {
  const rut = await enterprise();
  await updateEnterprise(deps(), { rut, update: { plan_id: 'STANDARD', frequency_id: 'YEARLY' } });
  const [payment] = await listPayments(db.orm.em.fork(), { rut });
  return payment?.id ?? '';
}
/** RUT and cfe_id of a CFE that is signed, as far as the table tells. */
async function aCfe(): Promise<string[]> {
  const rut = await aReadyEnterprise(db.orm, account);
  const body = fromJson(JSON.stringify(aCfeBody()));
  const { id } = await issueCfe(deps(), { accountId: account, rut, environment: 'production', body });
  await db.orm.em.fork().execute(`update cfe set signed_xml = '<CFE/>', digest = 'x' where id = ?`, [id]);
  return [rut, '101-1'];
}

/**
 * Every verb of the command line: what its one row in the audit is called (null: it only tells, and leaves none), and
 * the words that follow the verb in a call that is done.
 */
const VERBS: Readonly<Record<string, [AuditAction | null, () => Promise<string[]> | string[]]>> = {
  'account create': ['account.create', () => ['--name', 'Estudio Sur', '--email', 'sur@example.com']],
  'account list': [null, () => []],
  'account show': [null, () => [account]],
  'account update': ['account.update', () => [account, '--name', 'Estudio Norte', '--developer', 'no']],
  'user role': [
    'member.change_role',
    async () => {
      await aUser();
      return [await aUser(), '--account', account, '--role', 'MEMBER'];
    },
  ],
  'user remove': [
    'member.remove',
    async () => {
      await aUser();
      return [await aUser(), '--account', account, '--reason', 'Left the company'];
    },
  ],
  'user create': ['user.create', () => ['--email', 'Ana@example.com', '--role', 'SUPPORT']],
  'user list': [null, () => []],
  'user invite': ['user.invite', async () => [await aUser()]],
  'user disable': ['user.disable', async () => [await aUser()]],
  'user sessions': ['user.end_sessions', async () => [await aUser(), '--end', 'all']],
  'key create': ['api_key.create', () => [account, ...PRODUCTION]],
  'key list': [null, () => [account]],
  'key revoke': [
    'api_key.revoke',
    async () => [(await createApiKey(deps(), { accountId: account, environment: 'production' })).key.id],
  ],
  'grant set': ['grant.set', async () => [await anAccount(db.orm), await enterprise(), '--role', 'VIEWER']],
  'grant remove': [
    'grant.remove',
    async () => {
      const [accountId, rut] = [await anAccount(db.orm), await enterprise()];
      await setGrant(deps(), { accountId, rut, role: 'MEMBER' });
      return [accountId, rut];
    },
  ],
  'grant list': [null, () => []],
  'limit set': ['limit.set', () => [account, ...PRODUCTION, '--per-hour', '5000']],
  'webhook add': [
    'webhook.add',
    () => [account, '--url', 'https://hooks.example.com/', '--event', 'cfe.updated'],
  ],
  'webhook list': [null, () => [account]],
  'webhook update': ['webhook.update', async () => [await aWebhook(), '--disable']],
  'webhook rotate-secret': ['webhook.rotate_secret', async () => [await aWebhook()]],
  'webhook remove': ['webhook.remove', async () => [await aWebhook()]],
  'webhook test': ['webhook.test', async () => [await aWebhook()]],
  'delivery list': [null, () => []],
  'delivery show': [null, async () => [await aDelivery()]],
  'delivery redeliver': ['delivery.redeliver', async () => [await aDelivery()]],
  'mail list': [null, () => []],
  'mail show': [null, async () => [await aMail()]],
  'mail resend': ['mail.resend', async () => [await aMail()]],
  'enterprise list': [null, () => ['--status', 'PENDING']],
  'enterprise show': [null, async () => [await enterprise()]],
  'enterprise suspend': ['enterprise.suspend', async () => [await enterprise(), '--reason', 'Falta de pago']],
  'enterprise end': [
    'enterprise.end',
    async () => {
      const rut = await enterprise();
      await db.orm.em.fork().transactional((em) => beginService(em, rut, '2026-03-01'));
      return [rut, '--reason', 'Otro sistema'];
    },
  ],
  'enterprise resume': [
    'enterprise.resume',
    async () => [
      await anEnterprise(db.orm, account, { status: 'SUSPENDED', statusBeforeSuspension: 'PENDING' }),
    ],
  ],
  'enterprise permissions': [
    'enterprise.grant_permission',
    async () => [await enterprise(), '--grant', 'PROD', '--reason', 'Resolución 1234/2026'],
  ],
  'enterprise transfer': [
    'enterprise.transfer',
    async () => [await enterprise(), await anAccount(db.orm), '--reason', 'Poder notarial'],
  ],
  'enterprise create': [
    'enterprise.create',
    () => [
      account,
      aRut(),
      '--legal-name',
      'Empresa SA',
      '--department-name',
      'Montevideo',
      '--locality-name',
      'Montevideo',
      '--street-name',
      'Rincón 500',
      '--branch',
      '1',
      '--new',
    ],
  ],
  'enterprise update': [
    'enterprise.update',
    async () => [
      await anEnterprise(db.orm, account, { email: 'vieja@example.com' }),
      '--plan-id',
      'FREE',
      '--frequency-id',
      'MONTHLY',
      '--scheduled-ready-date',
      '2026-12-01T00:00:00',
      '--branch',
      '7',
      '--trade-name',
      'La Nueva',
      '--remove',
      'email',
      '--remove',
      'website',
    ],
  ],
  'enterprise validate': [
    'credentials.validate',
    async () => {
      const login = JSON.stringify({ username: 'ana', password: 'secreta' });
      return [await enterprise(), '--login-file', aFile('login.json', login)];
    },
  ],
  'enterprise sandbox-cae': [
    'cae.sandbox',
    async () => [await enterprise(), '--type', 'ETICKET', '--to', '1000'],
  ],
  'enterprise idemisor': [
    'enterprise.idemisor',
    async () => [await enterprise(), '--from', '5000000001', '--reason', 'counted elsewhere'],
  ],
  'enterprise migrate': [
    'enterprise.migrate',
    async () => [await enterprise(), '--from', '2026-12-01', '--idemisor', '5000000001', '--reason', 'moved'],
  ],
  'branch list': [null, async () => [await enterprise()]],
  'branch add': ['branch.add', async () => [await enterprise(), '2', ...BRANCH]],
  'branch update': [
    'branch.update',
    async () => [...(await aBranch()), ...BRANCH, '--phone-number', '24001234'],
  ],
  'branch remove': ['branch.delete', aBranch],
  'certificate show': [null, async () => [await enterprise()]],
  'certificate upload': [
    'certificate.upload',
    async () => {
      const rut = await enterprise();
      const { certB64, password } = aCertificate({ rut });
      const file = join(folder, 'empresa.p12');
      writeFileSync(file, Buffer.from(certB64, 'base64'));
      return [rut, file, '--password-file', aFile('password.txt', `${password}\n`)];
    },
  ],
  'cae list': [null, async () => [await aReadyEnterprise(db.orm, account)]],
  'cae upload': [
    'cae.upload',
    async () => {
      const [rut, authority] = [await enterprise(), anAuthority('of the verbs')];
      const trusting = { ...deps(), authorityRuts: AUTHORITY_RUT_VARIABLES };
      await addAuthorityCertificates(trusting, { pem: authority.certificatePem });
      return [rut, aFile('cae.xml', authority.caeXml({ rut })), '--start', '1'];
    },
  ],
  'customer list': [null, async () => [await enterprise()]],
  'customer add': ['customer.create', async () => [await enterprise(), aFile('customer.json', CUSTOMER)]],
  'customer update': [
    'customer.update',
    async () => [...(await aCustomer()), aFile('customer.json', CUSTOMER)],
  ],
  'customer remove': ['customer.delete', aCustomer],
  'cfe list': [null, async () => ['--serie', 'A', '--numero', '1']],
  'cfe show': [null, aCfe],
  'cfe xml': [null, aCfe],
  'cfe credit': [null, aCfe],
  'cfe credit-note': ['cfe.credit', async () => [...(await aCfe()), '--reason', 'Devolución']],
  // To ask takes a workflow, and there is none here: test/e2e/support.test.ts.
  'cfe retry': [null, async () => [...(await aCfe()), '--reason', 'look', '--dry-run']],
  'run list': [null, () => []],
  'run show': [null, async () => [await aRun()]],
  'run stop': ['run.stop', async () => [await aRun()]],
  'annulment list': [null, async () => ['--rut', await enterprise()]],
  'annulment add': [
    'annulment.add',
    async () => [
      await aReadyEnterprise(db.orm, account),
      '--type',
      '101',
      '--serie',
      'A',
      '--from',
      '7',
      '--to',
      '9',
      '--reason',
      'en papel',
    ],
  ],
  // Of one enterprise: CFEs that other rows store by themselves were given by no CAE.
  'numbers reconcile': [null, async () => ['--rut', (await aCfe())[0] ?? '']],
  'homologation start': [
    'homologation.start',
    async () => [
      await enterprise(),
      '--set',
      'TESTING',
      '--types',
      'ETICKET,ETICKET_NC',
      '--reason',
      'Ingreso',
    ],
  ],
  'homologation show': [null, async () => [await withTestRun()]],
  'homologation stop': ['homologation.stop', async () => [await withTestRun(), '--reason', 'Otro día']],
  'homologation sheet': [null, async () => [await enterprise(), '--out', join(folder, 'postulacion.pdf')]],
  'provider-report received': ['provider_report.receive', aProviderReport],
  'provider-report list': [null, () => []],
  'report list': [null, async () => ['--rut', await enterprise()]],
  'report show': [null, aReport],
  'report xml': [null, aReport],
  'report send': ['report.send', async () => [await withObligation(), '2026-03-10', '--reason', 'Pedido']],
  'report start': [
    'report.start',
    async () => [await enterprise(), '--from', '2026-12-01', '--reason', 'Cambio de sistema'],
  ],
  'report stop': [
    'report.stop',
    async () => [await enterprise(), '--from', '2026-12-01', '--reason', 'Cambio de sistema'],
  ],
  'plan list': [null, () => []],
  'plan load': [
    'plan.load',
    () => {
      const plan = { plan_id: 'GOLD', frequency_id: 'YEARLY', amount: 250, currency: 'USD' };
      return [aFile('plans.json', JSON.stringify([plan]))];
    },
  ],
  'payment list': [null, () => []],
  'payment settle': ['payment.settle', async () => [await aPayment()]],
  'payment cancel': ['payment.cancel', async () => [await aPayment()]],
  'ui-value list': [null, () => []],
  'ui-value load': [
    'ui_value.load',
    () => {
      const value = { year: 2027, value: 6.7001, source: 'INE, 2026-12-31', estimate: false };
      return [aFile('values.json', JSON.stringify([value]))];
    },
  ],
  'exchange-rate list': [null, () => []],
  'exchange-rate load': [
    'exchange_rate.load',
    () => [aFile('rates.json', JSON.stringify([{ ...RATE, date: '2026-03-09' }]))],
  ],
  'exchange-rate fetch': [
    'exchange_rate.fetch',
    async () => {
      await putRates(db.orm.em.fork(), [{ ...RATE, date: '2026-03-10' }]);
      return ['USD', '2026-03-10'];
    },
  ],
  'authority-certificate list': [null, () => []],
  'authority-certificate add': [
    'authority_certificate.add',
    () => [aFile('authority.pem', anAuthority().certificatePem)],
  ],
  'key-encryption status': [null, () => []],
  'key-encryption rotate': [
    'key_encryption.rotate',
    async () => {
      // The certificates of the other tests are none that a key opens.
      const sealed = deps().sealer.seal(Buffer.from('x'), { purpose: 'certificate-key', rut: '', rowId: '' });
      await db.orm.em.fork().execute('update certificate set sealed_key = ?', [sealed]);
      await aWebhook({ sealer: OLDER_KEK.sealer });
      return [];
    },
  ],
  'pepper status': [null, () => []],
  'recovery requeue': ['recovery.requeue', () => ['--reason', 'Temporal perdido']],
  'audit list': [null, () => []],
};

/** Verbs that ask the authority or a workflow, or sign, and what runs each beside one. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'recovery skip-numbers': 'tools/drills/backup/recover.ts',
  'provider-report build': 'test/integration/cli/providerReports.test.ts',
  'report retry': 'test/workflows/reportRetry.test.ts',
  'enterprise look-up': 'test/e2e/operator.test.ts',
};

const auditRows = () =>
  db.orm.em
    .fork()
    .execute<{ actor: string; action: string; subject: string }[]>(
      'select actor, action, subject from audit order by id',
    );

const VERB_NAMED: ReadonlyMap<string, Verb> = new Map(
  GROUPS.flatMap((group) => group.verbs.map((verb) => [`${group.name} ${verb.name}`, verb] as const)),
);

/** The first verb of each group: run as a process, which alone shows the program and the variables that it gets. */
const AS_PROCESS = new Set(
  GROUPS.map(({ name }) => Object.keys(VERBS).find((verb) => verb.startsWith(`${name} `))),
);

describe('every verb', () => {
  test('is in the table', () => {
    expect([...Object.keys(VERBS), ...Object.keys(ELSEWHERE)].sort()).toEqual([...VERB_NAMED.keys()].sort());
  });

  test('says that it only tells, or leaves a row in the audit', () => {
    const telling = [...VERB_NAMED]
      .filter(([verb, { reads }]) => reads && !(verb in ELSEWHERE))
      .map(([verb]) => verb);
    const silent = Object.entries(VERBS).filter(
      ([verb, [action]]) => action === null && verb !== 'cfe retry',
    );
    expect(telling.sort()).toEqual(silent.map(([verb]) => verb).sort());
  });

  test.each(Object.entries(ELSEWHERE))('%s is run by %s', (verb, file) => {
    const words = verb.split(' ').map((word) => `'${word}'`);
    const source = readFileSync(join(import.meta.dirname, '../../..', file), 'utf8');
    expect(source).toMatch(new RegExp(words.join(',\\s*')));
  });

  test.each(Object.entries(VERBS).map(([verb, [action, words]]) => ({ verb, action, words })))(
    '$verb is done, with $action in the audit',
    async ({ verb, action, words }) => {
      const given = await words();
      const before = await auditRows();

      const by = VERB_NAMED.get(verb)?.reads ? [] : ['--by', 'Ana Sur'];
      const call = AS_PROCESS.has(verb) ? cli.callProcess : cli.call;
      const { code, stdout, stderr } = await call(...verb.split(' '), ...given, ...by, '--json');

      expect([code, stderr]).toEqual([0, '']);
      expect(typeof JSON.parse(stdout)).toBe('object');
      const rows = (await auditRows()).slice(before.length);
      expect(rows.map(({ actor, action: done }) => ({ actor, action: done }))).toEqual(
        action === null ? [] : [{ actor: 'cli:Ana Sur', action }],
      );
      for (const { subject } of rows) expect(subject).not.toBe('');
    },
  );

  test('who acts is the user of the machine, or must be said where all are one user', async () => {
    const rut = await enterprise();
    const words = ['enterprise', 'suspend', rut, '--reason', 'Falta de pago'];
    const inContainer = cliOn(db.urlOf('operator'), { CFE_CLI_BY: 'required' });
    const before = await auditRows();

    expect(await inContainer.callProcess(...words)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'INVALID_INPUT: Name the person who acts, for the audit: --by NAME. The command line has no users of its own.\n',
    });
    expect(await inContainer.json('enterprise', 'show', rut)).toMatchObject({ status: 'PENDING' });
    expect((await cli.refusal(...words, '--by', ' ')).code).toBe('INVALID_INPUT');
    expect((await cli.refusal(...words, '--by', 'x'.repeat(101))).code).toBe('INVALID_INPUT');
    expect((await auditRows()).length).toBe(before.length);

    await cli.json(...words);
    await inContainer.json('enterprise', 'resume', rut, '--by', 'ana');
    expect((await auditRows()).slice(before.length).map(({ actor }) => actor)).toEqual([
      `cli:${userInfo().username}`,
      'cli:ana',
    ]);
  });
});
