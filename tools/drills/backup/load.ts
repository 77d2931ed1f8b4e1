/** Customers that issue e-Tickets at a running stack, and what the database and the authority then hold of them. */
import assert from 'node:assert/strict';
import type { CfeView } from '../../../local/demo/customer.ts';
import { DEMO_RUT as RUT } from '../../../local/demo/onboarding.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { issue, type LedgerRow, type TestStack, verdictOf } from '../../../test/support/stacks.ts';
import { until } from '../../../test/support/until.ts';

const CUSTOMERS = 3;

/** A CFE as our table has it. */
export interface Row {
  numero: number;
  status: string;
  sha256: string;
}

/** Issues that many at once. */
export const issueMany = (stack: TestStack, count: number): Promise<CfeView[]> =>
  Promise.all(Array.from({ length: count }, () => issue(stack.customer, RUT)));

/** Customers that issue two CFEs and wait for the first one's verdict, again and again until they are told to end. */
export function startLoad(stack: TestStack) {
  const issued: CfeView[] = [];
  const ending = new AbortController();
  const customers = Array.from({ length: CUSTOMERS }, async () => {
    while (!ending.signal.aborted) {
      const pair = [await issue(stack.customer, RUT), await issue(stack.customer, RUT)];
      issued.push(...pair);
      // Some have their verdict at the recovery point, and some are under way.
      await verdictOf(stack.customer, RUT, pair[0]?.cfe_id ?? '');
    }
  });
  return {
    issued,
    reaches: (count: number) => until(`${count} CFEs`, 60, async () => issued.length >= count),
    async end() {
      ending.abort();
      await Promise.all(customers);
    },
  };
}

/** Fiscal numbers, ascending. */
export const numbersOf = (of: readonly { numero: number }[]): number[] =>
  of.map(({ numero }) => numero).toSorted((a, b) => a - b);

/** Our table, by number. */
export const rowsOf = (orm: Orm): Promise<Row[]> =>
  orm.em.fork().execute<Row[]>(
    `select numero, status, encode(sha256(convert_to(coalesce(signed_xml, ''), 'UTF8')), 'hex') as sha256
     from cfe where rut = ? order by numero`,
    [RUT],
  );

/** Waits until our table has that many CFEs, all ACCEPTED. */
export const allAccepted = (orm: Orm, count: number): Promise<true> =>
  until(`${count} CFEs, all ACCEPTED`, 90, async () => {
    const rows = await rowsOf(orm);
    return rows.length === count && rows.every(({ status }) => status === 'ACCEPTED');
  });

/**
 * Holds our table against the authority's ledger, row by row and by the bytes of the XML; the ledger has those of
 * `lost` besides. Answers how many the authority was brought more than once, and recognised.
 */
export function compare(rows: readonly Row[], ledger: readonly LedgerRow[], lost: readonly number[]): number {
  const ours = ledger.filter(({ numero }) => !lost.includes(numero));
  assert.deepEqual(
    ours
      .map(({ numero, verdict, sha256 }) => ({ numero, accepted: verdict === 'AE', sha256 }))
      .toSorted((a, b) => a.numero - b.numero),
    rows.map(({ numero, status, sha256 }) => ({ numero, accepted: status === 'ACCEPTED', sha256 })),
  );
  assert.equal(ledger.length, rows.length + lost.length);
  return ours.filter(({ times_received }) => times_received > 1).length;
}
