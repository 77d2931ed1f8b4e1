import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import type { CfeView } from '../../local/demo/customer.ts';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { CFE_TYPES, type CfeType } from '../../src/domain/receipts/cfeTypes.ts';
import { isWorkingDay, nextWorkingDay } from '../../src/domain/reports/workingDays.ts';
import { addDays, montevideoDate } from '../../src/domain/values/montevideo.ts';
import { aCfeBody, type CfeWishes } from '../support/receipts/cfeBodies.ts';
import {
  officialFault,
  testWithOfficialFiles,
  testWithXmlsec,
  xmlsecVerify,
} from '../support/simulator/tools.ts';
import { startTestStack, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

interface Report {
  date: string;
  status: string;
  sequence: number | null;
  types: {
    cfe_type: string;
    used: number;
    issued: number;
    annulled: number;
    amounts: { branch: number; total_amount: number }[];
  }[];
  submissions: { sequence: number; status: string }[];
  waits_for: unknown[];
}
interface PortalReport {
  date: string;
  sequence: number;
  status: string;
  reasons: unknown[];
}

const folder = mkdtempSync(join(tmpdir(), 'cfe-clock-'));
const clockFile = join(folder, 'ahead');
writeFileSync(clockFile, '0');
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The day that is reported: a working day after the one on which the test runs, with a closing of the central bank before
 * it and a deadline on the day after.
 */
const today = montevideoDate(new Date());
let reported = addDays(today, 2);
while (![addDays(reported, -1), reported, addDays(reported, 1)].every(isWorkingDay))
  reported = addDays(reported, 1);
const deadlineDay = nextWorkingDay(reported);

/** Moves the clock of business dates to a moment of Montevideo. */
function itIs(day: string, time: string): void {
  const ahead = Math.round((Date.parse(`${day}T${time}:00-03:00`) - Date.now()) / 1_000);
  writeFileSync(clockFile, String(ahead));
}

describe('a day of a company, and its report', () => {
  let connection: Connection;
  let client: Client;
  const stack = useStack(
    () =>
      startTestStack({
        CFE_TEST_MODE: 'true',
        CFE_CLOCK_FILE: clockFile,
        CFE_REPORT_ASK_AFTER: '2s',
        CFE_POLL_LONGEST_SECONDS: '3',
        CFE_PATIENCE: '300h',
      }),
    async ({ onboard, info, customer }) => {
      await onboard(Object.values(CFE_TYPES).map(({ code }) => code));
      await customer.send('POST', `enterprises/${RUT}/branches`, {
        branch: 2,
        street_name: 'Av. Italia 2000',
        locality_name: 'Montevideo',
        department_name: 'Montevideo',
      });
      connection = await Connection.connect({ address: info().temporal_address });
      client = new Client({ connection, namespace: info().temporal_namespace });
    },
  );
  afterAll(() => connection?.close());

  const portal = () => `${stack.info().simulator_url}/portal`;
  const begin = (schedule: string) => client.schedule.getHandle(schedule).trigger();
  const find = (date: string) => stack.customer.find<Report>(`enterprises/${RUT}/daily-reports/${date}`);
  const inPortal = async (date: string) =>
    (await got.get(`${portal()}/reports?rut=${RUT}&date=${date}`).json<{ items: PortalReport[] }>()).items;
  const issue = (wishes: CfeWishes) =>
    stack.customer.send<CfeView>(
      'POST',
      `enterprises/${RUT}/cfes`,
      aCfeBody({ emissionDate: reported, ...wishes }),
    );
  const decided = (cfe: CfeView) => verdictOf(stack.customer, RUT, cfe.cfe_id);
  const reconciles = async () => {
    const { code, stdout, stderr } = await stack.cli.call('numbers', 'reconcile', '--rut', RUT, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as { given: number; issued: number; annulled: number; waiting: number }[];
  };

  /** A CAE of debit notes whose last day is the one before the reported: 25 numbers that nobody will use. */
  async function giveExpiringCae(): Promise<void> {
    const { cae_b64, number_start } = await got
      .post(`${portal()}/caes`, {
        json: {
          rut: RUT,
          cfe_type_code: '103',
          series: 'Z',
          number_start: 1,
          number_end: 25,
          expiration_date: addDays(reported, -1),
        },
      })
      .json<{ cae_b64: string; number_start: number }>();
    await stack.customer.send('POST', `enterprises/${RUT}/caes`, {
      cae_b64,
      cae_start_number: number_start,
    });
  }

  /** An e-Ticket that cannot be signed, for the key is lost; given up, and the key found again. */
  async function abandonOne(): Promise<void> {
    const em = stack.orm.em.fork();
    const [certificate] = await em.execute<{ id: string; sealed_key: string }[]>(
      `select id, sealed_key from certificate where rut = ? and environment = 'production' and replaced_at is null`,
      [RUT],
    );
    const seal = (key: string | undefined) =>
      em.execute('update certificate set sealed_key = ? where id = ?', [key, certificate?.id]);
    await seal(certificate?.sealed_key.replace(/^(v[12])\.[^.]+/, '$1.lost'));
    const { cfe_id } = await issue({});
    await until('the unsigned CFE to wait for support', 60, async () => {
      const stuck = await em.execute('select 1 from cfe where rut = ? and stuck_reason is not null', [RUT]);
      return stuck.length > 0;
    });
    await stack.cli.json('cfe', 'retry', RUT, cfe_id, '--action', 'abandon', '--reason', 'issued on paper');
    await seal(certificate?.sealed_key);
  }

  /** All nine types, in three currencies and from two branches; the notes correct what came before them. */
  async function issueAllTypes(): Promise<void> {
    const currencies = [
      { currency: 'UYU' },
      { currency: 'USD', exchangeRate: 40.125, extra: { branch: 2 } },
      { currency: 'EUR', exchangeRate: 45.5 },
    ] as const;
    for (const [at, family] of (['ETICKET', 'EFACTURA', 'EFACTURA_EXPORT'] as const).entries()) {
      const originals = await Promise.all(currencies.map((money) => issue({ type: family, ...money })));
      for (const cfe of originals) expect((await decided(cfe)).cfe_status).toBe('ACCEPTED');
      const original = originals[at];
      const notes = (['NC', 'ND'] as const).map((kind) =>
        issue({
          type: `${family}_${kind}` as CfeType,
          net: 10,
          ...currencies[at],
          ...(original ? { reference: original.cfe_id } : {}),
        }),
      );
      for (const cfe of await Promise.all(notes)) expect((await decided(cfe)).cfe_status).toBe('ACCEPTED');
    }
  }

  test('the day passes: accepted, rejected, given up, undecided, a CAE that expired', async () => {
    await giveExpiringCae();
    itIs(reported, '10:00');
    await abandonOne();
    await issueAllTypes();
    const rejected = await issue({ itemName: 'SIM REJECT E05' });
    await issue({ net: 50 }).then(decided);
    expect((await decided(rejected)).cfe_status).toBe('REJECTED');
    // Its verdict, and with it that on whatever shared its sobre, comes two days after, by the authority's clock.
    const late = await issue({ itemName: 'SIM REJECT E05 DELAY 216000' });
    await begin('expiries');
    const annulled = `select 1 from annulment where rut = ? and reason = 'cae.expired' and from_number = 1 and to_number = 25`;
    await until('the rest of the expired CAE to be annulled', 60, async () => {
      const spans = await stack.orm.em.fork().execute(annulled, [RUT]);
      return spans.length > 0;
    });
    expect(late.cfe_status).toBe('PENDING');
  });

  test('after midnight the days before are reported, and this one waits for its last verdict', async () => {
    itIs(deadlineDay, '02:30');
    await begin('daily-reports');
    await until('the report to wait', 60, async () => {
      const report = await find(reported);
      return report?.status === 'OPEN' && report.waits_for.length > 0;
    });
    // From the day on which the enterprise became READY, which may be that after the test began.
    for (let day = addDays(today, 1); day < reported; day = addDays(day, 1)) {
      await until(
        `the empty day ${day} to be consistent`,
        60,
        async () => (await find(day))?.status === 'CONSISTENT',
      );
    }
    expect(await inPortal(reported)).toEqual([]);
  });

  test('at its deadline it is sent with what is known; the authority finds it consistent', async () => {
    itIs(deadlineDay, '16:01');
    await until(
      'the report to be consistent',
      120,
      async () => (await find(reported))?.status === 'CONSISTENT',
    );
    const report = await find(reported);
    expect(report?.sequence).toBe(1);
    expect(await inPortal(reported)).toMatchObject([{ sequence: 1, status: 'DR', reasons: [] }]);
    const counts = Object.fromEntries(
      (report?.types ?? []).map(({ cfe_type, used, issued, annulled }) => [
        cfe_type,
        [used, issued, annulled],
      ]),
    );
    expect(counts).toEqual({
      // Three and one more; given up and rejected; the undecided one is a hole.
      ETICKET: [6, 4, 2],
      ETICKET_NC: [1, 1, 0],
      // The expired rest.
      ETICKET_ND: [26, 1, 25],
      EFACTURA: [3, 3, 0],
      EFACTURA_NC: [1, 1, 0],
      EFACTURA_ND: [1, 1, 0],
      EFACTURA_EXPORT: [3, 3, 0],
      EFACTURA_EXPORT_NC: [1, 1, 0],
      EFACTURA_EXPORT_ND: [1, 1, 0],
    });
    const branches = report?.types.find(({ cfe_type }) => cfe_type === 'EFACTURA')?.amounts;
    expect(branches?.map(({ branch }) => branch).toSorted()).toEqual([1, 2]);
    expect((await reconciles()).reduce((sum, { waiting }) => sum + waiting, 0)).toBe(1);
  });

  test('the late rejection corrects it by itself, with sequence 2', async () => {
    itIs(addDays(reported, 3), '12:00');
    await until('the correction to be consistent', 120, async () => {
      const report = await find(reported);
      return report?.sequence === 2 && report.status === 'CONSISTENT';
    });
    expect(await inPortal(reported)).toMatchObject([
      { sequence: 1, status: 'FR' },
      { sequence: 2, status: 'DR', reasons: [] },
    ]);
    const report = await find(reported);
    expect(report?.waits_for).toEqual([]);
    expect(report?.types.find(({ cfe_type }) => cfe_type === 'ETICKET')).toMatchObject({
      used: 7,
      issued: 4,
      annulled: 3,
    });
    for (const { given, issued, annulled, waiting } of await reconciles()) {
      expect([issued + annulled, waiting]).toEqual([given, 0]);
    }
  });

  const xmlOf = async (): Promise<string> => {
    const { stdout } = await stack.cli.call('report', 'xml', RUT, reported);
    return stdout.trim();
  };
  testWithOfficialFiles('what was sent is valid by the official schema', async () => {
    expect(officialFault('ReporteDiarioCFE.xsd', await xmlOf())).toBe('');
  });
  testWithXmlsec('its signature holds for xmlsec1', async () => {
    const xml = await xmlOf();
    const base64 = /<X509Certificate>([^<]+)/.exec(xml)?.[1] ?? '';
    const certificatePem = `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
    expect(xmlsecVerify(xml, { certificatePem })).toBe('OK');
  });
});
