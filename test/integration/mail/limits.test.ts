import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createAttemptMail } from '../../../src/activities/mail/attemptMail.ts';
import { resendMail, sendMail } from '../../../src/commands/mail/mails.ts';
import { setRateLimit } from '../../../src/commands/people/accounts.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import type { Mail } from '../../../src/db/entities/mail.ts';
import type { Cfe } from '../../../src/db/entities/receipts.ts';
import { findMail, insertMail, listMailAttempts } from '../../../src/db/mail/mails.ts';
import {
  MAILS_TO_ONE_MAILBOX,
  MAILS_TO_ONE_MAILBOX_ASSURED,
  type MailKind,
} from '../../../src/domain/mail/mail.ts';
import { createMailer } from '../../../src/mail/smtp.ts';
import { createDeliverySlots } from '../../../src/webhooks/slots.ts';
import { eventsOf, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aMailServer, type TestMailServer } from '../../support/mail/mailServer.ts';
import { anIssuer, giveCfes } from '../../support/mail/receipts.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const SENT_NOW = { status: 'SENT', error: null };
/** Noon in Montevideo: its day ends twelve hours later. */
const NOON = Date.parse('2026-11-20T15:00:00Z');
const DAY = 86_400_000;

let db: TestDatabase;
let server: TestMailServer;
let now = NOON;
beforeAll(async () => {
  [db, server] = await Promise.all([cloneDatabase(), aMailServer()]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const clock = () => new Date(now);
const commands = () => ({ orm: db.orm, clock, outbox: idleOutbox });

/** An account that may make so many requests an hour, and CFEs of its enterprise that were accepted. */
async function anAccountOf(perHour: number) {
  const issuer = await anIssuer(db.orm);
  await setRateLimit(commands(), { accountId: issuer.accountId, environment: 'production', perHour });
  const cfes = await giveCfes(db.orm, issuer, { status: 'ACCEPTED', count: 9 });
  return { ...issuer, cfes, cfe: cfes[0] as Cfe };
}

/** An e-mail that followed from the verdict, or the sobre. */
const anAutomatic = (cfe: Cfe, destination: string, kind: MailKind = 'RECEIPT'): Promise<Mail> =>
  db.orm.em
    .fork()
    .transactional(async (em) => insertMail(em, cfe, { kind, destination, byHand: false }, clock()));

/** One attempt of the schedule, which has so many more; how the e-mail stands then. */
async function attempted({ id }: Pick<Mail, 'id'>, retriesLeft = 7) {
  const content = { fromName: 'Uno', replyTo: null, subject: 's', text: 't', attachments: [] };
  const attempt = createAttemptMail({
    orm: db.orm,
    clock,
    mailer: createMailer({ url: server.url, from: 'comprobantes@cfe.example', mayBeClear: true }),
    slots: createDeliverySlots({ limits: { receiver: 100, account: 100 } }),
    compose: { RECEIPT: async () => content, EXCHANGE: async () => content },
    sandboxMails: [],
  });
  const info = { attempt: 1, activityId: randomUUID(), workflowExecution: { runId: randomUUID() } };
  const context = { info, heartbeat: () => {}, log: { warn: () => {}, error: () => {} } };
  await asyncLocalStorage.run(context as unknown as Context, () => attempt({ mailId: id, retriesLeft }));
  return db.orm.em.fork().transactional(async (em) => await findMail(em, id));
}
const errorsOf = async ({ id }: Pick<Mail, 'id'>) =>
  (await listMailAttempts(db.orm.em.fork(), id)).map(({ error }) => error);

describe('e-mails that nobody asked for', () => {
  test('one mailbox gets so many of an account in a day; the rest waits by its schedule, and the next day goes', async () => {
    const { cfe } = await anAccountOf(10);
    const to = ['buzon@cliente.example', 'Buzon@Cliente.example', 'buzon+otro@cliente.example'];
    const [first, second, third] = (await Promise.all(to.map((one) => anAutomatic(cfe, one)))) as [
      Mail,
      Mail,
      Mail,
    ];

    expect(await attempted(first)).toMatchObject(SENT_NOW);
    expect(await attempted(second)).toMatchObject(SENT_NOW);
    expect(await attempted(third)).toMatchObject({ status: 'PENDING', error: 'mailbox_limit' });
    expect(await attempted(await anAutomatic(cfe, 'otro@cliente.example'))).toMatchObject(SENT_NOW);

    now += DAY;
    expect(await attempted(third)).toMatchObject(SENT_NOW);
    now = NOON;
  });

  test('given up at the end of its schedule: FAILED with the reason, and told', async () => {
    const { cfe, rut, accountId } = await anAccountOf(1);
    await addWebhook(webhookDeps(db.orm), {
      accountId,
      url: 'https://a.example/',
      events: ['receipt.failed'],
    });
    expect(await attempted(await anAutomatic(cfe, 'uno@cliente.example'))).toMatchObject(SENT_NOW);
    const mail = await anAutomatic(cfe, 'uno@cliente.example');

    await attempted(mail);
    expect(await attempted(mail, 0)).toMatchObject({ status: 'FAILED', error: 'mailbox_limit' });

    expect(await errorsOf(mail)).toEqual(['mailbox_limit', 'mailbox_limit']);
    expect(await eventsOf(db.orm, rut)).toMatchObject([
      { event: 'receipt.failed', data: { mail_id: mail.id } },
    ]);
  });

  test('of twelve at once, with room for two, exactly two go, and count once however often they are tried', async () => {
    const { cfe } = await anAccountOf(10);
    const to = 'juntos@cliente.example';
    server.answers(to, 450, 2);
    const mails = await Promise.all(Array.from({ length: 12 }, () => anAutomatic(cfe, to)));

    const after = await Promise.all(mails.map((mail) => attempted(mail)));
    expect(after.filter((mail) => mail?.error === 'refused')).toHaveLength(2);
    expect(after.filter((mail) => mail?.error === 'mailbox_limit')).toHaveLength(10);

    const again = await Promise.all(mails.map((mail) => attempted(mail)));
    expect(again.filter((mail) => mail?.status === 'SENT')).toHaveLength(2);
    expect(server.idsTo(to)).toHaveLength(2);
  });

  test('an account sends so many in a day, to whomever', async () => {
    const { cfe } = await anAccountOf(1);
    const mails = await Promise.all(
      Array.from({ length: 7 }, (_, n) => anAutomatic(cfe, `cliente${n}@todos.example`)),
    );

    const after = await Promise.all(mails.map((mail) => attempted(mail)));

    expect(after.filter((mail) => mail?.status === 'SENT')).toHaveLength(5);
    expect(after.find((mail) => mail?.status === 'PENDING')).toMatchObject({ error: 'account_limit' });
  });

  test('one mailbox gets so many of all accounts together, but the first ones of an account are not refused for it', async () => {
    const [one, other] = [await anAccountOf(1_000), await anAccountOf(1_000)];
    const to = 'fama@cliente.example';
    await db.orm.em
      .fork()
      .execute(
        `insert into daily_count (counter, day, count) values (?, '2026-11-20', ?), (?, '2026-11-20', ?)`,
        [
          `e-mails to ${to}`,
          MAILS_TO_ONE_MAILBOX,
          `e-mails to ${to} of ${one.accountId}`,
          MAILS_TO_ONE_MAILBOX_ASSURED,
        ],
      );

    expect(await attempted(await anAutomatic(one.cfe, to))).toMatchObject({ error: 'mailbox_limit' });
    expect(await attempted(await anAutomatic(other.cfe, to))).toMatchObject(SENT_NOW);
  });

  test('sobres go to one receiver by the thousand: as many as the account can issue in a day, beside its e-mails', async () => {
    const { cfe } = await anAccountOf(1);
    const sobres = await Promise.all(
      Array.from({ length: 25 }, () => anAutomatic(cfe, 'cfe@grande.example', 'EXCHANGE')),
    );

    const after = await Promise.all(sobres.map((mail) => attempted(mail)));

    expect(after.filter((mail) => mail?.status === 'SENT')).toHaveLength(24);
    expect(after.find((mail) => mail?.status === 'PENDING')).toMatchObject({ error: 'account_limit' });
    expect(await attempted(await anAutomatic(cfe, 'compras@grande.example'))).toMatchObject(SENT_NOW);
  });
});

describe('e-mails by hand', () => {
  const limited = { code: 'RATE_LIMITED', retryAfterSeconds: 12 * 3_600 };
  const send = (issuer: { accountId: string }, of: Cfe, destination: string) =>
    sendMail(commands(), { accountId: issuer.accountId, cfeUuid: of.id, destination });
  const resend = (mail: Pick<Mail, 'id'>, by: 'member' | 'operator' | 'command line' = 'member') =>
    resendMail(commands(), { mailId: mail.id, by });
  const refusals = async (asked: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));

  test('to one mailbox, with whichever CFE: at once, with room for two, two are taken', async () => {
    const issuer = await anAccountOf(10);

    const refused = await refusals(
      issuer.cfes.slice(1).map((one) => send(issuer, one, 'victima@vecino.example')),
    );

    expect(refused).toHaveLength(6);
    for (const error of refused)
      expect(error).toMatchObject({
        ...limited,
        message: 'This mailbox has received the maximum number of e-mails for today; try again tomorrow.',
      });
    await expect(send(issuer, issuer.cfe, 'victima+1@vecino.example')).rejects.toMatchObject(limited);
    now += DAY;
    await expect(send(issuer, issuer.cfe, 'victima@vecino.example')).resolves.toBeDefined();
    now = NOON;
  });

  test('of one account: as many as of those that nobody asked for, together', async () => {
    const issuer = await anAccountOf(1);
    for (let n = 0; n < 4; n += 1) await attempted(await anAutomatic(issuer.cfe, `auto${n}@cliente.example`));

    await send(issuer, issuer.cfe, 'mano@cliente.example');
    await expect(send(issuer, issuer.cfe, 'mas@cliente.example')).rejects.toMatchObject({
      ...limited,
      message: 'The account has sent 5 e-mails today, the maximum; try again tomorrow.',
    });
  });

  test.each(['RECEIPT', 'EXCHANGE'] as const)(
    'what is %s and SENT, again and again in the console: ten times a CFE and day, then 429',
    async (kind) => {
      const { cfe } = await anAccountOf(1_000);
      const mail = await anAutomatic(cfe, `otra-${kind}@vecino.example`, kind);
      await attempted(mail);

      const refused = await refusals(Array.from({ length: 14 }, () => resend(mail)));

      expect(refused).toHaveLength(4);
      for (const error of refused) expect(error).toMatchObject(limited);
      await expect(resend(mail, 'operator')).rejects.toMatchObject(limited);
      await expect(resend(mail, 'command line')).resolves.toMatchObject({ status: 'PENDING' });
      expect(await attempted(mail)).toMatchObject(SENT_NOW);
    },
  );

  test('they count for the account that asks, and take half of what it may send', async () => {
    const [owner, guest] = [await anAccountOf(1), await anAccountOf(1)];
    for (let n = 0; n < 3; n += 1) await send(guest, owner.cfe, `ajeno${n}@cliente.example`);

    await expect(send(guest, owner.cfe, 'ajeno3@cliente.example')).rejects.toMatchObject({
      ...limited,
      message: 'The account has sent 3 e-mails on request today, the maximum; try again tomorrow.',
    });

    const mail = await anAutomatic(owner.cfe, 'propio@cliente.example');
    await attempted(mail);
    await expect(
      resendMail(commands(), { mailId: mail.id, by: 'member', accountId: guest.accountId }),
    ).rejects.toMatchObject(limited);
    for (let n = 1; n < 5; n += 1)
      expect(await attempted(await anAutomatic(owner.cfe, `propio${n}@cliente.example`))).toMatchObject(
        SENT_NOW,
      );
  });

  test('sobres sent again count for the mailbox of the receiver', async () => {
    const { cfe } = await anAccountOf(10);
    const sobre = await anAutomatic(cfe, 'cfe@receptor.example', 'EXCHANGE');
    await attempted(sobre);

    await resend(sobre);
    await resend(sobre);
    await expect(resend(sobre)).rejects.toMatchObject(limited);
  });

  test('what was counted as it was asked for is not counted again as it goes', async () => {
    const issuer = await anAccountOf(1);
    const mail = await send(issuer, issuer.cfe, 'una@cliente.example');

    expect(await attempted(mail)).toMatchObject(SENT_NOW);
  });

  test('an address that refused an e-mail for good gets no more of that account, until an operator sends one again', async () => {
    const [issuer, other] = [await anAccountOf(1_000), await anAccountOf(1_000)];
    const to = 'Nadie@cliente.example';
    server.answers(to, 550, 1);
    const bounced = await anAutomatic(issuer.cfe, to);
    expect(await attempted(bounced)).toMatchObject({ status: 'FAILED', error: 'refused' });

    const next = await anAutomatic(issuer.cfe, 'nadie@cliente.example');
    expect(await attempted(next)).toMatchObject({ status: 'FAILED', error: 'bounced' });
    expect(server.idsTo(to)).toEqual([]);
    const refused = { code: 'INVALID_INPUT', faults: [{ path: '/destination', code: 'mail.bounced' }] };
    await expect(send(issuer, issuer.cfe, to)).rejects.toMatchObject(refused);
    await expect(resend(next)).rejects.toMatchObject(refused);
    expect(await attempted(await anAutomatic(other.cfe, to))).toMatchObject(SENT_NOW);
    const sobre = await anAutomatic(issuer.cfe, to, 'EXCHANGE');
    expect(await attempted(sobre)).toMatchObject(SENT_NOW);

    await resend(bounced, 'operator');

    expect(await attempted(bounced)).toMatchObject(SENT_NOW);
    expect(await attempted(await anAutomatic(issuer.cfe, to))).toMatchObject(SENT_NOW);
    await expect(send(issuer, issuer.cfe, to)).resolves.toBeDefined();
  });
});
