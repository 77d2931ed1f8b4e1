import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../../src/commands/authority/addAuthorityCertificates.ts';
import { listAttemptsOfCfe, readLastCall, storeAttempts } from '../../../src/db/authority/attempts.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { purgeExpiredRows } from '../../../src/db/operations/purge.ts';
import type { AuthorityCallRecord } from '../../../src/domain/authority/attempt.ts';
import { firstIdemisor } from '../../../src/domain/authority/sobre.ts';
import { formatCfeId } from '../../../src/domain/receipts/cfeId.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { RETENTION } from '../../support/database/retention.ts';
import {
  AUTHORITY_RUT,
  ackCfe,
  ackSobre,
  authorityKeys,
  credentialsOf,
  exception,
  fault,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { answers, aServer } from '../../support/dgi/aServer.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aRut } from '../../support/receipts/papers.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { authorityActivities } from '../../support/temporal/authorityActivities.ts';

const RUT = aRut();
const CREDENTIALS = credentialsOf(RUT);
const AS = () => soapAnswer('EFACRECEPCIONSOBRE', ackSobre({ rut: RUT, idemisor: String(idemisor) }));
const asked = (document: string) => soapAnswer('EFACCONSULTARESTADOENVIO', document);

let db: TestDatabase;
let accountId: string;
let authority: Awaited<ReturnType<typeof aServer>>;
let cfe: Cfe;
let sobreId: string;
let idemisor = 0;
let now = new Date('2026-11-20T12:00:00Z');

beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  authority = await aServer();
  accountId = await anAccount(db.orm);
  await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }], values: { rut: RUT } });
  const certificate = Buffer.from(CREDENTIALS.certificateDer);
  await db.orm.em.fork().nativeUpdate(Certificate, { rut: RUT }, { certificate });
  await addAuthorityCertificates(
    {
      orm: db.orm,
      clock: () => now,
      outbox: idleOutbox,
      authorityRuts: { production: AUTHORITY_RUT, sandbox: '219999830019' },
    },
    { pem: authorityKeys().certificate.toString() },
  );
});
afterAll(async () => {
  await authority.stop();
  await db[Symbol.asyncDispose]();
});
/** A sobre of one signed CFE, which is not written yet. */
beforeEach(async () => {
  await db.orm.em
    .fork()
    .execute(
      'update authority_endpoint set failures = 0, open_since = null, next_probe_at = null, probes = 0',
    );
  const [last] = await db.orm.em
    .fork()
    .execute<{ last: string }[]>('select last from sobre_sequence where rut = ?', [RUT]);
  [cfe] = (await givePendingCfes(db.orm, { accountId, rut: RUT, count: 1, from: now })) as [Cfe];
  // The first sobre of an enterprise has the day's number; one number is left out before each (pendingCfes.ts).
  idemisor = (Number(last?.last ?? 0) || Number(firstIdemisor(montevideoDate(new Date()))) - 1) + 2;
  await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { signedXml: '<CFE/>', digest: 'eA==' });
  sobreId = await aSobreOf(db.orm, [cfe], { now });
});

const activities = () =>
  authorityActivities({
    orm: db.worker,
    url: authority.url,
    credentials: CREDENTIALS,
    clock: () => now,
    breakersClock: () => now,
    pollLongestSeconds: 60,
  });
const take = () => asActivity(() => activities().takeToVerdict(sobreId));
/** Takes the sobre, and answers every question so; the first takes it so long that the next is a while off. */
const takes = (then: string) => {
  let isFirst = true;
  authority.behaves((response, request) => {
    const isSend = String(request.headers['soapaction']).includes('EFACRECEPCIONSOBRE');
    if (!isSend && isFirst) {
      now = new Date(now.getTime() + 10_000);
      isFirst = false;
    }
    answers(isSend ? AS() : then)(response, request);
  });
};
const kept = () => listAttemptsOfCfe(db.orm.em.fork(), cfe.id);
const receipt = () => `<TipoCFE>101</TipoCFE><Serie>A</Serie><NroCFE>${cfe.numero}</NroCFE>`;

describe('what was said to the authority for a CFE', () => {
  test('each call is kept with its time, duration, code, words and what was sent and answered; no signature, no key', async () => {
    const sentAt = now;
    const verdict = asked(ackCfe({ rut: RUT, receipt: receipt(), state: 'BE', codes: ['E05'] }));
    takes(verdict);
    expect(await take()).toEqual({
      kind: 'ended',
      endings: { [formatCfeId(cfe)]: 'REJECTED' },
      codes: ['E05'],
    });

    const attempts = await kept();
    expect(attempts).toMatchObject([
      { operation: 'sendSobre', answer: 'AS', result: 'received', count: 1, reasons: [], firstAt: sentAt },
      {
        operation: 'askVerdict',
        answer: 'BE',
        result: 'answered',
        count: 1,
        reasons: [{ code: 'E05', message: 'Palabras de E05', detail: 'detalle' }],
        nextAt: null,
      },
    ]);
    expect(attempts.every(({ firstMilliseconds }) => firstMilliseconds >= 0)).toBe(true);
    const asking = await readLastCall(db.orm.em.fork(), cfe.id, { operation: 'askVerdict', answer: 'BE' });
    expect(asking?.response).toBe(verdict);
    expect(asking?.request).toContain('<IdReceptor>4242</IdReceptor>');
    const sending = await readLastCall(db.orm.em.fork(), cfe.id, { operation: 'sendSobre', answer: 'AS' });
    expect(sending).toMatchObject({ request: null, response: AS() });
    expect(asking?.request).not.toMatch(/Security|Signature|Certificate/);
  });

  test('a question that is answered the same thirty times is one row: the first, the last, how often, and the next', async () => {
    takes(asked(exception(105)));
    const began = now;
    for (let n = 0; n < 30; n += 1) {
      await expect(take()).rejects.toMatchObject({ type: 'NotYet' });
      now = new Date(now.getTime() + 100);
    }
    const lastAt = new Date(now.getTime() - 100);

    expect(await kept()).toMatchObject([
      { operation: 'sendSobre' },
      {
        operation: 'askVerdict',
        answer: 'code 105',
        count: 30,
        firstAt: began,
        lastAt,
        nextAt: new Date(lastAt.getTime() + 10_000),
        reasons: [{ code: '105', message: 'd' }],
      },
    ]);
  });

  test('faults and lost connections are told apart; what the breaker holds back is no call', async () => {
    authority.behaves(answers(fault('Internal Error'), { status: 500 }));
    await expect(take()).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
    authority.behaves((response) => response.destroy());
    now = new Date(now.getTime() + 1_000);
    for (let n = 0; n < 8; n += 1) await take().catch(() => undefined);

    const attempts = await kept();
    expect(attempts).toMatchObject([
      {
        operation: 'sendSobre',
        answer: 'fault',
        detail: 'SOAP fault, HTTP 500',
        reasons: [{ code: 'HTTP 500', message: 'Internal Error' }],
      },
      { operation: 'findSobre', answer: 'no answer' },
    ]);
    // Five failures open the breaker; of the reception the first was one, the rest asked the consultation.
    expect(attempts[1]?.count).toBeLessThanOrEqual(5);
  });

  test('several that store at once lose none', async () => {
    const attempt: AuthorityCallRecord = {
      operation: 'findCfe',
      answer: 'not found',
      result: 'absent',
      at: now,
      milliseconds: 3,
      detail: null,
      reasons: [{ code: 'x', message: 'a\0b'.repeat(1_000), detail: null }],
      request: '<x/>',
      response: Buffer.alloc(100_000, '<'),
    };
    await Promise.all(
      Array.from({ length: 20 }, () => storeAttempts(db.orm.em.fork(), cfe.id, [attempt, attempt], null)),
    );

    expect(await kept()).toMatchObject([{ count: 40 }]);
    const exchange = await readLastCall(db.orm.em.fork(), cfe.id, attempt);
    expect(exchange?.response).toHaveLength(64 * 1024);
  });

  test('a call that cannot be stored fails no step', async () => {
    takes(asked(exception(105)));
    await expect(take()).rejects.toMatchObject({ type: 'NotYet' });
    await db.asOwner('alter table authority_attempt rename to elsewhere');
    try {
      await expect(take()).rejects.toMatchObject({ type: 'NotYet' });
    } finally {
      await db.asOwner('alter table elsewhere rename to authority_attempt');
    }
  });

  test('they go with the other attempts when their time is over', async () => {
    takes(asked(exception(105)));
    await expect(take()).rejects.toMatchObject({ type: 'NotYet' });
    const purge = (days: number) =>
      purgeExpiredRows(db.worker, {
        now: new Date(now.getTime() + days * 86_400_000),
        retention: RETENTION,
        batch: 10,
      });
    await purge(RETENTION.attemptsDays - 1);
    expect(await kept()).toHaveLength(2);
    await purge(RETENTION.attemptsDays + 1);
    expect(await kept()).toHaveLength(0);
  });
});
