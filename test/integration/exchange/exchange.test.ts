import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { composeExchange } from '../../../src/activities/mail/composeExchange.ts';
import { createLoadDirectory } from '../../../src/activities/mail/loadDirectory.ts';
import { createPrepareExchange } from '../../../src/activities/mail/prepareExchange.ts';
import { requeue } from '../../../src/commands/operations/requeue.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { nextIdemisor } from '../../../src/db/authority/sobres.ts';
import { buildEnterpriseObject } from '../../../src/db/enterprises/enterprises.ts';
import { DirectoryEntry, Exchange } from '../../../src/db/entities/authority.ts';
import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import { Mail } from '../../../src/db/entities/mail.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Event } from '../../../src/db/entities/webhooks.ts';
import {
  readLastDirectoryLoad,
  recordDirectoryLoad,
  storeDirectoryEntries,
} from '../../../src/db/mail/exchange.ts';
import type { DgiClient } from '../../../src/dgi/client.ts';
import type { Unclear } from '../../../src/dgi/outcomes.ts';
import type { ListedIssuer } from '../../../src/dgi/xml/issuers.ts';
import type { CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anIssuer, giveCfes } from '../../support/mail/receipts.ts';
import { aRut } from '../../support/receipts/papers.ts';
import { officialFault, testWithOfficialFiles } from '../../support/simulator/tools.ts';
import { aCustomer, aSimulator, field } from '../../support/simulator/world.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { decideCfe } from '../../support/temporal/verdicts.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const NOW = new Date('2026-11-20T12:05:00Z');
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let db: TestDatabase;
let issuer: Awaited<ReturnType<typeof anIssuer>>;
let now = NOW;
/** What the authority's list tells, or what comes in its place; and how it was asked. */
let list: ListedIssuer[] | Unclear;
let asked: { since: Date; rut?: string }[];
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  issuer = await anIssuer(db.orm);
});
beforeEach(() => {
  now = NOW;
  list = [];
  asked = [];
});
afterAll(() => db[Symbol.asyncDispose]());

const listed = (rut: string, more: Partial<ListedIssuer> = {}): ListedIssuer => ({
  rut,
  name: 'Cliente SA',
  mail: 'cfe@cliente.example',
  since: '2019-05-01',
  until: '0000-00-00',
  ...more,
});
const listIssuers: DgiClient['listIssuers'] = async (_by, _environment, query) => {
  asked.push(query);
  return Array.isArray(list) ? { kind: 'listed', issuers: list } : list;
};
const deps = () => ({
  orm: db.worker,
  clock: () => now,
  outbox: idleOutbox,
  client: { listIssuers },
  privateKeyOf: () => privateKey,
  messageDomain: 'cfe.example',
});
const prepare = ({ id }: Pick<Cfe, 'id'>) => asActivity(() => createPrepareExchange(deps())(id));
const load = () => asActivity(() => createLoadDirectory(deps())());

const em = () => db.orm.em.fork();
const exchangeOf = ({ id }: Pick<Cfe, 'id'>) =>
  em().findOne(Exchange, { cfeUuid: id }, { populate: ['xml'] });
const mailsOf = ({ id }: Pick<Cfe, 'id'>) => em().find(Mail, { cfeUuid: id });

/** A RECEIVED CFE to that RUC, or to somebody else. */
async function aCfe(
  of: { to?: string; type?: CfeType; environment?: 'sandbox'; nife?: true } = {},
): Promise<Cfe> {
  const { to = aRut(), type = 'EFACTURA', environment = 'production' } = of;
  const document = of.nife
    ? ({ type: 'NIFE', number: 'BR-1', country: 'BR' } as const)
    : ({ type: 'RUC', number: to, country: 'UY' } as const);
  const [cfe] = await giveCfes(db.orm, issuer, {
    status: 'RECEIVED',
    environment,
    receiver: { document, legalName: 'Cliente SA' },
  });
  if (!cfe) throw new Error('no CFE was given');
  const own = em();
  await own.nativeUpdate(
    Cfe,
    { id: cfe.id },
    { type, document: { ...cfe.document, type, adenda: 'Gracias & <saludos>' } },
  );
  return own.findOneOrFail(Cfe, { id: cfe.id }, { populate: ['signedXml'], refresh: true });
}
const decide = (cfe: Cfe, status: 'ACCEPTED' | 'OBSERVED' | 'REJECTED' = 'ACCEPTED') =>
  decideCfe({ orm: db.worker, clock: () => now }, cfe.id, { status, reasons: [] });
/** A CFE with its verdict, to a RUC that is listed. */
async function anExchange(more: Partial<ListedIssuer> = {}) {
  const to = aRut();
  list = [listed(to, more)];
  const cfe = await aCfe({ to });
  await decide(cfe);
  return { cfe, to };
}

describe.each(['where nobody else is told', 'where a webhook hears of it'])(
  'with the verdict, %s',
  (where) => {
    beforeAll(async () => {
      if (!where.includes('webhook')) return;
      const { accountId } = issuer;
      await addWebhook(webhookDeps(db.orm), {
        accountId,
        url: 'https://a.example/',
        events: ['cfe.updated'],
      });
    });
    const messagesOf = ({ id }: Cfe) =>
      em().find(OutboxMessage, { workflow: 'exchangeCfe', input: { cfeUuid: id } });

    test.each([
      ['EFACTURA', 'ACCEPTED'],
      ['EFACTURA_NC', 'OBSERVED'],
      ['EFACTURA_ND', 'ACCEPTED'],
    ] as const)('%s, %s: its row and its workflow', async (type, status) => {
      const to = aRut();
      const cfe = await aCfe({ to, type });
      await decide(cfe, status);

      expect(await exchangeOf(cfe)).toMatchObject({
        receiverRut: to,
        state: 'PENDING',
        idemisor: null,
        settledAt: null,
      });
      const [message, ...more] = await messagesOf(cfe);
      expect(more).toEqual([]);
      const cfeId = `${{ EFACTURA: 111, EFACTURA_NC: 112, EFACTURA_ND: 113 }[type]}-${cfe.sequence}`;
      expect(message).toMatchObject({
        workflowId: `exchange:${issuer.rut}:${cfeId}:${cfe.id.slice(0, 8)}`,
        searchAttributes: {
          EnterpriseRut: issuer.rut,
          Environment: 'production',
          CfeType: type,
          CfeId: [cfeId],
        },
      });
      // The verdict once more changes nothing.
      await decide(cfe, status);
      expect(await messagesOf(cfe)).toHaveLength(1);
    });

    test.each([
      ['REJECTED', {}, 'REJECTED'],
      ['an e-Ticket that names a RUC', { type: 'ETICKET' }, 'ACCEPTED'],
      ['an export', { type: 'EFACTURA_EXPORT', nife: true }, 'ACCEPTED'],
      ['sandbox', { environment: 'sandbox' }, 'ACCEPTED'],
    ] as const)('%s: nothing', async (_, of, status) => {
      const cfe = await aCfe(of);
      await decide(cfe, status);
      expect([await exchangeOf(cfe), await messagesOf(cfe)]).toEqual([null, []]);
    });
  },
);

describe('to an electronic receiver', () => {
  test('the sobre with the CFE’s own bytes goes by e-mail to the address of the list', async () => {
    const { cfe, to } = await anExchange();
    const before = await em().transactional((own) =>
      nextIdemisor(own, { rut: issuer.rut, environment: 'production' }, montevideoDate(new Date())),
    );
    expect(await prepare(cfe)).toEqual({ kind: 'onItsWay' });

    expect(asked).toEqual([{ since: expect.any(Date), rut: to }]);
    const exchange = await exchangeOf(cfe);
    const idemisor = before + 1n;
    // The sequence is that of the sobres to the authority.
    expect(exchange).toMatchObject({ state: 'ON_ITS_WAY', idemisor });
    const xml = exchange?.xml ?? '';
    expect(xml).toContain(
      `<Caratula version="1.0"><RutReceptor>${to}</RutReceptor><RUCEmisor>${issuer.rut}</RUCEmisor><Idemisor>${idemisor}</Idemisor><CantCFE>1</CantCFE><Fecha>2026-11-20T09:05:00-03:00</Fecha>`,
    );
    expect(xml).toContain(
      `<CFE_Adenda>${cfe.signedXml}<Adenda>Gracias &amp; &lt;saludos&gt;</Adenda></CFE_Adenda>`,
    );
    const [mail, ...more] = await mailsOf(cfe);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({
      kind: 'EXCHANGE',
      destination: 'cfe@cliente.example',
      status: 'PENDING',
      byHand: false,
      messageId: `sob-${issuer.rut}-${idemisor}@cfe.example`,
    });

    const name = `Sob_${issuer.rut}_20261120_${idemisor}.xml`;
    if (!mail) throw new Error('no e-mail');
    expect(await composeExchange(em(), mail, cfe)).toEqual({
      fromName: 'Empresa & Cía. "Ñandú" S.A.',
      replyTo: 'ventas@empresa.example',
      subject: name,
      text: expect.stringContaining(issuer.rut),
      attachments: [{ name, type: 'application/xml', content: Buffer.from(xml) }],
    });
  });

  test('once, however often and by how many it is run', async () => {
    const { cfe } = await anExchange();
    const results = await Promise.all(Array.from({ length: 6 }, () => prepare(cfe)));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['onItsWay']));
    const first = await exchangeOf(cfe);
    await prepare(cfe);
    expect(await exchangeOf(cfe)).toEqual(first);
    expect(await mailsOf(cfe)).toHaveLength(1);
  });

  test('the authority is asked before the first sending to a RUC, and not before the next', async () => {
    const { cfe, to } = await anExchange();
    await storeDirectoryEntries(
      em(),
      [{ rut: to, name: '', mail: 'old@cliente.example', since: '2019-05-01', until: null }],
      {
        now,
        askedAt: null,
      },
    );
    await prepare(cfe);
    expect((await mailsOf(cfe))[0]?.destination).toBe('cfe@cliente.example');
    now = new Date(NOW.getTime() + 40 * 86_400_000);
    const next = await aCfe({ to });
    await decide(next);
    await prepare(next);
    expect([asked.length, (await mailsOf(next)).length]).toEqual([1, 1]);
  });

  test.each([
    ['is not in the list', null, 'notElectronic', 'NOT_ELECTRONIC'],
    ['begins tomorrow', { since: '2026-11-21' }, 'notElectronic', 'NOT_ELECTRONIC'],
    ['has ended', { until: '2026-11-19' }, 'notElectronic', 'NOT_ELECTRONIC'],
    ['tells no address', { mail: 'sin correo' }, 'noAddress', 'NO_ADDRESS'],
  ] as const)('nothing goes where the receiver %s', async (_, more, kind, state) => {
    const { cfe } = await anExchange(more ?? {});
    if (!more) list = [];
    expect(await prepare(cfe)).toEqual({ kind });
    expect(await exchangeOf(cfe)).toMatchObject({ state, idemisor: null, settledAt: NOW });
    expect(await mailsOf(cfe)).toEqual([]);
    expect(await prepare(cfe)).toEqual({ kind });
    expect(asked).toHaveLength(1);
  });

  test('that a RUC is none is believed for an hour', async () => {
    const to = aRut();
    const send = async () => {
      const cfe = await aCfe({ to });
      await decide(cfe);
      return (await prepare(cfe)).kind;
    };
    expect(await send()).toBe('notElectronic');
    list = [listed(to)];
    expect(await send()).toBe('notElectronic');
    now = new Date(NOW.getTime() + 3_600_000);
    expect(await send()).toBe('onItsWay');
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['away', 'AuthorityUnreachable', { kind: 'repeat', description: 'unreached', reached: false }],
    ['refusing', 'AuthorityRefuses', { kind: 'stuck', reason: 'authority.no_permission', explanation: 'no' }],
  ] as const)('while the authority is %s it waits, and is retried automatically', async (_, type, answer) => {
    const { cfe } = await anExchange();
    const issuers = list;
    list = answer;
    await expect(prepare(cfe)).rejects.toMatchObject({ type });
    expect(await exchangeOf(cfe)).toMatchObject({ state: 'PENDING' });
    list = issuers;
    expect(await prepare(cfe)).toEqual({ kind: 'onItsWay' });
  });

  test('after a loss of Temporal’s data those that wait are begun again', async () => {
    const { cfe } = await anExchange();
    const done = await anExchange();
    await prepare(done.cfe);
    await em().nativeDelete(OutboxMessage, {});
    await requeue(
      { orm: db.orm, clock: () => now, outbox: idleOutbox, actor: 'cli:test' },
      { rut: issuer.rut, reason: 'drill', dryRun: false },
    );
    const begun = await em().find(OutboxMessage, { workflow: 'exchangeCfe' });
    const ids = begun.map(({ input }) => input['cfeUuid']);
    expect(ids).toContain(cfe.id);
    expect(ids).not.toContain(done.cfe.id);
  });

  testWithOfficialFiles('the sobre is as the authority’s schema wants it', async () => {
    const simulator = await aSimulator();
    try {
      const customer = await aCustomer(simulator.url);
      const signedXml = customer.cfe({ type: 101, cae: await customer.cae(101), number: 1 });
      const { cfe } = await anExchange();
      await em().nativeUpdate(Cfe, { id: cfe.id }, { signedXml });
      await prepare(cfe);
      const { xml } = (await exchangeOf(cfe)) ?? {};
      expect(officialFault('EnvioCFE_entreEmpresas.xsd', xml ?? '')).toBe('');
      expect(field(xml ?? '', 'Adenda')).toBe('Gracias &amp; &lt;saludos&gt;');
    } finally {
      await simulator.stop();
    }
  });
});

describe('the list of electronic issuers', () => {
  test('is loaded whole, then what changed since the load before, with an overlap', async () => {
    await em().execute('delete from directory_load');
    const [one, other] = [aRut(), aRut()];
    list = [
      listed(one),
      listed(other, { name: 'Otra', mail: '  ', until: '2020-12-31' }),
      listed('no es un RUC'),
    ];
    expect(await load()).toEqual({ kind: 'loaded', entries: 2 });
    expect(asked[0]?.since.getTime()).toBeLessThan(Date.parse('2011-01-01'));
    expect(asked[0]).not.toHaveProperty('rut');
    expect(await em().findOneOrFail(DirectoryEntry, { rut: other })).toMatchObject({
      name: 'Otra',
      mail: null,
      since: '2019-05-01',
      until: '2020-12-31',
      askedAt: null,
    });

    now = new Date(NOW.getTime() + 86_400_000);
    list = [listed(one, { mail: 'new@cliente.example' })];
    expect(await load()).toEqual({ kind: 'loaded', entries: 1 });
    expect(asked[1]?.since).toEqual(new Date(NOW.getTime() - 3 * 86_400_000));
    expect((await em().findOneOrFail(DirectoryEntry, { rut: one })).mail).toBe('new@cliente.example');
    expect((await em().findOneOrFail(DirectoryEntry, { rut: other })).name).toBe('Otra');
  });

  test('is_authorized_issuer follows the list, with an event; what does not change tells nothing', async () => {
    const { rut } = issuer;
    const isIssuer = async () => {
      const enterprise = await em().findOneOrFail(Enterprise, { rut });
      return (await buildEnterpriseObject(em(), enterprise, now)).is_authorized_issuer;
    };
    const changes = async () =>
      (await em().find(Event, { rut, name: 'enterprise.updated' }, { orderBy: { createdAt: 'asc' } })).map(
        ({ body }) => JSON.parse(body).data.changes.is_authorized_issuer as unknown,
      );
    await em().nativeUpdate(Enterprise, { rut }, { listedIssuer: null });
    const before = (await changes()).length;
    const since = async () => (await changes()).slice(before);
    now = new Date(NOW.getTime() + 86_400_000);
    await load();
    expect([await isIssuer(), await since()]).toEqual([false, [{ from: true, to: false }]]);

    list = [listed(rut, { until: '2026-11-22' })];
    await load();
    await load();
    const told = [
      { from: true, to: false },
      { from: false, to: true },
    ];
    expect([await isIssuer(), await since()]).toEqual([true, told]);

    // The day after its last, though the list changed nothing.
    now = new Date('2026-11-23T07:20:00Z');
    list = [];
    await load();
    expect([await isIssuer(), await since()]).toEqual([false, [...told, { from: true, to: false }]]);
    now = NOW;
    await recordDirectoryLoad(em(), new Date(NOW.getTime() + 86_400_000), now);
  });

  test('a load that is broken off does not count: the next asks for the same again', async () => {
    const before = await readLastDirectoryLoad(em());
    now = new Date(NOW.getTime() + 2 * 86_400_000);
    list = { kind: 'repeat', description: 'no answer', reached: false };
    await expect(load()).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
    expect(await readLastDirectoryLoad(em())).toEqual(before);
  });

  test('of more than one statement takes', async () => {
    const many = Array.from({ length: 2_500 }, (_, i) => listed(String(300_000_000_000 + (i % 2_400))));
    list = many;
    expect(await load()).toEqual({ kind: 'loaded', entries: 2_500 });
    expect(await em().count(DirectoryEntry, { rut: { $gte: '300000000000' } })).toBe(2_400);
  });

  test('waits for an enterprise that is READY, to ask with', async () => {
    await using empty = await cloneDatabase({ worker: true });
    const activity = createLoadDirectory({ ...deps(), orm: empty.worker });
    expect(await asActivity(() => activity())).toEqual({ kind: 'nobodyToAsk' });
    expect(asked).toEqual([]);
  });
});
