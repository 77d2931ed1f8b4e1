import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type CfeView, logIn } from '../../local/demo/customer.ts';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { type ExtraProgram, issue, startBeside, startTestStack, verdictOf } from '../support/stacks.ts';
import { useStack } from '../support/useStack.ts';

describe('parts in number', () => {
  const stack = useStack(
    () => startTestStack({}, { ownServers: true }),
    ({ onboard }) => onboard([101]),
  );

  test('200 CFEs over two APIs and two workers, with kills in between: 200 verdicts, ledger and table equal', async () => {
    const extras: ExtraProgram[] = [];
    try {
      // Together, so that migrations and search attributes meet.
      extras.push(
        ...(await Promise.all([
          startBeside(stack, 'worker'),
          startBeside(stack, 'api'),
          startBeside(stack, 'worker'),
        ])),
      );
      const [doomed, secondApi] = extras as [ExtraProgram, ExtraProgram];
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
          issue(customers[i % 2] ?? stack.customer, RUT, names[i % names.length]),
        );
        issued.push(...(await Promise.all(batch)));
        if (round === 3) doomed.child.kill('SIGKILL');
        if (round === 6) process.kill(stack.info().pids.worker ?? 0, 'SIGKILL');
      }
      const settled = await Promise.all(issued.map(({ cfe_id }) => verdictOf(stack.customer, RUT, cfe_id)));

      expect(settled).toHaveLength(200);
      expect(settled.filter(({ cfe_status }) => cfe_status === 'REJECTED')).toHaveLength(20);
      expect(settled.filter(({ cfe_status }) => cfe_status === 'ACCEPTED')).toHaveLength(180);
      expect(await table()).toEqual(await ledger());
    } finally {
      await Promise.all(extras.map((extra) => extra.stop()));
    }
  });

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
    const rows = await stack.orm.em
      .fork()
      .execute<(Omit<Row, 'sha256'> & { xml: string })[]>(
        'select numero, serie, status, signed_xml as xml from cfe where rut = ? order by numero',
        [RUT],
      );
    return rows.map(({ xml, ...row }) => ({
      ...row,
      sha256: createHash('sha256').update(xml).digest('hex'),
    }));
  }
});
