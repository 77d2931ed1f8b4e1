import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceTime } from '../../../src/db/entities/reports.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise, aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aCertificate } from '../../support/receipts/papers.ts';
import { testWithXmlsec, xmlsecVerify } from '../../support/simulator/tools.ts';

const PROVIDER = '219999820013';
const PAPERS = aCertificate({ rut: PROVIDER, password: 'p12' });

let db: TestDatabase;
let cli: Cli;
let other: Cli;
let folder: string;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  folder = mkdtempSync(join(tmpdir(), 'cfe-provider-'));
  const file = join(folder, 'operator.p12');
  writeFileSync(file, Buffer.from(PAPERS.certB64, 'base64'));
  const variables = {
    CFE_PROVIDER_RUT: PROVIDER,
    CFE_PROVIDER_PRODUCT: 'CFEAPI1',
    CFE_SERVICE_CERTIFICATE_FILE: file,
    CFE_SERVICE_CERTIFICATE_PASSWORD: 'p12',
  };
  cli = cliOn(db.urlOf('operator'), variables);
  other = cliOn(db.urlOf('operator'), { ...variables, CFE_PROVIDER_RUT: '219000090011' });
  account = await anAccount(db.orm);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db[Symbol.asyncDispose]();
});

/** A company that is a customer from `beganOn` until `endedOn`. */
async function aCustomer(beganOn: string, endedOn: string | null = null): Promise<string> {
  const rut = await aReadyEnterprise(db.orm, account, { caes: [] });
  const em = db.orm.em.fork();
  em.create(ServiceTime, { rut, beganOn, endedOn });
  await em.flush();
  return rut;
}
interface Built {
  file: string | null;
  sequence: number;
}
const build = (period: string) =>
  cli.json<Built>('provider-report', 'build', '--period', period, '--out', folder);
const textOf = ({ file }: Built): string => readFileSync(file ?? '', 'utf8');

describe('the report of the provider', () => {
  test('the running month and a malformed one are refused', async () => {
    const running = montevideoDate(new Date()).slice(0, 7).replace('-', '');
    const refusal = (period: string) => cli.refusal('provider-report', 'build', '--period', period);
    expect((await refusal(running)).message).toMatch(/is not over/);
    const { code, stderr } = await cli.call('provider-report', 'build', '--period', '202613');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/such as 202610/);
  });

  test('a month without change is told, and nothing is written', async () => {
    expect(await build('202101')).toMatchObject({
      file: null,
      message: expect.stringMatching(/nothing to send/),
    });
    expect(existsSync(join(folder, `Prov_${PROVIDER}_202101_01.xml`))).toBe(false);
    expect(await cli.json('provider-report', 'list')).toEqual([]);
  });

  test('who began and ended; the next sequence only after the last was received', async () => {
    const [stays, leaves] = [await aCustomer('2022-03-10'), await aCustomer('2022-03-01', '2022-03-31')];

    const [first, second] = await Promise.all([build('202203'), build('202203')]);
    expect(first.file).toBe(join(folder, `Prov_${PROVIDER}_202203_01.xml`));
    expect(second.sequence).toBe(1);
    const xml = textOf(first);
    expect(xml).toContain('<ZonaInformada>3</ZonaInformada>');
    expect(xml).toContain('<CantSolSoft>1</CantSolSoft><CantRUCs>3</CantRUCs>');
    expect(xml).toContain(
      `<RUCCliente>${stays}</RUCCliente><TipoCliente>1</TipoCliente><TipoRegistro>1</TipoRegistro><FechaInicio>2022-03-10</FechaInicio>`,
    );
    expect(xml).toContain(
      `<RUCCliente>${leaves}</RUCCliente><TipoCliente>1</TipoCliente><TipoRegistro>2</TipoRegistro><FechaFin>2022-03-31</FechaFin>`,
    );

    expect(await cli.json('provider-report', 'received', '202203')).toMatchObject({ sequence: 1 });
    const acts = await db.orm.em
      .fork()
      .execute<{ action: string }[]>(`select action from audit where subject = '202203-1' order by id`);
    expect(acts.map(({ action }) => action)).toEqual([
      'provider_report.build',
      'provider_report.build',
      'provider_report.receive',
    ]);
    // Received and unchanged: the same file.
    expect(textOf(await build('202203'))).toBe(xml);
    await aCustomer('2022-03-20');
    expect(await build('202203')).toMatchObject({ sequence: 2 });
    expect(await build('202203')).toMatchObject({ sequence: 2 });

    // A later month waits for it, and does not declare the product again.
    const joined = await aCustomer('2022-04-02');
    const waits = await cli.refusal('provider-report', 'build', '--period', '202204');
    expect(waits.message).toMatch(/^The report 2 of 202203 was not received yet/);
    await cli.json('provider-report', 'received', '202203');
    expect(textOf(await build('202204'))).toContain('<ZonaInformada>2</ZonaInformada>');
    const listed = await cli.json<object[]>('provider-report', 'list');
    expect(listed).toHaveLength(3);

    // What is built and never sent is dropped once nothing is left to say.
    await db.orm.em.fork().nativeDelete(ServiceTime, { rut: joined });
    expect(await build('202204')).toMatchObject({ file: null });
    expect(await cli.json<object[]>('provider-report', 'list')).toHaveLength(2);
  });

  testWithXmlsec('xmlsec1 verifies its signature', async () => {
    await aCustomer('2023-05-05');
    const xml = textOf(await build('202305'));
    expect(xmlsecVerify(xml, { certificatePem: PAPERS.certificatePem })).toBe('OK');
  });

  test('a certificate of another RUT does not sign', async () => {
    const { code, stderr } = await other.call('provider-report', 'build', '--period', '202203');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/is of another RUT than CFE_PROVIDER_RUT/);
  });

  test('received without a report', async () => {
    expect(await cli.refusal('provider-report', 'received', '202011')).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('enterprise end', () => {
  const end = (rut: string) => cli.json('enterprise', 'end', rut, '--reason', 'Se va');
  const times = (rut: string) => db.orm.em.fork().find(ServiceTime, { rut }, { orderBy: { beganOn: 'asc' } });

  test('suspends and notes the day, once; resumed in the same month it never ended', async () => {
    const rut = await aCustomer('2024-01-01');
    expect(await end(rut)).toMatchObject({ status: 'SUSPENDED', suspension_reason: 'Se va' });
    expect(await end(rut)).toMatchObject({ status: 'SUSPENDED' });
    expect(await times(rut)).toMatchObject([{ endedOn: montevideoDate(new Date()) }]);

    expect(await cli.json('enterprise', 'resume', rut)).toMatchObject({ status: 'READY' });
    expect(await times(rut)).toMatchObject([{ beganOn: '2024-01-01', endedOn: null }]);
  });

  test('resumed in a later month it begins again', async () => {
    const rut = await aCustomer('2024-01-01');
    await end(rut);
    await db.orm.em.fork().nativeUpdate(ServiceTime, { rut }, { endedOn: '2024-02-03' });

    await cli.json('enterprise', 'resume', rut);
    expect(await times(rut)).toMatchObject([
      { beganOn: '2024-01-01', endedOn: '2024-02-03' },
      { beganOn: montevideoDate(new Date()), endedOn: null },
    ]);
  });

  test('of one that never began is refused', async () => {
    const rut = await anEnterprise(db.orm, account);
    const refused = await cli.refusal('enterprise', 'end', rut, '--reason', 'Se va');
    expect(refused.message).toMatch(/was never READY/);
  });
});
