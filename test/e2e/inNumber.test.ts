import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import got from 'got';
import { openOrm } from '../../src/db/orm.ts';
import { type CfeView, type Customer, logIn } from '../../src/demo/customer.ts';
import { onboard, DEMO_RUT as RUT } from '../../src/demo/onboarding.ts';
import { montevideoDate } from '../../src/domain/montevideo.ts';
import { type ExtraProcess, startBeside } from '../support/extraProcess.ts';
import { eTicket, startTestStack, type TestStack, verdictOf } from '../support/runningStack.ts';
import { until } from '../support/until.ts';

const PARTS = ['api', 'worker', 'simulator', 'temporal', 'postgres'] as const;

describe('parts that die and parts in number', () => {
  let stack: TestStack;
  const today = montevideoDate(new Date());

  beforeAll(async () => {
    stack = await startTestStack();
    await onboard(stack.customer, stack.info().simulator_url, [101], () => {});
  }, 120_000);
  afterAll(() => stack?.stop(), 60_000);

  const issue = (customer: Customer, name?: string): Promise<CfeView> =>
    customer.send<CfeView>('POST', `enterprises/${RUT}/cfes`, eTicket(today, name));
  const answers = (url: string): Promise<boolean> =>
    got.get(url, { retry: { limit: 0 }, timeout: { request: 2_000 } }).then(
      () => true,
      () => false,
    );

  test.each(PARTS)(
    '%s killed: it is up again within 10 s, stack.json is true, and a receipt is ACCEPTED',
    async (part) => {
      const before = stack.info().pids[part] ?? 0;
      process.kill(before, 'SIGKILL');

      await until(`${part} with a new pid`, 10, async () => {
        const now = stack.info().pids[part];
        return (now !== null && now !== before) || undefined;
      });
      await until(
        'the API',
        20,
        async () => (await answers(stack.info().base_url.replace('/v1', '/readyz'))) || undefined,
      );
      const issued = await issue(stack.customer);
      expect((await verdictOf(stack.customer, RUT, issued.cfe_id, 90)).cfe_status).toBe('ACCEPTED');
    },
    150_000,
  );

  test('200 CFEs over two APIs and two workers, with kills in between: 200 verdicts, ledger and table equal', async () => {
    const extras: ExtraProcess[] = [];
    try {
      // Together, so that migrations and search attributes meet.
      extras.push(
        ...(await Promise.all([
          startBeside(stack, 'worker'),
          startBeside(stack, 'api'),
          startBeside(stack, 'worker'),
        ])),
      );
      const [doomed, secondApi] = extras as [ExtraProcess, ExtraProcess];
      const customers = [stack.customer, await logIn(secondApi.baseUrl, stack.info().live_api_key)];
      const names = [
        'Café',
        'Café',
        'Café',
        'SIM DELAY 2',
        'SIM LOST',
        'Café',
        'SIM REJECT E05',
        'Café',
        'SIM FAULT 1',
        'Café',
      ];

      const issued: CfeView[] = [];
      for (let round = 0; round < 10; round++) {
        const batch = Array.from({ length: 20 }, (_, i) =>
          issue(customers[i % 2] as Customer, names[i % names.length]),
        );
        issued.push(...(await Promise.all(batch)));
        if (round === 3) doomed.process.kill('SIGKILL');
        if (round === 6) process.kill(stack.info().pids.worker ?? 0, 'SIGKILL');
      }
      const settled = await Promise.all(
        issued.map(({ cfe_id }) => verdictOf(stack.customer, RUT, cfe_id, 180)),
      );

      expect(settled).toHaveLength(200);
      expect(settled.filter(({ cfe_status }) => cfe_status === 'REJECTED')).toHaveLength(20);
      expect(settled.filter(({ cfe_status }) => cfe_status === 'ACCEPTED')).toHaveLength(180);
      expect(await table()).toEqual(await ledger());
    } finally {
      await Promise.all(extras.map((extra) => extra.stop()));
    }
  }, 300_000);

  interface Row {
    numero: number;
    serie: string;
    status: string;
    sha256: string;
  }
  const VERDICTS: Record<string, string> = { AE: 'ACCEPTED', BE: 'REJECTED', CE: 'OBSERVED' };

  async function ledger(): Promise<Row[]> {
    const rows = (await stack.ledger(RUT)).map(({ numero, serie, verdict, sha256 }) => ({
      numero,
      serie,
      status: VERDICTS[verdict ?? ''] ?? 'none',
      sha256,
    }));
    return rows.sort((a, b) => a.numero - b.numero);
  }

  async function table(): Promise<Row[]> {
    const orm = await openOrm({ databaseUrl: stack.info().database_url, pool: 1 });
    try {
      const rows = await orm.em
        .fork()
        .execute<(Omit<Row, 'sha256'> & { xml: string })[]>(
          'select numero, serie, status, signed_xml as xml from cfe where rut = ? order by numero',
          [RUT],
        );
      return rows.map(({ xml, ...row }) => ({
        ...row,
        sha256: createHash('sha256').update(xml).digest('hex'),
      }));
    } finally {
      await orm.close(true);
    }
  }
});
