import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aPepper, pepperVariable } from '../../support/database/pepper.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { anEnterprise, giveCae } from '../../support/enterprises/enterprises.ts';
import { aCertificate, aRut, day } from '../../support/receipts/papers.ts';

const PASSWORD = 'una clave que nadie ve';
let db: TestDatabase;
let cli: Cli;
let folder: string;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  folder = mkdtempSync(join(tmpdir(), 'cfe-enterprises-'));
  cli = cliOn(db.urlOf('operator'), {
    CFE_SEALING_KEY: aKeyPair('k1').publicText,
    CFE_PEPPER: pepperVariable(aPepper()),
    CFE_CERTIFICATE_CA_FILE: 'any',
  });
  account = await anAccount(db.orm);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db[Symbol.asyncDispose]();
});

function aFile(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('an enterprise is made, corrected and given its papers, as by the API', async () => {
  const rut = aRut();
  const data = [
    '--legal-name',
    'Empresa SA',
    '--department-name',
    'Montevideo',
    '--locality-name',
    'Montevideo',
  ];
  await cli.json(
    'enterprise',
    'create',
    account,
    rut,
    ...data,
    '--street-name',
    'Rincón 500',
    '--branch',
    '3',
  );
  const plan = ['--plan-id', 'FREE', '--frequency-id', 'MONTHLY', '--email', 'ventas@example.com'];
  await cli.json('enterprise', 'update', rut, ...plan, '--scheduled-ready-date', '2026-12-01T09:00:00');

  expect(
    await cli.json('enterprise', 'update', rut, '--branch', '4', '--remove', 'trade_name'),
  ).toMatchObject({
    rut,
    owner_account_id: account,
    legal_name: 'Empresa SA',
    trade_name: null,
    branch: 4,
    email: 'ventas@example.com',
    plan_metadata: { plan_id: 'FREE', frequency_id: 'MONTHLY' },
    scheduled_ready_date: '2026-12-01T12:00:00.000Z',
  });
  expect(await cli.refusal('enterprise', 'update', rut)).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await cli.refusal('enterprise', 'update', rut, '--branch', 'four')).toMatchObject({
    message: expect.stringContaining('branch'),
  });
});

test('a password comes from a file or from standard input, and stands in no answer, no refusal and no audit', async () => {
  const rut = await anEnterprise(db.orm, account);
  const p12 = aFile('empresa.p12', Buffer.from(aCertificate({ rut, password: PASSWORD }).certB64, 'base64'));
  const upload = (input: string) =>
    spawnSync(
      process.execPath,
      ['src/main/cli.ts', 'certificate', 'upload', rut, p12, '--password-file', '-', '--json'],
      { env: { ...cli.environment }, input, encoding: 'utf8', timeout: 60_000 },
    );

  const wrong = upload('otra\n');
  expect([wrong.status, JSON.parse(wrong.stderr)]).toMatchObject([1, { error: { code: 'INVALID_INPUT' } }]);
  const done = upload(`${PASSWORD}\n`);
  expect(done.stderr).toBe('');
  expect(JSON.parse(done.stdout)).toMatchObject({ status: 'VALID', expiration_date: day(365) });
  expect(await cli.json('certificate', 'show', rut)).toMatchObject({ status: 'VALID' });
  const login = aFile('login.json', JSON.stringify({ username: 'ana', password: PASSWORD }));
  const validated = await cli.json('enterprise', 'validate', rut, '--login-file', login);
  expect(validated).toMatchObject({ efactura_metadata: { status: 'VALIDATING' } });
  const audit = await db.orm.em.fork().execute('select * from audit where rut = ?', [rut]);
  expect(audit).toHaveLength(2);
  expect([wrong.stderr, wrong.stdout, done.stdout, JSON.stringify([validated, audit])].join()).not.toContain(
    PASSWORD,
  );
});

test('the list of CAEs tells what is left of each', async () => {
  const rut = await anEnterprise(db.orm, account);
  await giveCae(db.orm, rut, { to: 100, last: 40, expirationDate: day(3) });
  await giveCae(db.orm, rut, { serie: 'B', expirationDate: day(-1) });

  expect(await cli.json('cae', 'list', rut)).toMatchObject([
    { series: 'B', status: 'EXPIRED' },
    { series: 'A', numbers_left: 60, days_left: null, status: 'OK' },
  ]);
  expect(await cli.json<object[]>('cae', 'list', rut, '--status', 'OK')).toHaveLength(1);

  await giveCae(db.orm, rut, { serie: 'C', start: { number: 500, findings: ['first_known'] } });
  const { stdout } = await cli.call('cae', 'list', rut);
  expect(stdout).toMatch(/ OK +-\n/);
  expect(stdout).toContain('cae.first_number_known');
});

test('branches and customers change, and what is unknown is a refusal', async () => {
  const rut = await anEnterprise(db.orm, account);
  const at = ['--street-name', 'Uruguay 1', '--locality-name', 'Salto', '--department-name', 'Salto'];
  await cli.json('branch', 'add', rut, '2', ...at, '--phone-number', '47330000');
  expect(await cli.json('branch', 'update', rut, '2', ...at)).toMatchObject({
    branch: 2,
    phone_number: null,
  });
  expect(await cli.json<object[]>('branch', 'list', rut)).toMatchObject([{ branch: 1 }, { branch: 2 }]);
  expect(await cli.refusal('branch', 'remove', rut, '3')).toMatchObject({ code: 'NOT_FOUND' });

  const customer = { doc_type: 'RUC', doc_number: '214844360018', legal_name: 'Cliente SA' };
  const file = aFile('customer.json', JSON.stringify(customer));
  await cli.json('customer', 'add', rut, file);
  expect(await cli.refusal('customer', 'add', rut, file)).toMatchObject({ code: 'INVALID_INPUT' });
  aFile('customer.json', JSON.stringify({ ...customer, legal_name: 'Cliente Nuevo SA' }));
  await cli.json('customer', 'update', rut, 'RUC', customer.doc_number, file);
  expect(await cli.json('customer', 'list', rut, '--legal-name', 'nuevo')).toMatchObject([
    { ...customer, legal_name: 'Cliente Nuevo SA', notifications: [] },
  ]);
  await cli.json('customer', 'remove', rut, 'RUC', customer.doc_number);
  expect(await cli.json('customer', 'list', rut)).toEqual([]);
});

test('a transfer shows what goes where no certificate proves the enterprise, and with --dry-run does nothing', async () => {
  const rut = await anEnterprise(db.orm, account, { email: 'trampa@example.com' });
  const transfer = ['enterprise', 'transfer', rut, await anAccount(db.orm), '--reason', 'Poder'];
  const removed = { data: ['trade_name', 'email'], customers: 0, grants: 0 };

  expect(await cli.json(...transfer, '--dry-run')).toMatchObject({
    owner_account_id: account,
    email: 'trampa@example.com',
    removed,
  });
  expect(await cli.json(...transfer)).toMatchObject({
    owner_account_id: transfer[3],
    email: null,
    trade_name: null,
    removed,
  });
});
