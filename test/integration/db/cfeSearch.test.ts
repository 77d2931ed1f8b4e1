import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { ViewerAccounts } from '../../../src/db/people/roles.ts';
import {
  type CfeSearch,
  countCfes,
  resolveSearchText,
  searchCfes,
} from '../../../src/db/receipts/cfeSearch.ts';
import { formatCfeId } from '../../../src/domain/receipts/cfeId.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { startOfDay } from '../../../src/domain/values/montevideo.ts';
import { aRequestKey } from '../../support/api/requestKeys.ts';
import { anAccount, idleIssuing } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { day } from '../../support/receipts/papers.ts';

let db: TestDatabase;
/** Two accounts with an enterprise each, and one that has more of them than are walked one by one. */
let [ours, theirs, many]: string[] = [];
let [rut, other]: string[] = [];
const ids = new Map<string, string>();

const BASE = startOfDay('2026-08-01').getTime();
const at = (minutes: number): Date => new Date(BASE + minutes * 60_000);

async function issue(
  name: string,
  of: {
    rut: string;
    accountId: string;
    minutes: number;
    environment?: Environment;
    key?: string;
    requestId?: string;
  },
  wishes: CfeWishes = {},
): Promise<void> {
  const { environment = 'production', key, requestId, accountId } = of;
  const body = fromJson(JSON.stringify(aCfeBody({ ...wishes, emissionDate: day(0) })));
  const idempotency = key === undefined ? null : aRequestKey(key);
  const deps = { orm: db.orm, clock: () => new Date(), ...idleIssuing };
  const input = { accountId, rut: of.rut, environment, body, idempotency, requestId: requestId ?? null };
  const { id } = await issueCfe(deps, input);
  await change(id, { createdAt: at(of.minutes), emissionDate: wishes.emissionDate ?? '2026-08-01' });
  ids.set(id, name);
}
const change = (id: string, values: Partial<Cfe>) => db.orm.em.fork().nativeUpdate(Cfe, { id }, values);
const idOf = (name: string): string => [...ids].find(([, one]) => one === name)?.[0] ?? '';

beforeAll(async () => {
  db = await cloneDatabase();
  ours = await anAccount(db.orm);
  theirs = await anAccount(db.orm);
  many = await anAccount(db.orm);
  const caes = [{}, { type: 'EFACTURA', serie: 'BC', from: 500 }, { environment: 'sandbox' }] as const;
  rut = await aReadyEnterprise(db.orm, ours, { caes: [...caes] });
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  other = await aReadyEnterprise(db.orm, theirs, {
    caes: [{ type: 'ETICKET' }, { type: 'EFACTURA', from: 500 }],
  });
  for (let n = 0; n < 25; n += 1) await aReadyEnterprise(db.orm, many, {});
  const here = { rut, accountId: ours };
  await issue('first', { ...here, minutes: 1, key: 'pedido 77', requestId: 'req-00000001' });
  await issue('second', { ...here, minutes: 2 }, { emissionDate: '2026-08-02' });
  await issue(
    'invoice',
    { ...here, minutes: 3, key: 'A-2' },
    { type: 'EFACTURA', emissionDate: '2026-08-03' },
  );
  await issue('trial', { ...here, minutes: 4, environment: 'sandbox' });
  const there = { rut: other, accountId: theirs };
  await issue('theirs', { ...there, minutes: 5, key: 'pedido 77' });
  const named = { receiver_doc_type: 'RUC', receiver_document: '214844360018' };
  await issue(
    'their invoice',
    { ...there, minutes: 6 },
    { type: 'EFACTURA', receiver: { ...receiverOf(), ...named } },
  );
  await change(idOf('second'), { stuckReason: 'signing' });
  const rejection = [{ code: 'E05', message: 'No', detail: null }];
  await change(idOf('invoice'), { status: 'REJECTED', rejection, settledAt: at(9) });
  await change(idOf('first'), { status: 'ACCEPTED', settledAt: at(9) });
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const receiverOf = () =>
  (aCfeBody({ type: 'EFACTURA' })['header'] as { receiver: Record<string, unknown> }).receiver;

async function found(accounts: ViewerAccounts, filter: CfeSearch): Promise<string> {
  const em = db.orm.em.fork();
  const { cfes, next } = await searchCfes(em, accounts, filter, { limit: 50 });
  expect(next).toBeNull();
  expect(await countCfes(em, accounts, filter)).toBe(cfes.length);
  return cfes.map(({ id }) => ids.get(id)).join(', ');
}

describe('what is found, newest first', () => {
  const everything = 'their invoice, theirs, trial, invoice, second, first';
  test.each<[CfeSearch | (() => CfeSearch), string]>([
    [{}, everything],
    [{ environment: 'sandbox' }, 'trial'],
    [{ type: 'EFACTURA' }, 'their invoice, invoice'],
    [() => ({ rut }), 'trial, invoice, second, first'],
    [() => ({ rut, environment: 'production' }), 'invoice, second, first'],
    [() => ({ rut, environment: 'production', type: 'ETICKET' }), 'second, first'],
    [{ status: 'PENDING' }, 'their invoice, theirs, trial, second'],
    [{ status: 'REJECTED' }, 'invoice'],
    [{ status: 'ACCEPTED' }, 'first'],
    [{ status: 'OBSERVED' }, ''],
    [{ needsSupport: true }, 'second'],
    [{ needsSupport: false }, everything],
    [{ stuckReason: 'signing' }, 'second'],
    [{ stuckReason: 'undecided' }, ''],
    [{ annulled: true }, 'invoice'],
    [{ serie: 'BC' }, 'invoice'],
    [{ numero: 500 }, 'their invoice, invoice'],
    [{ serie: 'BC', numero: 500 }, 'invoice'],
    [{ serie: 'A', numero: 1, environment: 'production' }, 'theirs, first'],
    [{ receiver: '219999830019' }, 'invoice'],
    [{ idempotencyKey: 'pedido 77' }, 'theirs, first'],
    [{ idempotencyKey: 'pedido' }, ''],
    [{ requestId: 'req-00000001' }, 'first'],
    [{ from: '2026-08-02' }, 'invoice, second'],
    [{ from: '2026-08-02', to: '2026-08-02' }, 'second'],
    [{ createdFrom: at(3), createdBefore: at(5) }, 'trial, invoice'],
    [{ from: '2026-08-02', status: 'PENDING' }, 'second'],
  ])('%j', async (filter, names) => {
    expect(await found(null, typeof filter === 'function' ? filter() : filter)).toBe(names);
  });

  test('of accounts: what concerns their enterprises, and nothing else', async () => {
    expect(await found([ours ?? ''], {})).toBe('trial, invoice, second, first');
    expect(await found([ours ?? '', theirs ?? ''], {})).toBe(everything);
    expect(await found([ours ?? ''], { idempotencyKey: 'pedido 77' })).toBe('first');
    expect(await found([ours ?? ''], { rut: other })).toBe('');
    expect(await found([ours ?? ''], { rut: other, environment: 'production' })).toBe('');
    expect(await found([], {})).toBe('');
    expect(await found([many ?? '', ours ?? ''], { type: 'ETICKET' })).toBe('trial, second, first');
  });
});

describe('what a text leads to', () => {
  const placeOf = async (name: string) => {
    const cfe = await db.orm.em.fork().findOneOrFail(Cfe, { id: idOf(name) });
    return { kind: 'cfe', rut: cfe.rut, environment: cfe.environment, cfeId: formatCfeId(cfe) };
  };
  test.each([
    ['111-1', 'ours', 'invoice'],
    ['BC-500', 'all', 'invoice'],
    ['bc 0500', 'all', 'invoice'],
    ['BC500', 'all', 'invoice'],
    [' req-00000001 ', 'all', 'first'],
    ['pedido 77', 'ours', 'first'],
    ['21.484436.001-8', 'all', 'their invoice'],
    ['500', 'ours', 'invoice'],
  ])('%j among %s: one CFE, %s', async (text, who, name) => {
    const accounts = who === 'all' ? null : [ours ?? ''];
    expect(await resolveSearchText(db.orm.em.fork(), accounts, text)).toEqual(await placeOf(name));
  });

  test.each([
    ['A-2', 'a number and a key', 'invoice, second'],
    ['A 1', 'of several enterprises', 'theirs, trial, first'],
    ['111-1', 'of several enterprises', 'their invoice, invoice'],
    ['pedido 77', 'keys of several accounts', 'theirs, first'],
  ])('%j: several, %s', async (text, _, names) => {
    expect(await resolveSearchText(db.orm.em.fork(), null, text)).toEqual({ kind: 'several' });
    expect(await found(null, { text })).toBe(names);
  });

  test('a RUT leads to the enterprise where it is one, else to what was issued to it', async () => {
    const em = db.orm.em.fork();
    expect(await resolveSearchText(em, null, rut ?? '')).toEqual({ kind: 'enterprise', rut });
    expect(await resolveSearchText(em, [theirs ?? ''], rut ?? '')).toEqual({ kind: 'nothing' });
    expect(await resolveSearchText(em, null, '219999830019')).toEqual(await placeOf('invoice'));
  });

  test.each([
    '',
    '   ',
    'x'.repeat(256),
    "' or 1=1 --",
    'A-0',
    '999-1',
    '101-99999999999999',
    '%',
    '?',
    'a?b$1\\',
    'a\0b',
  ])('%j: nothing', async (text) => {
    expect(await resolveSearchText(db.orm.em.fork(), null, text)).toEqual({ kind: 'nothing' });
  });
});

test('page by page while others are issued: each CFE once, and none is missing', async () => {
  const accounts = [ours ?? '', theirs ?? ''];
  const before = (await searchCfes(db.orm.em.fork(), accounts, {}, { limit: 50 })).cfes.map(({ id }) => id);
  for (const filter of [{}, { text: 'A 1' }] as const) {
    const expected = before.filter(
      (id) => !('text' in filter) || ['theirs', 'trial', 'first'].includes(ids.get(id) ?? ''),
    );
    const read: string[] = [];
    let after: string | null = null;
    do {
      const page = await searchCfes(db.orm.em.fork(), accounts, filter, { after, limit: 2 });
      read.push(...page.cfes.map(({ id }) => id));
      after = page.next;
      // Newer than all, in the middle of the reading.
      await issue('later', { rut: rut ?? '', accountId: ours ?? '', minutes: 60 });
    } while (after);
    expect(read).toEqual(expected);
  }
});

test('CFEs of one moment are parted by their ids, and pages may end among them', async () => {
  const moment = at(600);
  for (let n = 0; n < 5; n += 1)
    await issue('same', { rut: other ?? '', accountId: theirs ?? '', minutes: 600 });
  const filter = { createdFrom: moment, createdBefore: new Date(moment.getTime() + 1) };
  const read: string[] = [];
  let after: string | null = null;
  do {
    const page = await searchCfes(db.orm.em.fork(), null, filter, { after, limit: 2 });
    read.push(...page.cfes.map(({ id }) => id));
    after = page.next;
  } while (after);
  expect([new Set(read).size, read.length]).toEqual([5, 5]);
});

test('a CFE that is found is the one that the ORM reads', async () => {
  const { cfes } = await searchCfes(db.orm.em.fork(), null, { rut }, { limit: 1 });
  const [found] = cfes;
  const read = await db.orm.em.fork().findOneOrFail(Cfe, { id: found?.id ?? '' });
  expect(found).toEqual(read);
});
