import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { type IssueDeps, issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { lockEndpoint } from '../../../../src/db/authority/authorityEndpoints.ts';
import { Sobre } from '../../../../src/db/entities/authority.ts';
import { Cae } from '../../../../src/db/entities/numbers.ts';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe, type CfeRow } from '../../../../src/db/entities/receipts.ts';
import { type Orm, openOrm } from '../../../../src/db/orm.ts';
import { type LeasedMessage, leaseWaiting } from '../../../../src/db/outbox.ts';
import { FAILURES_TO_OPEN } from '../../../../src/domain/authority/breaker.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { anAccount, idleIssuing, idleOutbox, outboxOf } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise, giveCae } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type Body, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { day } from '../../../support/receipts/papers.ts';
import { aSobreOf } from '../../../support/receipts/pendingCfes.ts';
import { originalsOf } from '../../../support/receipts/references.ts';
import { decideCfe } from '../../../support/temporal/verdicts.ts';
import { until } from '../../../support/until.ts';

let db: TestDatabase;
let accountId: string;

beforeAll(async () => {
  db = await cloneDatabase();
  accountId = await anAccount(db.orm);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const depsOn = (orm: Orm, clock = () => new Date()): IssueDeps => ({
  orm,
  clock,
  ...idleIssuing,
});

/** Issues as a caller would: the body through JSON, numbers as written. */
function issue(rut: string, wishes: CfeWishes = {}, deps = depsOn(db.orm)): Promise<CfeRow> {
  const body = fromJson(JSON.stringify(aCfeBody(wishes)));
  return issueCfe(deps, { accountId, rut, environment: 'production', body });
}

/** The backend that waits for a lock to store a CFE; undefined while none does. */
async function waiter(): Promise<number | undefined> {
  const [row] = await db.orm.em.fork().execute<{ pid: number }[]>(
    `select pid from pg_stat_activity join pg_locks using (pid)
     where datname = current_database() and not granted and query like '%insert into cfe_sequence%' limit 1`,
  );
  return row?.pid;
}

const oneTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
const ascending = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);
const codesOf = (refusal: unknown): string[] =>
  (refusal as { faults?: { code: string }[] }).faults?.map(({ code }) => code) ?? [];

describe('numbers', () => {
  test('a hundred callers at once get 1 to 100, none skipped, none twice, in number and in cfe_id', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{}] });

    const cfes = await Promise.all(oneTo(100).map(() => issue(rut)));

    expect(ascending(cfes.map(({ numero }) => numero))).toEqual(oneTo(100));
    for (const { numero, sequence } of cfes) expect(sequence).toBe(numero);
    expect(new Set(cfes.map(({ id }) => id)).size).toBe(100);
  });

  test('two processes on one database number as one', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{}] });
    const second = await openOrm({ databaseUrl: db.databaseUrl, pool: 10 });
    try {
      const cfes = await Promise.all(
        oneTo(60).map((i) => issue(rut, {}, depsOn(i % 2 === 0 ? db.orm : second))),
      );
      expect(ascending(cfes.map(({ numero }) => numero))).toEqual(oneTo(60));
    } finally {
      await second.close(true);
    }
  });

  test('a transaction that fails after taking a number leaves no gap', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{}] });
    await issue(rut);
    await db.asOwner(`
      create function fail_once() returns trigger language plpgsql as
        $$ begin if new.rut = '${rut}' then raise exception 'disk full'; end if; return new; end $$;
      create trigger fail_once before insert on cfe for each row execute function fail_once()`);
    try {
      await expect(issue(rut)).rejects.toThrow('disk full');
    } finally {
      await db.asOwner('drop trigger fail_once on cfe; drop function fail_once()');
    }

    const next = await issue(rut);

    expect([next.numero, next.sequence]).toEqual([2, 2]);
    expect(await db.orm.em.fork().findOneOrFail(Cae, { rut })).toMatchObject({ lastNumber: 2 });
  });

  test('a statement that dies while it waits for its number has taken none', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{}] });
    await issue(rut);
    await db.orm.em.fork().transactional(async (em) => {
      // The place is taken by then; the CAE, and with it the number, is not to be had.
      await em.execute('select from cae where rut = ? for update', [rut]);
      const doomed = issue(rut).catch((error: unknown) => error);
      const pid = await until('the statement to wait', 10, () => waiter());
      await em.execute('select pg_terminate_backend(?)', [pid]);
      expect(await doomed).toBeInstanceOf(Error);
    });

    expect(await issue(rut)).toMatchObject({ numero: 2, sequence: 2 });
    expect(await db.orm.em.fork().count(Cfe, { rut })).toBe(2);
  });

  test('an enterprise that waits holds up no other, of the same account or not', async () => {
    const [held, free] = [
      await aReadyEnterprise(db.orm, accountId),
      await aReadyEnterprise(db.orm, accountId),
    ];
    await issue(held);
    let waiting: Promise<unknown> = Promise.resolve();
    await db.orm.em.fork().transactional(async (em) => {
      await em.execute('select from cfe_sequence where rut = ? for update', [held]);
      waiting = issue(held);
      await until('the statement to wait', 10, () => waiter());

      const others = await Promise.all(oneTo(20).map(() => issue(free)));

      expect(ascending(others.map(({ numero }) => numero))).toEqual(oneTo(20));
    });
    expect(await waiting).toMatchObject({ numero: 2, sequence: 2 });
  });

  test('nothing is held while a request is judged: the moment of signing is the one it was judged at', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ expirationDate: '2026-07-31' }] });
    const emissionDate = '2026-07-31';
    await issue(
      rut,
      { emissionDate },
      depsOn(db.orm, () => new Date('2026-07-31T15:00:00Z')),
    );
    // The CAE and the day end while the statement waits for the numbering.
    let now = new Date('2026-08-01T02:59:59Z');
    let waiting: Promise<CfeRow> | undefined;
    await db.orm.em.fork().transactional(async (em) => {
      await em.execute('select from cfe_sequence where rut = ? for update', [rut]);
      waiting = issue(
        rut,
        { emissionDate },
        depsOn(db.orm, () => now),
      );
      await until('the statement to wait', 10, () => waiter());
      now = new Date('2026-08-01T03:00:05Z');
    });

    expect((await waiting)?.document.signedAt).toBe('2026-07-31T23:59:59-03:00');
  });

  test('a refused request takes none', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{}] });
    await expect(issue(rut, { emissionDate: day(61) })).rejects.toMatchObject({ code: 'INVALID_INPUT' });

    expect((await issue(rut)).numero).toBe(1);
  });

  test('start after the last number used, in the CAE and not in the sequence of cfe_ids', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ from: 100, to: 200, last: 149 }] });
    expect(await issue(rut)).toMatchObject({ numero: 150, sequence: 1 });
  });

  test('each type and its sequence go their own way', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const types: CfeType[] = ['ETICKET', 'EFACTURA', 'EFACTURA_EXPORT'];
    const cfes = await Promise.all([...types, ...types].map((type) => issue(rut, { type })));
    for (const type of types) {
      expect(ascending(cfes.filter((cfe) => cfe.type === type).map(({ sequence }) => sequence))).toEqual([
        1, 2,
      ]);
    }
  });
});

describe('the CAE that gives the number', () => {
  test('is the one that expires first, then the one of the lowest numbers', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, {
      caes: [
        { serie: 'C', expirationDate: day(100) },
        { serie: 'B', from: 501, to: 502, expirationDate: day(50) },
        { serie: 'B', from: 1, to: 2, expirationDate: day(50) },
      ],
    });

    const taken: string[] = [];
    for (const _ of oneTo(6)) {
      const { serie, numero } = await issue(rut);
      taken.push(`${serie}${numero}`);
    }

    expect(taken).toEqual(['B1', 'B2', 'B501', 'B502', 'C1', 'C2']);
  });

  test('passes to the next in the middle of a crowd without losing a number', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, {
      caes: [
        { serie: 'A', from: 1, to: 7, expirationDate: day(10) },
        { serie: 'B', from: 1, to: 100 },
      ],
    });

    const cfes = await Promise.all(oneTo(30).map(() => issue(rut)));

    const of = (series: string) =>
      ascending(cfes.filter(({ serie }) => serie === series).map(({ numero }) => numero));
    expect(of('A')).toEqual(oneTo(7));
    expect(of('B')).toEqual(oneTo(23));
    expect(ascending(cfes.map(({ sequence }) => sequence))).toEqual(oneTo(30));
  });

  test('passes to the next under notes on many originals, some of which race for one', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, {
      caes: [
        {},
        { type: 'ETICKET_NC', serie: 'A', from: 1, to: 5, expirationDate: day(10) },
        { type: 'ETICKET_NC', serie: 'B', from: 1, to: 100 },
      ],
    });
    for (const _ of oneTo(6)) await issue(rut);

    // Each original bears two of its three notes.
    const notes = await Promise.allSettled(
      oneTo(18).map((i) => issue(rut, { type: 'ETICKET_NC', net: 40, reference: `101-${1 + (i % 6)}` })),
    );

    const issued = notes.flatMap((note) => (note.status === 'fulfilled' ? [note.value] : []));
    const of = (name: string) =>
      ascending(issued.filter(({ serie }) => serie === name).map(({ numero }) => numero));
    expect([of('A'), of('B')]).toEqual([oneTo(5), oneTo(7)]);
    expect(ascending(issued.map(({ sequence }) => sequence))).toEqual(oneTo(12));
    for (const note of notes) {
      if (note.status === 'rejected') expect(codesOf(note.reason)).toEqual(['reference.amount_exceeded']);
    }
  });

  test('has run out for all but the first of a crowd', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ from: 10, to: 12 }] });

    const cfes = await Promise.allSettled(oneTo(20).map(() => issue(rut)));

    const refusals = cfes.flatMap((cfe) => (cfe.status === 'rejected' ? [codesOf(cfe.reason)] : []));
    expect(refusals).toEqual(oneTo(17).map(() => ['cae.none_left']));
    await giveCae(db.orm, rut, { serie: 'B' });
    expect(await issue(rut)).toMatchObject({ serie: 'B', numero: 1, sequence: 4 });
  });

  test('is never one that has expired, is not in force yet, or is exhausted', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, {
      caes: [
        { serie: 'A', expirationDate: day(-1) },
        { serie: 'B', issueDate: day(1) },
        { serie: 'C', from: 1, to: 5, last: 5 },
      ],
    });
    await expect(issue(rut)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      faults: [{ path: '', code: 'cae.none_left', message: expect.stringContaining('ETICKET') }],
    });

    await giveCae(db.orm, rut, { serie: 'D', expirationDate: day(0) });

    expect((await issue(rut)).serie).toBe('D');
  });

  test('is judged by the date in Montevideo, not by that of UTC', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, {
      caes: [{ expirationDate: '2026-07-31', issueDate: '2026-01-01' }],
    });
    const emissionDate = '2026-07-31';

    // 23:59:59 and 00:00:00 in Montevideo; in UTC both are on the 1st of August.
    const last = depsOn(db.orm, () => new Date('2026-08-01T02:59:59Z'));
    const after = depsOn(db.orm, () => new Date('2026-08-01T03:00:00Z'));

    expect((await issue(rut, { emissionDate }, last)).document.signedAt).toBe('2026-07-31T23:59:59-03:00');
    await expect(issue(rut, { emissionDate }, after)).rejects.toMatchObject({
      faults: [{ code: 'cae.none_left' }],
    });
  });

  test('of an exempt taxpayer bears no line with VAT', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ specialKind: 1 }] });
    await expect(issue(rut)).rejects.toMatchObject({
      faults: [{ path: '/details/0/iva_type', code: 'line.exempt_taxpayer' }],
    });
  });
});

describe('what is stored', () => {
  test('the document in full, the moment of signing, and the start of its workflow', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ from: 11, to: 20 }] });
    const now = new Date('2026-08-03T15:04:05.678Z');

    const { id } = await issue(
      rut,
      { emissionDate: '2026-08-03', extra: { shelf: 'A3' } },
      depsOn(db.orm, () => now),
    );

    const stored = await db.orm.em.fork().findOneOrFail(Cfe, { id }, { populate: ['extra'] });
    expect(stored).toMatchObject({
      accountId,
      rut,
      status: 'PENDING',
      emissionDate: '2026-08-03',
      payAmount: '122.00',
      createdAt: now,
      extra: { shelf: 'A3' },
    });
    expect(stored.document).toMatchObject({
      type: 'ETICKET',
      serie: 'A',
      numero: 11,
      signedAt: '2026-08-03T12:04:05-03:00',
      issuer: {
        rut,
        legalName: 'Comercial Ñandú S.A.',
        tradeName: 'Ñandú',
        branch: 1,
        address: 'Rincón 501',
      },
      cae: { numberStart: 11, numberEnd: 20, expirationDate: day(365) },
      totals: { total: '122.00', basicNet: '100.00', basicVat: '22.00', pay: '122.00' },
    });
    const { sobreId, workflowId } = stored;
    expect(workflowId).toBe(`cfe:${rut}:101-1:${sobreId?.slice(0, 8)}`);
    expect(await outboxOf(db.orm, workflowId ?? '')).toEqual([
      { workflow: 'issueCfes', signal: null, input: { sobreId } },
    ]);
  });

  test.each(CFE_TYPE_NAMES)('%s can be issued, a note against an original of its family', async (type) => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const original = type.replace(/_N[CD]$/, '') as CfeType;
    const first = await issue(rut, { type: original });
    if (type === original) return;

    const note = await issue(rut, {
      type,
      reference: `${{ ETICKET: 101, EFACTURA: 111, EFACTURA_EXPORT: 121 }[original as string]}-1`,
    });

    expect(await originalsOf(db.orm.em.fork(), note.id)).toEqual([first.id]);
    expect(note.document.references).toMatchObject([
      {
        cfe: {
          typeCode: CFE_TYPES[original].code,
          serie: 'A',
          numero: 1,
          value: { amount: first.payAmount },
        },
      },
    ]);
  });
});

describe('notes', () => {
  test('of many credit notes at once against one CFE only those pass that its pay_amount bears', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    await issue(rut, { net: 100 });

    const notes = await Promise.allSettled(
      oneTo(8).map(() => issue(rut, { type: 'ETICKET_NC', net: 30, reference: '101-1' })),
    );

    expect(notes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const note of notes) {
      if (note.status === 'rejected') expect(codesOf(note.reason)).toEqual(['reference.amount_exceeded']);
    }
  });

  test('credit notes in pesos on dollars count at their exact worth: thirds add up to the whole, and no cent more', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    // 122.00 dollars at 39.95 are 4873.90 pesos.
    await issue(rut, { net: 100, currency: 'USD', exchangeRate: 39.95 });
    const credit = (net: number) => issue(rut, { type: 'ETICKET_NC', net, reference: '101-1' });

    // With their VAT these come to 1624.64, 1624.64 and 1624.61: a cent less than all.
    await credit(1331.67);
    await credit(1331.67);
    await credit(1331.65);

    await expect(credit(0.05).catch(codesOf)).resolves.toEqual(['reference.amount_exceeded']);
  });

  test('what a rejected credit note took is free again, and debit notes take nothing', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    await issue(rut, { net: 100 });
    const rejected = await issue(rut, { type: 'ETICKET_NC', net: 100, reference: '101-1' });
    await issue(rut, { type: 'ETICKET_ND', net: 100, reference: '101-1' });
    await db.orm.em
      .fork()
      .nativeUpdate(Cfe, { id: rejected.id }, { status: 'REJECTED', settledAt: new Date() });

    const again = await issue(rut, { type: 'ETICKET_NC', net: 100, reference: '101-1' });

    expect(again.sequence).toBe(2);
  });

  test('against a rejected CFE, one of another family or none at all are refused', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const rejected = await issue(rut);
    await db.orm.em
      .fork()
      .nativeUpdate(Cfe, { id: rejected.id }, { status: 'REJECTED', settledAt: new Date() });
    await issue(rut, { type: 'EFACTURA' });
    const refusal = async (wishes: CfeWishes) => issue(rut, { type: 'ETICKET_NC', ...wishes }).catch(codesOf);

    expect(await refusal({ reference: '101-1' })).toEqual(['reference.rejected']);
    expect(await refusal({ reference: '111-1' })).toEqual(['reference.family']);
    expect(await refusal({ reference: '101-99' })).toEqual(['reference.unknown']);
    expect(await refusal({})).toEqual(['reference.required']);
  });

  test('do not see the CFEs of another enterprise', async () => {
    const other = await aReadyEnterprise(db.orm, accountId);
    await issue(other);
    const rut = await aReadyEnterprise(db.orm, accountId);
    expect(await issue(rut, { type: 'ETICKET_NC', reference: '101-1' }).catch(codesOf)).toEqual([
      'reference.unknown',
    ]);
  });
});

describe('references', () => {
  const decide = (cfe: { id: string }, status: 'ACCEPTED' | 'REJECTED') =>
    decideCfe({ orm: db.orm }, cfe.id, { status });
  const heldOf = async ({ id }: { id: string }) => (await db.orm.em.fork().findOneOrFail(Cfe, { id })).held;
  const refer = (...ids: string[]) => ids.map((cfe_id) => ({ cfe_id }));

  test('what a note takes of each original is left of it no more, for one note and for several', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    await issue(rut, { net: 100 });
    await issue(rut, { net: 50 });
    const credit = (net: number, references: Body[]) => issue(rut, { type: 'ETICKET_NC', net, references });

    // Of 122 and 61 these take 122 and 24.40, then all that is left of the second.
    const first = await credit(120, refer('101-1', '101-2'));
    expect(first.document.references?.map(({ cfe }) => cfe?.value?.amount)).toEqual(['122.00', '24.40']);
    await expect(credit(30.01, refer('101-2', '101-1')).catch(codesOf)).resolves.toEqual([
      'reference.amount_exceeded',
    ]);
    await credit(30, refer('101-2', '101-1'));
    await expect(
      issue(rut, { type: 'ETICKET_NC', net: 0.01, reference: '101-2' }).catch(codesOf),
    ).resolves.toEqual(['reference.amount_exceeded']);
  });

  test('of many notes at once against the same two originals only those pass that fit', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    await issue(rut, { net: 100 });
    await issue(rut, { net: 100 });

    const notes = await Promise.allSettled(
      oneTo(8).map((i) =>
        issue(rut, {
          type: 'ETICKET_NC',
          net: 50,
          references: i % 2 === 0 ? refer('101-1', '101-2') : refer('101-2', '101-1'),
        }),
      ),
    );

    expect(notes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  });

  test('an invoice waits for every CFE that it names, whichever verdict comes last', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const [one, two] = [await issue(rut), await issue(rut)];
    const invoice = await issue(rut, { type: 'EFACTURA', references: refer('101-1', '101-2') });
    expect(invoice.held).toBe(true);

    await decide(one, 'ACCEPTED');
    expect(await heldOf(invoice)).toBe(true);
    await decide(two, 'ACCEPTED');
    expect(await heldOf(invoice)).toBe(false);
  });

  test('verdicts on all of them at the same time release it', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const originals = await Promise.all(oneTo(6).map(() => issue(rut)));
    const references = refer(...oneTo(6).map((n) => `101-${n}`));
    const invoices = await Promise.all(oneTo(4).map(() => issue(rut, { type: 'EFACTURA', references })));

    await Promise.all(originals.map((one) => decide(one, 'ACCEPTED')));

    expect(await Promise.all(invoices.map(heldOf))).toEqual([false, false, false, false]);
  });

  test('a CFE of this service is named by its cfe_id; one of another system is taken as given', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const { serie, numero } = await issue(rut);
    const foreign = (number: number) => ({
      cfe_type_code: '101',
      serie,
      numero: number,
      emission_date: day(-20),
      amount: 122,
      currency: 'UYU',
    });
    const refusal = issue(rut, { references: [foreign(numero)] }).catch(codesOf);
    await expect(refusal).resolves.toEqual(['references.issued_here']);

    const issued = await issue(rut, { references: [foreign(9_999_999), { description: 'Orden 881' }] });
    expect(issued).toMatchObject({ held: false });
    expect(await originalsOf(db.orm.em.fork(), issued.id)).toEqual([]);
    expect(issued.document.references).toMatchObject([
      { cfe: { numero: 9_999_999 } },
      { reason: 'Orden 881' },
    ]);
  });
});

describe('where a CFE goes when it is taken', () => {
  const SPACING = 40;
  let rut: string;
  let started: LeasedMessage[];
  beforeEach(async () => {
    rut = await aReadyEnterprise(db.orm, accountId);
    started = [];
    // Slots that other tests took lie behind.
    await db.orm.em.fork().execute('update authority_endpoint set next_free_at = to_timestamp(0)');
  });
  const atGate = (): IssueDeps => ({
    orm: db.orm,
    clock: () => new Date(),
    outbox: { ...idleOutbox, dispatchStored: (message) => void started.push(message) },
    pace: { spacingMilliseconds: SPACING, nearMilliseconds: 60_000 },
  });
  const take = (wishes: CfeWishes = {}, of = rut) => issue(of, wishes, atGate());
  const sobres = (of = rut) => db.orm.em.fork().find(Sobre, { rut: of }, { orderBy: { slot: 'asc' } });
  const waiting = (of = rut) => db.orm.em.fork().count(Cfe, { rut: of, sobreId: null });
  const breaker = (away: boolean) =>
    db.orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, 'production/reception');
      if (!away) return endpoint.close();
      for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
    });

  test('the first goes at once: a sobre with a slot, whose run is started from memory', async () => {
    const cfe = await take();

    const [sobre, ...others] = await sobres();
    expect(others).toEqual([]);
    expect(sobre).toMatchObject({ id: cfe.sobreId, state: 'OPEN', workflowId: cfe.workflowId });
    expect(sobre?.slot).not.toBeNull();
    const messages = await db.orm.em.fork().find(OutboxMessage, { workflowId: cfe.workflowId ?? '' });
    expect(messages).toHaveLength(1);
    const [row] = messages;
    expect(started).toEqual([
      {
        id: row?.id,
        workflow: 'issueCfes',
        workflowId: `cfe:${rut}:101-1:${sobre?.id.slice(0, 8)}`,
        input: { sobreId: sobre?.id },
        searchAttributes: row?.searchAttributes,
      },
    ]);
    expect(row).toMatchObject({
      workflow: 'issueCfes',
      input: { sobreId: sobre?.id },
      searchAttributes: { EnterpriseRut: rut, CfeId: ['101-1'], CfeType: 'ETICKET' },
      attempts: 1,
      dispatchedAt: null,
    });
    // Whoever stored it starts it: nobody else takes it meanwhile.
    expect(row?.notBefore.getTime()).toBeGreaterThan(Date.now());
    const taken = await leaseWaiting(db.orm.em.fork(), { first: 1_000, bulk: 0 });
    expect(taken.map(({ id }) => id)).not.toContain(row?.id);
  });

  test('the next waits as a row, whatever its type, until that sobre was received', async () => {
    await take();
    for (const type of ['ETICKET', 'EFACTURA'] as const) {
      const next = await take({ type });
      expect([next.sobreId, next.workflowId]).toEqual([null, null]);
    }
    expect(started).toHaveLength(1);
    expect(await waiting()).toBe(2);

    // Those that wait go first, though the way is free.
    await db.orm.em.fork().nativeUpdate(Sobre, { rut }, { state: 'RECEIVED', xml: '<Sobre/>', idemisor: 1n });
    expect((await take()).sobreId).toBeNull();
    const rows = await db.orm.em.fork().find(Cfe, { rut, sobreId: null }, { orderBy: { createdAt: 'asc' } });
    const id = await aSobreOf(db.orm, rows);
    await db.orm.em.fork().nativeUpdate(Sobre, { id }, { state: 'RECEIVED', xml: '<Sobre/>', idemisor: 2n });
    expect((await take()).sobreId).not.toBeNull();
  });

  test('a sobre that waits for its slot goes first as well; one of long ago does not', async () => {
    const { id } = await take();
    const sobreIs = (slot: Date | null) => db.orm.em.fork().nativeUpdate(Sobre, { rut }, { slot });
    await sobreIs(null);
    const second = await take();
    expect(second.sobreId).toBeNull();
    await sobreIs(new Date(Date.now() - 11_000));
    await db.orm.em.fork().nativeUpdate(Cfe, { id: second.id }, { held: true });

    const third = await take();

    expect(third.sobreId).not.toBeNull();
    expect((await sobres()).map((one) => one.id)).toContain(
      (await db.orm.em.fork().findOneOrFail(Cfe, { id })).sobreId,
    );
  });

  test('a note waits for the verdict on its original, and no other waits for it', async () => {
    const original = await take();
    const note = await take({ type: 'ETICKET_NC', net: 10, reference: '101-1' });
    const held = () => db.orm.em.fork().findOneOrFail(Cfe, { id: note.id });
    expect(await held()).toMatchObject({ held: true, sobreId: null });
    await decideCfe({ orm: db.orm }, original.id, { status: 'ACCEPTED' });
    expect(await held()).toMatchObject({ held: false, sobreId: null });
  });

  test('a burst of one enterprise is rows, and at most one sobre, with one CFE', async () => {
    const types = ['ETICKET', 'EFACTURA', 'EFACTURA_EXPORT'] as const;
    const burst = await Promise.all(
      Array.from({ length: 30 }, (_, index) => take({ type: types[index % 3] ?? 'ETICKET' })),
    );

    // None where others stored theirs as rows while the first was about to: the gatekeeper makes it one with them.
    const made = await sobres();
    expect(made.length).toBeLessThanOrEqual(1);
    expect(started).toHaveLength(made.length);
    expect(burst.filter(({ sobreId }) => sobreId !== null)).toHaveLength(made.length);
    expect(await waiting()).toBe(30 - made.length);
  });

  test('while its sobre is on its way, a burst of one enterprise is rows alone', async () => {
    const first = await take();
    const types = ['ETICKET', 'EFACTURA', 'EFACTURA_EXPORT'] as const;
    const burst = await Promise.all(
      Array.from({ length: 29 }, (_, index) => take({ type: types[index % 3] ?? 'ETICKET' })),
    );

    expect((await sobres()).map(({ id }) => id)).toEqual([first.sobreId]);
    expect(started).toHaveLength(1);
    expect(burst.filter(({ sobreId }) => sobreId !== null)).toEqual([]);
    expect(await waiting()).toBe(29);
  });

  test('of many enterprises at once no two have slots nearer than the rate; who gets none waits as a row', async () => {
    const ruts = await Promise.all(Array.from({ length: 12 }, () => aReadyEnterprise(db.orm, accountId)));
    await Promise.all(ruts.map((one) => take({}, one)));

    const made = (
      await db.orm.em.fork().find(Sobre, { rut: { $in: ruts } }, { orderBy: { slot: 'asc' } })
    ).map(({ slot }) => Number(slot));
    expect(made.length).toBeGreaterThan(0);
    expect(made.length + (await db.orm.em.fork().count(Cfe, { rut: { $in: ruts }, sobreId: null }))).toBe(12);
    expect(started).toHaveLength(made.length);
    for (const [index, slot] of made.entries())
      if (index > 0) expect(slot - (made[index - 1] ?? 0)).toBeGreaterThanOrEqual(SPACING);
  });

  test('where the next free slot is far, or the authority away, it waits as a row', async () => {
    await db.orm.em
      .fork()
      .execute(`update authority_endpoint set next_free_at = clock_timestamp() + interval '61 seconds'`);
    expect((await take()).sobreId).toBeNull();
    await db.orm.em.fork().execute('update authority_endpoint set next_free_at = to_timestamp(0)');
    const other = await aReadyEnterprise(db.orm, accountId);
    await breaker(true);
    try {
      expect((await take({}, other)).sobreId).toBeNull();
    } finally {
      await breaker(false);
    }
    expect(started).toEqual([]);
    expect(await sobres(other)).toEqual([]);
  });

  test('what is refused, for its numbers are used up, takes no slot and leaves no sobre', async () => {
    const used = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET', from: 1, to: 1 }] });
    await take({}, used);
    await db.orm.em
      .fork()
      .nativeUpdate(Sobre, { rut: used }, { state: 'RECEIVED', xml: '<S/>', idemisor: 1n });
    const free = () =>
      db.orm.em
        .fork()
        .execute("select next_free_at from authority_endpoint where name = 'production/reception'");
    const before = await free();
    await expect(take({}, used)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await free()).toEqual(before);
    expect(await sobres(used)).toHaveLength(1);
  });
});
