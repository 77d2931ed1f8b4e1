import { expect, test } from '@jest/globals';
import { acceptReportOnlyCfes, signWaitingCfes } from '../../../src/activities/authority/prepareSobre.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { UnsealError } from '../../../src/crypto/sealed.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Event } from '../../../src/db/entities/webhooks.ts';
import { readReportDay } from '../../../src/db/reports/reportDay.ts';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import { parseCfeId } from '../../../src/domain/receipts/cfeId.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { createGatekeeper } from '../../../src/gate/gatekeeper.ts';
import { useApi } from '../../support/api/apiSuite.ts';
import { take, takeDeps } from '../../support/database/taking.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../support/receipts/cfeBodies.ts';
import { decideCfe } from '../../support/temporal/verdicts.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const suite = useApi();

interface Answer {
  cfe_id: string;
  cfe_status: string;
  numero: number;
  transmission: string | null;
}

const CAES = [{ type: 'ETICKET' }, { type: 'ETICKET_NC' }, { type: 'ETICKET_ND' }] as const;

/** An enterprise that only reports its small e-Tickets. */
async function aReporter(): Promise<string> {
  const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, { caes: [...CAES] });
  const { status } = await suite.owner.client.put(`/enterprises/${rut}`, { small_tickets: 'REPORT_ONLY' });
  expect(status).toBe(200);
  return rut;
}

async function issue(rut: string, wishes: CfeWishes = {}): Promise<Answer> {
  const { status, data } = await suite.owner.client.post<Answer>(
    `/enterprises/${rut}/cfes`,
    aCfeBody(wishes),
  );
  expect({ status, data }).toMatchObject({ status: 201 });
  return data;
}
const read = async (rut: string, { cfe_id }: Answer): Promise<Answer> => {
  const { data } = await suite.owner.client.get<{ items: Answer[] }>(`/enterprises/${rut}/cfes/${cfe_id}`);
  const [item] = data.items;
  if (!item) throw new Error(`${cfe_id} is not there`);
  return item;
};
const rowOf = (rut: string, { cfe_id }: Answer): Promise<Cfe> => {
  const parts = parseCfeId(cfe_id);
  if (!parts) throw new Error(cfe_id);
  return suite.db.orm.em
    .fork()
    .findOneOrFail(Cfe, { rut, environment: 'production', ...parts }, { populate: ['signedXml'] });
};

let signatures = 0;
const signing = (opensKey = true) =>
  takeDeps(suite.db.orm, {
    signDocument: () => {
      if (!opensKey) throw new UnsealError('unknown_key', 'no key opens it');
      signatures += 1;
      return { xml: `<CFE>${signatures}</CFE>`, digest: 'eA==' };
    },
  });
const accept = (opensKey = true) => acceptReportOnlyCfes(signing(opensKey));
const sobresOf = (rut: string) => suite.db.orm.em.fork().find(Sobre, { rut });
const documentOf = async (rut: string, answer: Answer): Promise<string> =>
  writeCfe((await rowOf(rut, answer)).document);

test('one up to the limit is signed, ACCEPTED, told of once, and counted in the report; no sobre is made', async () => {
  const rut = await aReporter();
  const { accountId } = suite.owner;
  await addWebhook(webhookDeps(suite.db.orm), {
    accountId,
    url: 'https://hooks.example.com/',
    events: ['cfe.updated'],
  });
  const issued = await issue(rut, { net: 32_104 });
  expect(issued).toMatchObject({ cfe_status: 'PENDING', transmission: null });
  expect(await rowOf(rut, issued)).toMatchObject({ reportOnly: true, sobreId: null, workflowId: null });

  // Two workers at once.
  await Promise.all([accept(), accept()]);

  expect(await read(rut, issued)).toMatchObject({ cfe_status: 'ACCEPTED', transmission: 'REPORT_ONLY' });
  expect((await rowOf(rut, issued)).signedXml).toContain('<CFE>');
  expect(await sobresOf(rut)).toEqual([]);
  const events = await suite.db.orm.em.fork().find(Event, { rut, name: 'cfe.updated' });
  expect(events.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
    {
      event: 'cfe.updated',
      data: { cfe_id: issued.cfe_id, status: 'ACCEPTED', transmission: 'REPORT_ONLY' },
    },
  ]);
  const date = montevideoDate(new Date());
  const { sums, waitsFor } = await readReportDay(suite.db.orm.em.fork(), {
    rut,
    environment: 'production',
    date,
  });
  const { types } = sums.close({ signedOn: date, rateOf: () => null });
  expect(waitsFor).toMatchObject({ verdicts: 0, undecided: 0 });
  expect(types).toMatchObject([{ type: 'ETICKET', used: 1, issued: 1, annulled: 0, aboveUiLimit: 0 }]);
});

test('the database accepts none without the digest that is reported', async () => {
  const rut = await aReporter();
  await issue(rut);
  const verdict = { status: 'ACCEPTED', settledAt: new Date() } as const;
  await expect(suite.db.orm.em.fork().nativeUpdate(Cfe, { rut }, verdict)).rejects.toThrow(
    /violates check constraint/,
  );
});

test.each<[string, CfeWishes]>([
  [
    'above the limit',
    { net: 32_104.01, receiver: { receiver_doc_type: 'CI', receiver_document: '12345672' } },
  ],
  ['to a RUC', { receiver: { receiver_doc_type: 'RUC', receiver_document: '219999830019' } }],
  [
    'that is above the limit by its exchange rate',
    {
      net: 900,
      currency: 'USD',
      exchangeRate: 40,
      receiver: { receiver_doc_type: 'CI', receiver_document: '12345672' },
    },
  ],
])('an e-Ticket %s is sent', async (_, wishes) => {
  const rut = await aReporter();
  const issued = await issue(rut, wishes);
  expect(await rowOf(rut, issued)).toMatchObject({ reportOnly: false });
  await accept();
  expect(await read(rut, issued)).toMatchObject({ cfe_status: 'PENDING', transmission: null });
});

test('in the sandbox too', async () => {
  const rut = await aReporter();
  await giveCertificate(suite.db.orm, rut, { environment: 'sandbox' });
  await giveCae(suite.db.orm, rut, { environment: 'sandbox' });
  const answer = await suite.sandbox.client.post<Answer>(`/enterprises/${rut}/cfes`, aCfeBody(), {
    'x-sandbox-mode': 'true',
  });
  expect(answer.status).toBe(201);
  await accept();
  expect(await suite.db.orm.em.fork().find(Cfe, { rut })).toMatchObject([
    { environment: 'sandbox', reportOnly: true, status: 'ACCEPTED' },
  ]);
});

test('what the gate looks at holds up nothing that is sent, nor waits for it', async () => {
  const rut = await aReporter();
  const small = await issue(rut);
  const sent = await issue(rut, {
    receiver: { receiver_doc_type: 'RUC', receiver_document: '219999830019' },
  });
  // It goes at once, although the small one is not signed yet.
  expect((await rowOf(rut, sent)).sobreId).not.toBeNull();
  const gatekeeper = createGatekeeper({
    orm: suite.db.orm,
    outbox: { scheduleDispatch: () => {} },
    logger: suite.api.deps.logger,
    sendsPerSecond: 5,
    sobreMost: 100,
    acceptReportOnlyCfes: () => accept(),
  });
  await gatekeeper.look();
  await gatekeeper.close();
  expect(await read(rut, small)).toMatchObject({ cfe_status: 'ACCEPTED' });
});

test('a note waits for its original, and is rejected with it', async () => {
  const rut = await aReporter();
  const receiver = { receiver_doc_type: 'RUC', receiver_document: '219999830019' };
  const [good, bad] = [await issue(rut, { receiver }), await issue(rut, { receiver })];
  const ofGood = await issue(rut, { type: 'ETICKET_NC', reference: good.cfe_id, net: 10 });
  const ofBad = await issue(rut, { type: 'ETICKET_NC', reference: bad.cfe_id, net: 10 });
  await accept();
  expect(await read(rut, ofGood)).toMatchObject({ cfe_status: 'PENDING', transmission: null });
  await signWaitingCfes({ ...signing(), clock: () => new Date(Date.now() + 5_000) });
  expect(await read(rut, ofGood)).toMatchObject({ cfe_status: 'PENDING', transmission: 'REPORT_ONLY' });

  await decideCfe({ orm: suite.db.orm }, (await rowOf(rut, good)).id, { status: 'ACCEPTED' });
  await decideCfe({ orm: suite.db.orm }, (await rowOf(rut, bad)).id, { status: 'REJECTED' });
  await accept();

  expect(await read(rut, good)).toMatchObject({ cfe_status: 'ACCEPTED', transmission: 'SENT' });
  expect(await read(rut, ofGood)).toMatchObject({ cfe_status: 'ACCEPTED', transmission: 'REPORT_ONLY' });
  expect(await read(rut, ofBad)).toMatchObject({
    cfe_status: 'REJECTED',
    transmission: null,
    rejection: [{ code: 'reference.rejected' }],
  });
});

test('a note that is sent names an original that the authority does not know in its reason', async () => {
  const rut = await aReporter();
  const original = await issue(rut);
  const small = await issue(rut, { type: 'ETICKET_NC', reference: original.cfe_id, net: 10 });
  const note = await issue(rut, {
    type: 'ETICKET_ND',
    reference: original.cfe_id,
    receiver: { receiver_doc_type: 'RUC', receiver_document: '219999830019' },
    extra: { reference_reason: 'r'.repeat(90) },
  });
  expect((await rowOf(rut, note)).held).toBe(true);
  const zone = /<Referencia>.*<\/Referencia>/s.exec(await documentOf(rut, note))?.[0] ?? '';
  const reason = /<RazonRef>(.*)<\/RazonRef>/.exec(zone)?.[1] ?? '';
  expect(zone).toContain('<IndGlobal>1</IndGlobal>');
  expect(zone).not.toMatch(/TpoDocRef|NroCFERef|MntCFEref|TpoMonedaRef/);
  expect(reason).toMatch(new RegExp(`^e-Ticket A ${original.numero}: r+$`));
  expect(reason).toHaveLength(90);
  // One that is only reported as well names it as usual.
  expect(await documentOf(rut, small)).toContain(`<NroCFERef>${original.numero}</NroCFERef>`);
});

test('one that cannot be signed waits for support, which retries it; nothing is ever sent', async () => {
  const rut = await aReporter();
  const issued = await issue(rut);
  await accept(false);
  const [sobre] = await sobresOf(rut);
  expect(await rowOf(rut, issued)).toMatchObject({ status: 'PENDING', sobreId: sobre?.id });
  const id = sobre?.id ?? '';
  expect(await take(signing(false), id)).toMatchObject({ kind: 'stuck', step: 'sign' });
  expect(await rowOf(rut, issued)).toMatchObject({ stuckReason: 'signing' });
  await suite.db.orm.em.fork().nativeUpdate(Cfe, { sobreId: id }, { stuckReason: null });

  // Any call to the authority would fail the attempt.
  expect(await take(signing(), id)).toMatchObject({
    kind: 'ended',
    endings: { [issued.cfe_id]: 'ACCEPTED' },
  });
  expect(await read(rut, issued)).toMatchObject({ cfe_status: 'ACCEPTED', transmission: 'REPORT_ONLY' });
  expect(await sobresOf(rut)).toMatchObject([{ state: 'DISSOLVED', sendingAt: null, idemisor: null }]);
});

test('the field says SEND at first, comes back, and takes no other value', async () => {
  const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);
  const path = `/enterprises/${rut}`;
  expect((await suite.owner.client.get(path)).data).toMatchObject({ small_tickets: 'SEND' });
  expect((await suite.owner.client.put(path, { small_tickets: 'NEVER' })).status).toBe(400);
  expect((await suite.owner.client.put(path, { small_tickets: null })).status).toBe(400);
  await issue(rut);
  expect(await suite.db.orm.em.fork().findOneOrFail(Enterprise, { rut })).toMatchObject({
    smallTickets: 'SEND',
  });
  expect(await suite.db.orm.em.fork().find(Cfe, { rut })).toMatchObject([{ reportOnly: false }]);
});

test('one that cannot be stored holds up no other', async () => {
  const rut = await aReporter();
  const [broken, fine, after] = [await issue(rut), await issue(rut), await issue(rut)];
  const { numero } = broken;
  const deps = takeDeps(suite.db.orm, {
    signDocument: (document) => ({
      xml: '<CFE/>',
      // The check of the table refuses it, as any fault of one row.
      digest:
        document.issuer.rut === rut && document.numero === numero ? (null as unknown as string) : 'eA==',
    }),
  });

  await expect(acceptReportOnlyCfes(deps)).rejects.toThrow();

  expect(await read(rut, broken)).toMatchObject({ cfe_status: 'PENDING' });
  expect(await read(rut, fine)).toMatchObject({ cfe_status: 'ACCEPTED' });
  expect(await read(rut, after)).toMatchObject({ cfe_status: 'ACCEPTED' });
  await accept();
  expect(await read(rut, broken)).toMatchObject({ cfe_status: 'ACCEPTED' });
});
