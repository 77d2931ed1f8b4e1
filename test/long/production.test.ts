import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import got from 'got';
import { type CfeView, type Customer, logIn } from '../../local/demo/customer.ts';
import { onboard } from '../../local/demo/onboarding.ts';
import { obtainTemporal } from '../../local/stack/temporal/obtainTemporal.ts';
import { newKeyEncryptionKey, newPepper, newTokenKey, sealingKeyFor } from '../../src/crypto/newSecrets.mjs';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { databaseRoleOf, PROGRAMS } from '../../src/db/rights.ts';
import { SEARCH_ATTRIBUTES } from '../../src/searchAttributes.ts';
import { createHttpClient, type HttpClient } from '../support/api/http.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { readCompose, scriptOf } from '../support/production/composeFile.ts';
import { startHoldingProxy } from '../support/production/holdingProxy.ts';
import { type Image, makeImage } from '../support/production/image.ts';
import { openProduction, type Production, type ServiceProgram } from '../support/production/production.ts';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { aRut } from '../support/receipts/papers.ts';
import { issue as issueAt, ledgerOf, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const temporalAddress = String(process.env['TEMPORAL_ADDRESS']);

/** Without a registry the programs of the checkout stand in; in CI there is one. */
const image = await makeImage().catch((error: unknown): Image | undefined => {
  if (process.env['CI']) throw error;
  return undefined;
});

describe('the services of docker-compose.temporal.yml, as processes', () => {
  /** Programs that run as somebody else read here, too. */
  const folder = mkdtempSync(join(tmpdir(), 'cfe-production-test-'));
  chmodSync(folder, 0o755);
  const namespace = `production-${randomUUID()}`;
  const [oldKey, newKey] = [newKeyEncryptionKey('old'), newKeyEncryptionKey('new')];
  const rut = aRut();
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let orm: Orm;
  let production: Production;
  let apiKey: string;

  beforeAll(async () => {
    database = await emptyDatabase();
    const { databaseUrl } = database;
    orm = await openOrm({ databaseUrl, pool: 2 });
    production = await openProduction({
      folder: image?.folder ?? CHECKOUT,
      environment: image?.env ?? { NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
      databaseUrl,
      temporalAddress,
      namespace,
    });
    production.setSecret('cfe_database_url', `${databaseUrl}\n`);
    for (const program of PROGRAMS)
      production.setSecret(`cfe_${program}_database_url`, `${database.urlOf(program)}\n`);
    production.setSecret('cfe_key_encryption_keys', `${oldKey}\n`);
    production.setSecret('cfe_sealing_key', `${sealingKeyFor(oldKey)}\n`);
    for (const name of ['cfe_pepper', 'cfe_console_pepper'])
      production.setSecret(name, `${newPepper('p1')}\n`);
    for (const none of ['cfe_smtp_url', 'cfe_mail_dkim_key']) production.setSecret(none, '');
    production.setSecret('cfe_token_keys', JSON.stringify([newTokenKey('t')]));
    production.setSecret('cfe_service_certificate_password', '\n');
  });
  afterAll(async () => {
    await production?.[Symbol.asyncDispose]();
    await orm?.close(true);
    await database?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
    if (image) rmSync(image.folder, { recursive: true });
  });

  const issue = (customer: Customer): Promise<CfeView> => issueAt(customer, rut);
  const customerAt = (api: ServiceProgram): Promise<Customer> => logIn(`${api.url}/v1`, apiKey);

  /** A client that sees statuses and headers too. */
  async function clientAt(api: ServiceProgram): Promise<HttpClient> {
    const base = `${api.url}/v1`;
    const answer = await createHttpClient(base, { 'x-api-key': apiKey }).post<{ access_token: string }>(
      '/tokens',
      {},
    );
    return createHttpClient(base, {
      'x-api-key': apiKey,
      authorization: `Bearer ${answer.data.access_token}`,
    });
  }

  (image ? test : test.skip)('run from what the image holds, and from nothing else', () => {
    expect(image?.command).toEqual(readCompose().services['api']?.command);
    expect(image?.healthCheck).toEqual(readCompose().services['api']?.healthcheck?.test?.slice(1));
    expect(image?.env['CFE_HOST']).toBe('0.0.0.0');
    // The workflows are bundled; their compiler, which unpacks itself where a container may not write, is left out.
    expect(existsSync(join(String(image?.folder), 'node_modules/@swc/core'))).toBe(false);
    expect(existsSync(String(image?.env['CFE_WORKFLOW_BUNDLE']))).toBe(true);
  });

  test('the namespace job makes namespace and search attributes, and may run again', async () => {
    const { path } = await obtainTemporal({ variables: process.env, say: () => undefined });
    symlinkSync(path, join(folder, 'temporal'));
    const job = readCompose().services['temporal-namespace'] ?? {};
    const script = scriptOf(job);
    const env = {
      ...job.environment,
      PATH: `${folder}:/usr/bin:/bin`,
      HOME: folder,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: namespace,
    };

    const runJob = () => promisify(execFile)('/bin/sh', ['-euc', script], { env });

    await runJob();
    await runJob();

    const connection = await Connection.connect({ address: temporalAddress });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    await connection.close();
    expect(customAttributes).toMatchObject(SEARCH_ATTRIBUTES);
  });

  test('before the job has run, programs end and name the migrations that lack; nothing is made', async () => {
    const lacking = `The database is missing the migrations ${MIGRATIONS.map(({ name }) => name).join(', ')}. Run the migrate job first`;

    for (const service of ['api', 'worker'] as const) {
      const { code, said } = await production.runToEnd(service);
      expect([service, code]).toEqual([service, 1]);
      expect(said).toContain(lacking);
    }
    const { code, said } = await production.runToEnd('cfe', {}, ['account', 'list']);
    expect(code).toBe(1);
    expect(said).toContain(`UNAVAILABLE: ${lacking}`);
    expect(
      await orm.em.fork().execute('select tablename from pg_tables where schemaname = ?', ['public']),
    ).toEqual([]);
  });

  test('of two migration jobs at once, one runs each migration, and both succeed', async () => {
    const jobs = await Promise.all([production.runToEnd('migrate'), production.runToEnd('migrate')]);

    expect(jobs.map(({ code }) => code)).toEqual([0, 0]);
    const rows = await orm.em.fork().execute<{ name: string }[]>('select name from migration order by id');
    expect(rows.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
  });

  test('the job gives the roles of the other programs rows, and no tables', async () => {
    const roles = await orm.em.fork().execute(
      `select has_table_privilege(role, 'cfe', 'select') as rows,
              has_table_privilege(role, 'audit', 'update, delete, truncate') as audit,
              has_schema_privilege(role, 'public', 'create') as tables
       from unnest(?::text[]) as role`,
      [`{${PROGRAMS.map(databaseRoleOf).join()}}`],
    );

    expect(roles).toEqual(PROGRAMS.map(() => ({ rows: true, audit: false, tables: false })));
  });

  test('with secrets from files an enterprise comes to READY and its receipt to ACCEPTED', async () => {
    // Of the next version, as while it is rolled out: programs of this one run on.
    await orm.em.fork().execute(`insert into migration (name) values ('9999_of_the_next_version')`);
    await production.runUntilHealthy('simulator');
    const pem = join(folder, 'authority.pem');
    writeFileSync(pem, await got.get(`${production.simulatorUrl}/portal/authority-certificates`).text());
    await production.cfe('authority-certificate', 'add', pem, '--by', 'ana');
    const account = [
      'account',
      'create',
      '--name',
      'Estudio Sur',
      '--email',
      'sur@example.com',
      '--by',
      'ana',
    ];
    const { account_id } = await production.cfe<{ account_id: string }>(...account);
    const key = ['key', 'create', account_id, '--environment', 'production', '--by', 'ana'];
    ({ api_key: apiKey } = await production.cfe<{ api_key: string }>(...key));
    const [api, worker] = await Promise.all([
      production.runUntilHealthy('api'),
      production.runUntilHealthy('worker'),
    ]);

    const customer = await customerAt(api);
    await onboard(customer, { simulatorUrl: production.simulatorUrl, typeCodes: [101], rut });
    const { cfe_id } = await issue(customer);

    expect((await verdictOf(customer, rut, cfe_id)).cfe_status).toBe('ACCEPTED');
    const pdf = await customer.file(`enterprises/${rut}/cfes/${cfe_id}/pdf`);
    expect(Buffer.from(pdf.subarray(0, 5)).toString('latin1')).toBe('%PDF-');
    expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
  });

  test('an API that is stopped finishes the request in progress, and accepts no new one', async () => {
    const api = await production.runUntilHealthy('api');
    const client = await clientAt(api);
    const locked = orm.em.fork().transactional(async (em) => {
      await em.execute('lock table cfe in access exclusive mode');
      const answer = client.post<CfeView>(`/enterprises/${rut}/cfes`, aCfeBody());
      await until('the request to wait for the table', 10, async () => {
        const [waiting] = await em.execute<{ n: number }[]>(
          `select count(*)::integer as n from pg_locks where not granted and relation = 'cfe'::regclass`,
        );
        return (waiting?.n ?? 0) > 0;
      });
      const ended = api.stop();
      await until('new connections to be refused', 10, () =>
        fetch(`${api.url}/readyz`).then(
          () => false,
          () => true,
        ),
      );
      return { answer, ended };
    });

    const { answer, ended } = await locked;
    expect((await answer).status).toBe(201);
    expect(await ended).toBe(0);
  });

  test('whoever waits for a verdict there is answered at once', async () => {
    const api = await production.runUntilHealthy('api');
    const client = await clientAt(api);
    const count = async (): Promise<number> => {
      const [row] = await orm.em.fork().execute<{ n: number }[]>('select count(*)::integer as n from cfe');
      return row?.n ?? 0;
    };
    const before = await count();
    const answer = client.post<CfeView>(`/enterprises/${rut}/cfes`, aCfeBody(), { prefer: 'wait=30' });
    await until('the receipt to be stored', 10, async () => (await count()) > before);

    const ended = api.stop();

    // PENDING to who would wait for 30 s, and an end in order: the one did not hold the other up.
    const { status, data } = await answer;
    expect([status, data.cfe_status]).toEqual([201, 'PENDING']);
    expect(await ended).toBe(0);
  });

  test('a worker that is stopped amid a slow answer of the authority does not wait for it; another continues', async () => {
    const [api, slow] = await Promise.all([
      production.runUntilHealthy('api'),
      startHoldingProxy(production.simulatorUrl),
    ]);
    try {
      const worker = await production.runUntilHealthy('worker', {
        CFE_DGI_PRODUCTION_RECEPTION_URL: `${slow.url}/production/ws_efactura`,
      });
      const customer = await customerAt(api);
      const { cfe_id, numero } = await issue(customer);
      await until('the authority to have it', 60, async () => slow.held() > 0);

      // The answer is held for ever.
      expect(await worker.stop()).toBe(0);
      const next = await production.runUntilHealthy('worker');
      expect((await verdictOf(customer, rut, cfe_id)).cfe_status).toBe('ACCEPTED');
      const rows = await ledgerOf(production.simulatorUrl, { rut });
      expect(rows.find((row) => row.numero === numero)).toMatchObject({ verdict: 'AE', times_received: 1 });
      await Promise.all([api.stop(), next.stop()]);
    } finally {
      await slow.close();
    }
  });

  test('the key-encryption key is changed: sealed anew while all runs, and the old key is needed no more', async () => {
    const restarted = (): Promise<ServiceProgram[]> =>
      Promise.all([production.runUntilHealthy('api'), production.runUntilHealthy('worker')]);
    const statusOf = async (id: string) =>
      (await production.cfe<{ key_id: string }[]>('key-encryption', 'status')).find(
        ({ key_id }) => key_id === id,
      );
    production.setSecret('cfe_key_encryption_keys', `${newKey},${oldKey}`);
    production.setSecret('cfe_sealing_key', sealingKeyFor(newKey));
    const both = await restarted();

    expect(await statusOf('old')).toMatchObject({ seals: false, configured: true, total: 2 });
    expect(await production.cfe('key-encryption', 'rotate', '--by', 'ana')).toEqual({
      key_id: 'new',
      resealed: 2,
    });
    expect(await statusOf('old')).toMatchObject({ total: 0 });
    expect(await statusOf('new')).toMatchObject({ seals: true, total: 2 });

    await Promise.all(both.map((program) => program.stop()));
    production.setSecret('cfe_key_encryption_keys', newKey);
    const [api, ...others] = await restarted();
    if (!api) throw new Error('there is no API');
    const customer = await customerAt(api);
    const { cfe_id } = await issue(customer);
    expect((await verdictOf(customer, rut, cfe_id)).cfe_status).toBe('ACCEPTED');
    await customer.send('POST', `enterprises/${rut}/validate-efactura`, {});
    await until('the stored login to be checked', 30, async () => {
      const { status } = await customer.get<{ status: string }>(`enterprises/${rut}/efactura-status`);
      return status === 'VALID';
    });
    await Promise.all([api, ...others].map((program) => program.stop()));
  });
});
