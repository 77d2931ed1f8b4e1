import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createStopExport, createWriteExport } from '../../../src/activities/receipts/writeExport.ts';
import { type ExportRequest, requestExport, stopExport } from '../../../src/commands/receipts/exports.ts';
import { Cfe, ReceiptExport, ReceiptExportPart } from '../../../src/db/entities/receipts.ts';
import { purgeExpiredRows } from '../../../src/db/operations/purge.ts';
import { UNFINISHED } from '../../../src/db/operations/unfinished.ts';
import {
  addExportPart,
  exportBytes,
  findExport,
  isExportKept,
  streamExport,
} from '../../../src/db/receipts/receiptExports.ts';
import { UnprintableReceipt } from '../../../src/domain/mail/mail.ts';
import { MOST_PRINTED } from '../../../src/domain/receipts/receiptExport.ts';
import { Refusal } from '../../../src/errors.ts';
import { CFE_WORDS } from '../../../src/words/cfeStates.ts';
import { anAccount, outboxOf } from '../../support/commandDeps.ts';
import { type Browser, startConsole, type TestConsole } from '../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { RETENTION } from '../../support/database/retention.ts';
import { anIssuer, giveCfes } from '../../support/mail/receipts.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { until } from '../../support/until.ts';
import { testWithUnzip } from '../../support/unzip.ts';
import { unzipped } from '../../support/unzipped.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const NOW = new Date('2026-11-22T15:00:00Z');
let db: TestDatabase;
let issuer: { accountId: string; rut: string };
beforeAll(async () => {
  db = await cloneDatabase({ pool: 10, worker: true });
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  issuer = await anIssuer(db.orm);
});

const deps = (clock = NOW) => ({
  ...webhookDeps(db.orm, { clock: () => clock }),
  actor: 'cli:ana' as const,
});
const ask = (more: Partial<ExportRequest> = {}): Promise<ReceiptExport> =>
  requestExport(deps(), {
    rut: issuer.rut,
    environment: 'production',
    month: '2026-11',
    withPdfs: false,
    ...more,
  });
const write = (
  id: string,
  print: Parameters<typeof createWriteExport>[0]['print'] = async () => Buffer.from('%PDF-1.7 printed'),
  partReceipts = 7,
) => asActivity(() => createWriteExport({ orm: db.worker, clock: () => NOW, print, partReceipts })(id));
const now = async (id: string): Promise<ReceiptExport> => {
  const found = await findExport(db.orm.em.fork(), id);
  if (!found) throw new Error('the export is gone');
  return found;
};
const noPrint = (): Promise<Uint8Array> => Promise.reject(new Error('nothing was to be printed'));
const partBytes = async (exportId: string, place: number): Promise<Uint8Array> =>
  (await db.orm.em.fork().findOneOrFail(ReceiptExportPart, { exportId, place })).content;
const partCount = (exportId: string): Promise<number> =>
  db.orm.em.fork().count(ReceiptExportPart, { exportId });

/** What unzip makes of the file of an export. */
async function opened(id: string): Promise<Map<string, string>> {
  const found = await now(id);
  const parts: Uint8Array[] = [];
  for await (const part of streamExport(() => db.orm.em.fork(), found)) parts.push(part);
  const content = Buffer.concat(parts);
  expect(content.length).toBe(exportBytes(found));
  return unzipped(content);
}

/** XML that does not shrink, of some size. */
const noise = (seed: string): string =>
  Array.from({ length: 20 }, (_, i) => createHash('sha256').update(`${seed}${i}`).digest('base64')).join('');

/** Receipts of every kind: accepted, rejected, without a signature, of another month, of the sandbox. */
async function receipts(count: number): Promise<Cfe[]> {
  const accepted = await giveCfes(db.orm, issuer, { status: 'ACCEPTED', count });
  const [rejected] = await giveCfes(db.orm, issuer, { status: 'REJECTED' });
  const [unsigned, other] = await giveCfes(db.orm, issuer, { status: 'PENDING', count: 2 });
  const em = db.orm.em.fork();
  await em.nativeUpdate(Cfe, { rut: issuer.rut }, { emissionDate: '2026-11-20' });
  for (const { id, numero } of accepted)
    await em.nativeUpdate(Cfe, { id }, { signedXml: `<CFE><ñ>${numero}${noise(id)}</ñ></CFE>` });
  await em.nativeUpdate(Cfe, { id: unsigned?.id ?? '' }, { signedXml: null, digest: null });
  await em.nativeUpdate(Cfe, { id: other?.id ?? '' }, { emissionDate: '2026-10-31' });
  return em.find(
    Cfe,
    { id: { $in: [...accepted.map(({ id }) => id), rejected?.id ?? '', unsigned?.id ?? ''] } },
    { populate: ['signedXml'], orderBy: { numero: 'asc' } },
  );
}

testWithUnzip(
  'a month is one file: every signed XML byte for byte, rejected ones in their folder, the rest in omitidos.csv',
  async () => {
    const cfes = await receipts(120);
    const asked = await ask();
    expect(asked.id).toMatch(new RegExp(`^${issuer.rut}-2026-11-[0-9a-f]{6}$`));
    expect(asked).toMatchObject({ state: 'RUNNING', total: 122 });
    expect(await outboxOf(db.orm, `export:${asked.id}`)).toEqual([
      { workflow: 'exportReceipts', signal: null, input: { exportId: asked.id } },
    ]);

    expect(await write(asked.id)).toEqual({
      kind: 'ended',
      state: 'DONE',
      total: 122,
      done: 122,
      leftOut: 1,
    });

    const entries = await opened(asked.id);
    const signed = cfes.filter(({ signedXml }) => signedXml !== null);
    const wanted = new Map(
      signed.map(({ status, numero, serie, signedXml }) => [
        `${status === 'REJECTED' ? 'rechazados/' : ''}${issuer.rut}-101-${serie}-${numero}.xml`,
        signedXml,
      ]),
    );
    const list = entries.get('omitidos.csv') ?? '';
    entries.delete('omitidos.csv');
    expect(entries).toEqual(wanted);
    const left = cfes.find(({ signedXml }) => signedXml === null);
    expect(list.split('\r\n')).toEqual([
      '\uFEFFcfe_id,tipo,serie,numero,estado,falta,motivo',
      `101-${left?.sequence},101,${left?.serie},${left?.numero},${CFE_WORDS.es.status.PENDING.label},XML,todavía sin firma`,
      '',
    ]);
    const done = await now(asked.id);
    expect(done.parts).toBeGreaterThan(5);
    expect([done.parts, await partCount(asked.id)]).toEqual([done.parts, done.parts]);
    expect(await write(asked.id)).toMatchObject({ state: 'DONE' });
    expect(await now(asked.id)).toEqual(done);
  },
);

test('asked for by several at once, and again while it is made, it is one; another after it has ended', async () => {
  await receipts(2);
  const ids = (await Promise.all(Array.from({ length: 6 }, () => ask()))).map(({ id }) => id);
  expect(new Set(ids).size).toBe(1);
  const [id = ''] = ids;
  const audit = await db.orm.em
    .fork()
    .execute('select actor, action, subject from audit where subject = ?', [id]);
  expect(audit).toEqual([{ actor: 'cli:ana', action: 'export.request', subject: id }]);
  expect((await ask({ withPdfs: true })).id).not.toBe(id);
  expect(
    (await UNFINISHED.exportReceipts(db.orm.em.fork(), issuer)).map(({ workflowId }) => workflowId),
  ).toContain(`export:${id}`);
  await write(id);
  expect((await ask()).id).not.toBe(id);
});

testWithUnzip(
  'printed forms: whoever gets no turn waits; what cannot be printed is told; more than there may be are refused',
  async () => {
    await receipts(2);
    const asked = await ask({ withPdfs: true });
    let turns = 0;
    await write(asked.id, async (_em, { numero, status }) => {
      turns += 1;
      if (turns === 1) throw new Refusal('UNAVAILABLE', 'full', { retryAfterSeconds: 0.01 });
      if (status === 'REJECTED') throw new UnprintableReceipt('no such letter');
      return Buffer.from(`%PDF of ${numero}`);
    });
    const entries = await opened(asked.id);
    expect([...entries.keys()].filter((name) => name.endsWith('.pdf'))).toHaveLength(2);
    expect(entries.get('omitidos.csv')?.split('\r\n').slice(1).toSorted()).toEqual([
      '',
      expect.stringMatching(/,rechazado,PDF,no se pudo imprimir$/),
      expect.stringMatching(/,XML y PDF,todavía sin firma$/),
    ]);
    expect(await now(asked.id)).toMatchObject({ state: 'DONE', leftOut: 2 });

    const other = await anIssuer(db.orm);
    const [cfe] = await giveCfes(db.orm, other, { status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(Cfe, { rut: other.rut }, { emissionDate: '2026-11-01' });
    const columns = await db.orm.em
      .fork()
      .execute<{ name: string }[]>(
        `select column_name as name from information_schema.columns where table_name = 'cfe' and is_generated = 'NEVER'`,
      );
    const of = (name: string): string =>
      ({
        id: 'gen_random_uuid()',
        sequence: 'sequence + n',
        numero: 'numero + n',
        workflow_id: `workflow_id || n`,
        receipt_token: 'gen_random_uuid()',
      })[name] ?? name;
    const names = columns.map(({ name }) => name);
    await db.orm.em
      .fork()
      .execute(
        `insert into cfe (${names.join()}) select ${names.map(of).join()} from cfe, generate_series(1, ?) n where id = ?`,
        [MOST_PRINTED, cfe?.id],
      );
    await expect(ask({ rut: other.rut, withPdfs: true })).rejects.toThrow(
      'Printed forms are limited to 1000 receipts; the month has 1001.',
    );
    expect(await ask({ rut: other.rut })).toMatchObject({ total: MOST_PRINTED + 1 });
    await expect(ask({ rut: other.rut, month: '2025-01' })).rejects.toMatchObject({
      faults: [{ code: 'export.nothing' }],
    });
  },
);

test('an enterprise has ten files at most, made or being made', async () => {
  await receipts(1);
  for (let n = 0; n < 10; n += 1) await write((await ask()).id);
  await expect(ask()).rejects.toMatchObject({ faults: [{ code: 'export.too_many' }] });
});

test('a print that fails for another reason than the receipt is tried again', async () => {
  await receipts(1);
  const { id } = await ask({ withPdfs: true });
  const broken = write(id, () => Promise.reject(new Error('the database is away')));
  await expect(broken).rejects.toThrow('the database is away');
  await write(id);
  expect(await now(id)).toMatchObject({ state: 'DONE', leftOut: 1 });
});

testWithUnzip(
  'killed in the middle, the next attempt goes on, and every receipt is once in the file',
  async () => {
    const cfes = await receipts(400);
    const asked = await ask();
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../support/processes/exportProcess.ts'), db.databaseUrl, asked.id],
      { stdio: 'ignore' },
    );
    try {
      await until('five parts', 120, async () => (await partCount(asked.id)) === 5 || undefined);
      child.kill('SIGKILL');
      await once(child, 'exit');
    } finally {
      child.kill('SIGKILL');
    }
    const left = await now(asked.id);
    expect(left).toMatchObject({ state: 'RUNNING', done: 100, parts: 5 });
    const first = await partBytes(asked.id, 1);

    await write(asked.id, undefined, 50);

    const done = await now(asked.id);
    expect(done).toMatchObject({ state: 'DONE', done: 402, leftOut: 1 });
    expect(done.parts).toBe(left.parts + 7 + 1);
    expect(await partBytes(asked.id, 1)).toEqual(first);
    const entries = await opened(asked.id);
    expect(entries.size).toBe(cfes.length);
    expect([...entries.values()].toSorted().slice(0, 401)).toEqual(
      cfes.flatMap(({ signedXml }) => signedXml ?? []).toSorted(),
    );
  },
);

testWithUnzip('attempts that run side by side put every receipt into the file once', async () => {
  const cfes = await receipts(60);
  const { id } = await ask();
  await Promise.all([write(id, undefined, 5), write(id, undefined, 3), write(id, undefined, 2)]);
  expect(await now(id)).toMatchObject({ state: 'DONE', done: 62, leftOut: 1 });
  expect((await opened(id)).size).toBe(cfes.length);
});

test('two are made at a time for an account, over all of its enterprises; another account has its own', async () => {
  await receipts(1);
  const second = await anIssuer(db.orm);
  await db.orm.em
    .fork()
    .execute('update enterprise set owner_account_id = ? where rut = ?', [issuer.accountId, second.rut]);
  const other = await anIssuer(db.orm);
  for (const one of [second, other]) {
    await giveCfes(db.orm, one, { status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(Cfe, { rut: one.rut }, { emissionDate: '2026-11-01' });
  }
  const first = await ask();
  await ask({ rut: second.rut });

  const asked = await Promise.allSettled([
    ask({ withPdfs: true }),
    ask({ rut: second.rut, withPdfs: true }),
    ask({ rut: other.rut }),
  ]);
  expect(asked.map((one) => (one.status === 'rejected' ? one.reason.faults[0].code : 'taken'))).toEqual([
    'export.account_busy',
    'export.account_busy',
    'taken',
  ]);

  // What is being made is had again, and with its end there is room.
  expect((await ask()).id).toBe(first.id);
  await write(first.id);
  expect(await ask({ withPdfs: true })).toMatchObject({ state: 'RUNNING' });
});

test('a turn ends between receipts: one whose prints take long is not waited for', async () => {
  await receipts(5);
  const { id } = await ask({ withPdfs: true });
  let [prints, at] = [0, 0];
  // The first print takes all of the turn.
  const print = async (): Promise<Uint8Array> => {
    prints += 1;
    at += 10_000;
    return Buffer.from('%PDF');
  };
  const turn = () =>
    asActivity(() => createWriteExport({ orm: db.orm, clock: () => NOW, print, ticks: () => at })(id));

  expect(await turn()).toMatchObject({ kind: 'goesOn', total: 7 });
  expect(prints).toBe(1);
  await write(id);
  expect(await now(id)).toMatchObject({ state: 'DONE', done: 7, leftOut: 1 });
});

test('a turn is short: whoever waits comes next, and it goes on where it was', async () => {
  await receipts(5);
  const { id } = await ask();
  const turn = () =>
    asActivity(() =>
      createWriteExport({ orm: db.worker, clock: () => NOW, print: noPrint, slotMilliseconds: 0 })(id),
    );
  expect(await turn()).toEqual({ kind: 'goesOn', total: 7, done: 0, leftOut: 0 });
  expect(await write(id)).toMatchObject({ kind: 'ended', state: 'DONE' });
});

test('stopped, nothing more is stored and nothing stays; who stopped it is known', async () => {
  await receipts(1);
  const { id } = await ask();
  const em = db.orm.em.fork();
  const begun = await now(id);
  const part = {
    entries: 0,
    content: Buffer.from('one'),
    directory: Buffer.alloc(0),
    done: 1,
    lastCfe: null,
    leftOut: [],
    isLast: false,
  };
  expect(await addExportPart(em, begun, part, NOW)).toBe(true);
  expect(await addExportPart(em, begun, part, NOW)).toBe(false);
  const later = await now(id);
  await stopExport(deps(), id);
  await stopExport(deps(), id);
  expect(await addExportPart(em, later, part, NOW)).toBe(false);
  expect(await write(id)).toMatchObject({ kind: 'ended', state: 'STOPPED' });
  expect([await partCount(id), (await now(id)).state]).toEqual([0, 'STOPPED']);
  const acts = await em.execute('select actor, action from audit where subject = ? order by id', [id]);
  expect(acts).toEqual([
    { actor: 'cli:ana', action: 'export.request' },
    { actor: 'cli:ana', action: 'export.stop' },
  ]);
  expect((await ask()).id).not.toBe(id);
});

testWithUnzip(
  'cancelled in the Temporal UI: given up, and nothing stays; one that is whole stays',
  async () => {
    await receipts(1);
    const { id } = await ask();
    const cancel = () => asActivity(() => createStopExport({ orm: db.worker, clock: () => NOW })(id));
    expect(await cancel()).toMatchObject({ kind: 'ended', state: 'STOPPED' });
    const again = await ask();
    await write(again.id);
    const done = await asActivity(() => createStopExport({ orm: db.worker, clock: () => NOW })(again.id));
    expect(done).toMatchObject({ kind: 'ended', state: 'DONE' });
    expect((await opened(again.id)).size).toBeGreaterThan(1);
  },
);

test('after seven days it is not given any more, and its bytes go; what was asked for stays known', async () => {
  await receipts(1);
  const { id } = await ask();
  await write(id);
  const later = new Date(NOW.getTime() + 7 * 86_400_000 + 1_000);
  const earlier = new Date(NOW.getTime() + 7 * 86_400_000 - 1_000);
  await purgeExpiredRows(db.worker, { now: earlier, retention: RETENTION, batch: 3 });
  expect([isExportKept(await now(id), earlier), (await partCount(id)) > 0]).toEqual([true, true]);
  expect(isExportKept(await now(id), later)).toBe(false);
  expect(await purgeExpiredRows(db.worker, { now: later, retention: RETENTION, batch: 3 })).toMatchObject({
    receipt_export_part: expect.any(Number),
  });
  expect(await partCount(id)).toBe(0);
  expect(await now(id)).toMatchObject({ state: 'DONE', actor: 'cli:ana' });
});

test('the console: asked for by the form, listed with its progress, fetched by whoever may at that moment', async () => {
  await giveCfes(db.orm, issuer, { status: 'ACCEPTED', count: 2 });
  await db.orm.em.fork().nativeUpdate(Cfe, { rut: issuer.rut }, { emissionDate: '2026-11-20' });
  await using site: TestConsole = await startConsole(db.orm, { businessClock: () => NOW });
  const english = { 'accept-language': 'en' };
  const member = await site.as(await site.aMember(issuer.accountId, 'MEMBER'));
  const guests = await anAccount(db.orm);
  const guest = await site.as(await site.aMember(guests, 'MEMBER'));
  const grant = (role: string) =>
    db.orm.em.fork().execute(
      `insert into enterprise_grant (account_id, rut, role) values (?, ?, ?)
       on conflict (account_id, rut) do update set role = excluded.role`,
      [guests, issuer.rut, role],
    );

  const list = await member.get(`/cfes?rut=${issuer.rut}&environment=production&from=2026-11-01`, english);
  const to = /href="(\/exports\?[^"]*)"/.exec(list.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const page = await member.get(`/exports${new URL(to, 'http://x').search}`, english);
  expect(page.text).toMatch(`name="rut" type="text" value="${issuer.rut}"`);
  expect(page.text).toMatch('name="month" type="text" value="2026-11"');

  const fields = { rut: issuer.rut, environment: 'production', month: '2026-11' };
  expect(await member.send('/exports', fields, '/exports')).toMatchObject({ status: 303, to: '/exports' });
  const { id } = await db.orm.em.fork().findOneOrFail(ReceiptExport, { rut: issuer.rut });
  expect((await member.get('/exports', english)).text).toMatch('0 of 2');
  expect((await member.get(`/exports/${id}/zip`)).status).toBe(404);
  const meanwhile = await member.get('/exports', english);
  expect(meanwhile.text).toMatch(`action="/exports/${id}/stop"`);
  expect(meanwhile.text).toMatch('data-changes="/changes?of=exports"');
  await write(id);

  const got = await member.get(`/exports/${id}/zip`);
  expect(got.headers.get('content-disposition')).toBe(`attachment; filename="${id}.zip"`);
  expect(got.headers.get('content-type')).toBe('application/zip');
  expect(got.headers.get('cache-control')).toBe('no-store');
  expect(got.headers.get('content-length')).toBe(String(exportBytes(await now(id))));
  expect(got.text.startsWith('PK')).toBe(true);
  const fetched = async (browser: Browser) => (await browser.get(`/exports/${id}/zip`)).status;
  const isListed = async (browser: Browser) => (await browser.get('/exports', english)).text.includes(id);
  const isOffered = async (browser: Browser) =>
    (await browser.get('/exports', english)).text.includes('method="post" action="/exports"');
  expect([await fetched(guest), await isListed(guest)]).toEqual([404, false]);
  expect(await isOffered(member)).toBe(true);
  await grant('VIEWER');
  expect(await isOffered(guest)).toBe(false);
  expect([await fetched(guest), await isListed(guest)]).toEqual([403, false]);
  await grant('MEMBER');
  expect(await isOffered(guest)).toBe(true);
  expect([await fetched(guest), await isListed(guest)]).toEqual([200, true]);
  await db.orm.em.fork().execute('delete from enterprise_grant where account_id = ?', [guests]);
  expect([await fetched(guest), await isListed(guest)]).toEqual([404, false]);
  const acts = await db.orm.em
    .fork()
    .execute<{ action: string }[]>('select action from audit where subject = ? order by id', [id]);
  expect(acts.map(({ action }) => action)).toEqual(['export.request', 'export.fetch', 'export.fetch']);
  expect(JSON.stringify(site.lines)).not.toContain('<CFE');
});
