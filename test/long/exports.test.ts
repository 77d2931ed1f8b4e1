import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { LOCAL_DEVELOPER } from '../../local/stack/prepareStack.ts';
import { findExport } from '../../src/db/receipts/receiptExports.ts';
import { startConsole, type TestConsole } from '../support/console/console.ts';
import { issue, startTestStack, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { testWithUnzip } from '../support/unzip.ts';
import { unzipped } from '../support/unzipped.ts';
import { useStack } from '../support/useStack.ts';

const ISSUED = 3;
/** Each of those that were issued is there so often: parts enough for a worker to be killed between two. */
const COPIES = 12;

describe('a month of receipts on the whole stack', () => {
  const stack = useStack(startTestStack, ({ onboard }) => onboard([101]));
  let site: TestConsole;
  beforeAll(async () => {
    site = await startConsole(stack.orm);
  });
  afterAll(() => site[Symbol.asyncDispose]());
  const rows = <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    stack.orm.em.fork().execute<T[]>(sql, values);

  testWithUnzip(
    'a member asks for it in the console and fetches it: every XML as it is stored, every print, though the worker is killed in the middle',
    async () => {
      const issued = await Promise.all(Array.from({ length: ISSUED }, () => issue(stack.customer, RUT)));
      for (const { cfe_id } of issued) await verdictOf(stack.customer, RUT, cfe_id);
      await copyReceipts();
      const [dated] = await rows<{ month: string }>(
        `select to_char(min(emission_date), 'YYYY-MM') as month from cfe where rut = ?`,
        [RUT],
      );

      const member = await site.as(await site.aMember(LOCAL_DEVELOPER, 'MEMBER'));
      const fields = { rut: RUT, environment: 'production', month: dated?.month ?? '', pdfs: 'yes' };
      expect(await member.send('/exports', fields, '/exports')).toMatchObject({ status: 303 });
      const [stored] = await rows<{ id: string }>('select id from receipt_export');
      const id = stored?.id ?? '';
      const now = async () => {
        const found = await findExport(stack.orm.em.fork(), id);
        if (!found) throw new Error('the export is gone');
        return found;
      };
      await until('the file to be in its middle', 300, async () => (await now()).done > 0 || undefined);
      const killed = stack.info().pids.worker ?? 0;
      expect(killed).toBeGreaterThan(0);
      process.kill(killed, 'SIGKILL');
      await until('the end of the file', 600, async () => (await now()).state !== 'RUNNING' || undefined);
      const total = ISSUED * (COPIES + 1);
      expect(await now()).toMatchObject({ state: 'DONE', total, done: total, leftOut: 0 });

      const page = await member.get('/exports', { 'accept-language': 'en' });
      expect(page.text).toContain(`href="/exports/${id}/zip"`);
      const cookie = [...member.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const file = await fetch(`${site.url}/exports/${id}/zip`, { headers: { cookie } });
      const entries = unzipped(new Uint8Array(await file.arrayBuffer()));
      const cfes = await rows<{ numero: number; serie: string; xml: string }>(
        'select numero, serie, signed_xml as xml from cfe where rut = ?',
        [RUT],
      );
      const xmls = [...entries].filter(([name]) => name.endsWith('.xml'));
      expect(new Map(xmls)).toEqual(
        new Map(cfes.map(({ numero, serie, xml }) => [`${RUT}-101-${serie}-${numero}.xml`, xml])),
      );
      const prints = [...entries].filter(([name]) => name.endsWith('.pdf'));
      expect(prints).toHaveLength(total);
      expect(prints.filter(([, content]) => !content.startsWith('%PDF-1.7'))).toEqual([]);
      expect(entries.size).toBe(2 * total);
    },
  );

  /** The receipts that were issued once more under numbers of their own, as if the month had had more of them. */
  async function copyReceipts(): Promise<void> {
    const columns = await rows<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_name = 'cfe' and is_generated = 'NEVER'`,
    );
    const own: Readonly<Record<string, string>> = {
      id: 'gen_random_uuid()',
      sequence: 'sequence + n * 1000',
      numero: 'numero + n * 1000',
      workflow_id: `workflow_id || n`,
      receipt_token: 'gen_random_uuid()',
    };
    const names = columns.map(({ name }) => name);
    await rows(
      `insert into cfe (${names.join()})
       select ${names.map((name) => own[name] ?? name).join()} from cfe, generate_series(1, ?::int) n where rut = ?`,
      [COPIES, RUT],
    );
  }
});
