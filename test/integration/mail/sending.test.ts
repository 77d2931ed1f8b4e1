import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type AttemptMailDeps, createAttemptMail } from '../../../src/activities/mail/attemptMail.ts';
import { composeReceipt } from '../../../src/activities/mail/composeReceipt.ts';
import type { StoredMailAttempt } from '../../../src/activities/mail/storeMailAttempt.ts';
import { resendMail, sendMail } from '../../../src/commands/mail/mails.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import type { Mail } from '../../../src/db/entities/mail.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Event } from '../../../src/db/entities/webhooks.ts';
import { findMail, insertMail, listMailAttempts } from '../../../src/db/mail/mails.ts';
import { createMailer, type SmtpSettings } from '../../../src/mail/smtp.ts';
import { createDispatcher } from '../../../src/outbox/dispatcher.ts';
import { createDeliverySlots } from '../../../src/webhooks/slots.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aMailServer, type TestMailServer } from '../../support/mail/mailServer.ts';
import { anIssuer, giveCfes } from '../../support/mail/receipts.ts';
import { inspectEvent } from '../../support/openapi/conformance.ts';
import { historyOf, openTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { until } from '../../support/until.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const FROM = 'comprobantes@cfe.example';
const PUBLIC_URL = 'https://facturas.example';
/** Stands for the printed form, which other tests look at. */
const draw = async (): Promise<Uint8Array> => Buffer.from('%PDF-1.7 drawn');

let db: TestDatabase;
let temporal: TestTemporal;
let server: TestMailServer;
let issuer: Awaited<ReturnType<typeof anIssuer>>;
let cfe: Cfe;
beforeAll(async () => {
  [db, temporal, server] = await Promise.all([
    cloneDatabase({ worker: true }),
    openTemporal('mail'),
    aMailServer(),
  ]);
  issuer = await anIssuer(db.orm);
  const { accountId } = issuer;
  const events = ['receipt.delivered', 'receipt.failed'];
  await addWebhook(webhookDeps(db.orm), { accountId, url: 'https://a.example/', events });
  [cfe] = (await giveCfes(db.orm, issuer, { status: 'ACCEPTED' })) as [Cfe];
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await temporal[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const stored: StoredMailAttempt[] = [];
const smtp = (more: Partial<SmtpSettings> = {}): SmtpSettings => ({
  url: server.url,
  from: FROM,
  mayBeClear: true,
  ...more,
});
const deps = (more: Partial<AttemptMailDeps> = {}): AttemptMailDeps => ({
  orm: db.worker,
  clock: () => new Date(),
  mailer: createMailer(smtp()),
  slots: createDeliverySlots({ limits: { receiver: 3, account: 5 } }),
  compose: { RECEIPT: composeReceipt({ draw, publicUrl: PUBLIC_URL }) },
  sandboxMails: [],
  onAttempt: (attempt) => stored.push(attempt),
  ...more,
});
const commands = () => ({ orm: db.orm, clock: () => new Date(), outbox: idleOutbox });

/** An e-mail of a CFE to an address, on its way. */
async function aMail(destination: string, of: Cfe = cfe): Promise<Mail> {
  return db.orm.em
    .fork()
    .transactional(async (em) =>
      insertMail(em, of, { kind: 'RECEIPT', destination, byHand: false }, new Date()),
    );
}

/** Lets what waits in the outbox go, with pauses of milliseconds in place of minutes and hours. */
async function dispatch(delays: readonly number[] = [20, 20, 20]): Promise<void> {
  const em = db.orm.em.fork();
  await em.execute(
    `update outbox set input = jsonb_set(input, '{delays}', ?::jsonb)
     where workflow = 'deliverReceipt' and dispatched_at is null`,
    [JSON.stringify(delays)],
  );
  await em.execute(`delete from outbox where workflow <> 'deliverReceipt'`);
  const { address, namespace } = temporal;
  const logger = pino({ level: 'silent' });
  const outbox = createDispatcher({ orm: db.worker, temporal: { address }, namespace, logger });
  outbox.scheduleDispatch();
  await until('no e-mail in the outbox', 30, async () => {
    const [row] = await em.execute<{ n: number }[]>(
      `select count(*)::integer as n from outbox where dispatched_at is null and workflow = 'deliverReceipt'`,
    );
    return row?.n === 0 || undefined;
  });
  await outbox.close();
}

const ended = (id: string) =>
  until(`the end of e-mail ${id}`, 60, async () => {
    const em = db.orm.em.fork();
    const mail = await findMail(em, id);
    if (!mail || mail.status === 'PENDING') return undefined;
    return { mail, attempts: await listMailAttempts(em, id) };
  });

/** Sends an e-mail through its workflow; how it ended. */
const sent = ({ id }: Mail, more: Partial<AttemptMailDeps> = {}) =>
  temporal.withWorkers({ attemptMail: createAttemptMail(deps(more)) }, async () => {
    await dispatch();
    return ended(id);
  });

const eventsAbout = async ({ id }: Mail): Promise<unknown[]> => {
  const events = await db.orm.em.fork().find(Event, { name: ['receipt.delivered', 'receipt.failed'] });
  return events
    .map(({ body }) => JSON.parse(body) as { data: { mail_id: string } })
    .filter(({ data }) => data.mail_id === id);
};

test('a receipt arrives: from the enterprise, answers to it, told in plain text and HTML, with PDF, XML and link', async () => {
  const to = 'compras@cliente.example';
  const mail = await aMail(to);

  const { mail: after, attempts } = await sent(mail);

  expect(after).toMatchObject({ status: 'SENT', attempts: 1, messageId: `${mail.id}@cfe.example` });
  expect(attempts).toMatchObject([{ number: 1, smtpCode: 250, error: null }]);
  expect(server.idsTo(to)).toEqual([`${mail.id}@cfe.example`]);
  const read = await server.read(`${mail.id}@cfe.example`);
  expect(read.from).toEqual({ name: 'Empresa & Cía. "Ñandú" S.A.', address: FROM });
  expect(read.replyTo).toEqual([{ name: '', address: 'ventas@empresa.example' }]);
  expect(read.to).toEqual([{ name: '', address: to }]);
  expect(read.subject).toBe(`e-Ticket A ${cfe.numero} de Empresa & Cía. "Ñandú" S.A.`);
  expect(new Date(read.date ?? 0).getTime()).toBe(Math.floor(mail.createdAt.getTime() / 1_000) * 1_000);
  const url = `${PUBLIC_URL}/r/${cfe.receiptToken}`;
  expect(read.text).toContain(
    `Empresa & Cía. "Ñandú" S.A. le envía el comprobante e-Ticket A ${cfe.numero} del 20/11/2026 por UYU 1.220,00.`,
  );
  expect(read.text).toContain(url);
  expect(read.text).toContain('su respuesta llega a ventas@empresa.example');
  expect(read.html).toContain('Empresa &amp; Cía. &quot;Ñandú&quot; S.A. le envía el comprobante');
  expect(read.html).toContain(`<a href="${url}">`);
  expect(read.html).toContain('lang="es-UY"');
  const name = `${issuer.rut}-101-A-${cfe.numero}`;
  expect(
    read.attachments.map(({ filename, mimeType, content }) => [
      filename,
      mimeType,
      Buffer.from(content as ArrayBuffer).toString('utf8'),
    ]),
  ).toEqual([
    [`${name}.pdf`, 'application/pdf', '%PDF-1.7 drawn'],
    [`${name}.xml`, 'application/xml', cfe.signedXml],
  ]);
  expect(await eventsAbout(mail)).toMatchObject([
    {
      event: 'receipt.delivered',
      data: {
        enterprise_rut: issuer.rut,
        environment: 'production',
        cfe_id: `101-${cfe.sequence}`,
        mail_id: mail.id,
        kind: 'RECEIPT',
        status: 'SENT',
      },
    },
  ]);
  for (const event of await eventsAbout(mail)) inspectEvent({ body: JSON.stringify(event) });
});

test('450 twice, then 250: sent at the third attempt', async () => {
  const to = 'lleno@cliente.example';
  server.answers(to, 450, 2);
  const mail = await aMail(to);

  const { mail: after, attempts } = await sent(mail);

  expect(after).toMatchObject({ status: 'SENT', attempts: 3 });
  expect(attempts.map(({ smtpCode, error }) => [smtpCode, error])).toEqual([
    [450, 'refused'],
    [450, 'refused'],
    [250, null],
  ]);
  expect(server.idsTo(to)).toEqual([`${mail.id}@cfe.example`]);
});

test('450 for ever: given up after the last retry, and told', async () => {
  const to = 'siempre-lleno@cliente.example';
  server.answers(to, 450);
  const mail = await aMail(to);

  const { mail: after, attempts } = await sent(mail);

  expect(after).toMatchObject({ status: 'FAILED', attempts: 4 });
  expect(attempts).toHaveLength(4);
  expect(await eventsAbout(mail)).toMatchObject([{ event: 'receipt.failed', data: { status: 'FAILED' } }]);
});

test('550: failed at once, listed with the server’s words; once the mailbox is there, sent again by hand', async () => {
  const to = 'nadie@cliente.example';
  server.answers(to, 550, 1);
  const mail = await aMail(to);

  const { mail: after, attempts } = await sent(mail);

  expect(after).toMatchObject({ status: 'FAILED', attempts: 1 });
  expect(attempts).toMatchObject([{ smtpCode: 550, error: 'refused', answer: '550 no such mailbox' }]);

  await resendMail(commands(), { mailId: mail.id, by: 'operator' });
  expect((await sent(mail)).mail).toMatchObject({ status: 'SENT', attempts: 2 });
  expect(server.idsTo(to)).toEqual([`${mail.id}@cfe.example`]);
});

test('a connection that drops after DATA: sent again, at least once, under one Message-ID and with the same bytes', async () => {
  const to = 'corte@cliente.example';
  server.answers(to, 0, 1);
  const mail = await aMail(to);

  const { mail: after, attempts } = await sent(mail);

  expect(after).toMatchObject({ status: 'SENT', attempts: 2 });
  expect(attempts.map(({ smtpCode, error }) => [smtpCode, error])).toEqual([
    [null, 'connection'],
    [250, null],
  ]);
  expect(server.idsTo(to)).toEqual([`${mail.id}@cfe.example`, `${mail.id}@cfe.example`]);
  const [first, second] = server.copies(`${mail.id}@cfe.example`);
  expect(first).toContain('Auto-Submitted: auto-generated');
  expect(second).toBe(first);
});

test('nothing of it in the history: no address, name or amount', async () => {
  const to = 'secreto@cliente.example';
  server.answers(to, 550);
  const mail = await aMail(to);

  await sent(mail);

  const handle = temporal.client.workflow.getHandle(mail.workflowId);
  const { text } = await historyOf(handle);
  expect(text).toContain('retriesLeft');
  expect(text).not.toMatch(/secreto|cliente\.example|Empresa|(?<![\w-])1220(?![\w-])|no such mailbox|<CFE/);
});

test('without a mail server: DISABLED, with no attempt; sent by hand once there is one', async () => {
  const to = 'despues@cliente.example';
  const mail = await aMail(to);

  expect((await sent(mail, { mailer: null })).mail).toMatchObject({ status: 'DISABLED', attempts: 0 });
  await resendMail(commands(), { mailId: mail.id, by: 'operator' });
  expect((await sent(mail)).mail).toMatchObject({ status: 'SENT', attempts: 1 });
});

test('a server that is not there is no bounce: tried again', async () => {
  const mail = await aMail('lejos@cliente.example');

  const { mail: after, attempts } = await sent(mail, {
    mailer: createMailer(smtp({ url: 'smtp://127.0.0.1:1' })),
  });

  expect(after).toMatchObject({ status: 'FAILED', attempts: 4 });
  expect(attempts[0]).toMatchObject({ smtpCode: null, error: 'connection_refused' });
});

test('a receipt that cannot be printed holds no thread for ever: tried again by the schedule, then given up', async () => {
  const mail = await aMail('ilegible@cliente.example');
  let drawn = 0;
  const broken = async (): Promise<never> => {
    drawn += 1;
    throw new Error('a thread took more than 40 s for its task');
  };

  const compose = { RECEIPT: composeReceipt({ draw: broken, publicUrl: PUBLIC_URL }) };
  const { mail: after, attempts } = await sent(mail, { compose });

  expect(after).toMatchObject({ status: 'FAILED', attempts: 4 });
  expect(attempts.map(({ error }) => error)).toEqual(['print', 'print', 'print', 'print']);
  expect(drawn).toBe(4);
  expect(server.idsTo('ilegible@cliente.example')).toEqual([]);
});

test('a CFE that was rejected meanwhile is not sent; nor one of the sandbox to a stranger', async () => {
  const [rejected] = (await giveCfes(db.orm, issuer, { status: 'RECEIVED' })) as [Cfe];
  const [trial] = (await giveCfes(db.orm, issuer, { status: 'ACCEPTED', environment: 'sandbox' })) as [Cfe];
  const first = await aMail('tarde@cliente.example', rejected);
  const second = await aMail('extrano@cliente.example', trial);
  const third = await aMail('Nuestro@estudio.example', trial);
  await db.orm.em
    .fork()
    .nativeUpdate(Cfe, { id: rejected.id }, { status: 'REJECTED', settledAt: new Date() });

  const mine = { sandboxMails: ['nuestro@estudio.example'] };
  expect(await sent(first, mine)).toMatchObject({
    mail: { status: 'FAILED' },
    attempts: [{ error: 'cfe_rejected' }],
  });
  expect(await sent(second, mine)).toMatchObject({
    mail: { status: 'FAILED' },
    attempts: [{ error: 'sandbox' }],
  });
  expect(await eventsAbout(first)).toMatchObject([{ event: 'receipt.failed' }]);
  expect(await eventsAbout(second)).toEqual([]);
  expect(await sent(third, mine)).toMatchObject({ mail: { status: 'SENT' } });

  expect(server.idsTo('tarde@cliente.example')).toEqual([]);
  expect(server.idsTo('extrano@cliente.example')).toEqual([]);
  const read = await server.read(`${third.id}@cfe.example`);
  expect(read.subject).toMatch(/^\[PRUEBA\] e-Ticket/);
  expect(read.text).toMatch(/^PRUEBA: documento sin valor fiscal/);
  expect(read.html).toContain('<strong>PRUEBA: documento sin valor fiscal</strong>');
});

test.each([
  ['a name with line ends', { legalName: 'Uno SA\r\nBcc: todos@example.com' }],
  ['a name that is a list of addresses', { legalName: 'a@example.com, "b" <b@example.com>;' }],
  ['a name of HTML', { legalName: '<img src=x onerror=alert(1)>' }],
])('%s adds no header, no receiver and no markup', async (_, facts) => {
  const before = await db.orm.em.fork().findOneOrFail(Enterprise, { rut: issuer.rut });
  await db.orm.em.fork().nativeUpdate(Enterprise, { rut: issuer.rut }, facts);
  const [named] = (await giveCfes(db.orm, issuer, { status: 'ACCEPTED' })) as [Cfe];
  const document = { ...named.document, issuer: { ...named.document.issuer, ...facts } };
  await db.orm.em.fork().nativeUpdate(Cfe, { id: named.id }, { document });
  const to = 'victima@cliente.example';
  const mail = await aMail(to, named);

  expect((await sent(mail)).mail.status).toBe('SENT');

  const read = await server.read(`${mail.id}@cfe.example`);
  expect(read.to).toEqual([{ name: '', address: to }]);
  expect(read.cc ?? []).toEqual([]);
  expect(read.bcc ?? []).toEqual([]);
  expect(read.from?.address).toBe(FROM);
  expect(read.replyTo).toEqual([{ name: '', address: 'ventas@empresa.example' }]);
  expect(read.headers.filter(({ key }) => key === 'bcc')).toEqual([]);
  expect(read.html).not.toContain('<img');
  expect(server.idsTo('todos@example.com')).toEqual([]);
  const { legalName } = before;
  await db.orm.em.fork().nativeUpdate(Enterprise, { rut: issuer.rut }, { legalName });
});

test('an enterprise has three e-mails in progress at a time, and other accounts go on', async () => {
  const other = await anIssuer(db.orm);
  const [theirs] = (await giveCfes(db.orm, other, { status: 'ACCEPTED' })) as [Cfe];
  let release = (): void => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  let underWay = 0;
  let most = 0;
  const receipt = composeReceipt({ draw, publicUrl: PUBLIC_URL });
  const load = await Promise.all(Array.from({ length: 12 }, (_, n) => aMail(`carga${n}@cliente.example`)));
  const quick = await aMail('rapido@cliente.example', theirs);
  const compose: AttemptMailDeps['compose'] = {
    async RECEIPT(em, mail, of) {
      if (of.rut !== issuer.rut) return receipt(em, mail, of);
      underWay += 1;
      most = Math.max(most, underWay);
      await slow;
      underWay -= 1;
      return receipt(em, mail, of);
    },
  };

  await temporal.withWorkers({ attemptMail: createAttemptMail(deps({ compose })) }, async () => {
    await dispatch();
    expect((await ended(quick.id)).mail.status).toBe('SENT');
    release();
    for (const { id } of load) expect((await ended(id)).mail).toMatchObject({ status: 'SENT', attempts: 1 });
  });

  expect(most).toBe(3);
});

describe('the way to the mail server', () => {
  let bare: Server;
  let said: string[] = [];
  let answer: (line: string, socket: Socket) => string | undefined;
  let url: string;
  beforeAll(async () => {
    // A server that says what a test wants, word by word.
    bare = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('220 hi\r\n');
      socket.on('data', (chunk) => {
        for (const line of chunk.toString('utf8').split('\r\n').filter(Boolean)) {
          said.push(line);
          const words = answer(line, socket);
          if (words !== undefined) socket.write(`${words}\r\n`);
        }
      });
    });
    await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
    url = `127.0.0.1:${(bare.address() as { port: number }).port}`;
  });
  afterAll(() => void bare.close());

  const attempt = async (settings: Partial<SmtpSettings>) => {
    said = [];
    return createMailer(smtp(settings)).send({
      messageId: 'one@cfe.example',
      date: new Date(),
      fromName: 'Uno',
      replyTo: null,
      to: 'a@example.com',
      subject: 's',
      text: 't',
      attachments: [],
    });
  };

  test('without TLS nothing is said but in development', async () => {
    answer = (line) => (line.startsWith('EHLO') ? '250 hi' : '250 ok');

    const outcome = await attempt({ url: `smtp://u:p@${url}`, mayBeClear: false });

    expect(outcome).toMatchObject({ error: expect.stringMatching(/tls|refused|connection/), isFinal: false });
    expect(said.join(' ')).not.toMatch(/AUTH|MAIL FROM/);
  });

  test('a login that is not taken is ours to mend: no bounce', async () => {
    answer = (line) => {
      if (line.startsWith('EHLO')) return '250-hi\r\n250 AUTH PLAIN';
      return line.startsWith('AUTH') ? '535 5.7.8 bad credentials' : '250 ok';
    };

    expect(await attempt({ url: `smtp://u:p%40ss@${url}` })).toMatchObject({
      smtpCode: 535,
      error: 'login',
      isFinal: false,
    });
    expect(said.find((line) => line.startsWith('AUTH PLAIN'))).toBe(
      `AUTH PLAIN ${Buffer.from('\0u\0p@ss').toString('base64')}`,
    );
  });

  test.each([
    ['554 at the greeting of the session', 'EHLO', '554 go away', { smtpCode: 554, isFinal: false }],
    ['550 to our address', 'MAIL FROM', '550 not you', { smtpCode: 550, isFinal: true }],
    ['530 to our address: it wants a login', 'MAIL FROM', '530 log in', { error: 'login', isFinal: false }],
    ['452 to the receiver', 'RCPT TO', '452 later', { smtpCode: 452, isFinal: false }],
    ['552 to the e-mail', 'DATA', '552 too large', { smtpCode: 552, isFinal: true, isBounce: false }],
    ['554 to the e-mail: spam', 'DATA', '554 5.7.1 spam', { isFinal: true, isBounce: false }],
    ['550 5.7.1: a policy', 'RCPT TO', '550 5.7.1 blocked', { isFinal: true, isBounce: false }],
    ['550 5.4.5: a quota', 'RCPT TO', '550 5.4.5 daily limit', { isFinal: true, isBounce: false }],
    ['554 without an enhanced code', 'RCPT TO', '554 no', { isFinal: true, isBounce: false }],
    ['550 5.1.1: no such address', 'RCPT TO', '550 5.1.1 nobody', { isFinal: true, isBounce: true }],
    ['550 5.1.1 in lines', 'RCPT TO', '550-5.1.1 no\r\n550 5.1.1 such', { isFinal: true, isBounce: true }],
    ['550 without an enhanced code', 'RCPT TO', '550 nobody', { isFinal: true, isBounce: true }],
    [
      '503: the session went wrong, not the e-mail',
      'RCPT TO',
      '503 what?',
      { smtpCode: 503, isFinal: false },
    ],
  ])('%s', async (_, at, words, expected) => {
    answer = (line) => {
      if (line.startsWith(at) || (at === 'EHLO' && line.startsWith('HELO'))) return words;
      if (line.startsWith('DATA')) return '354 go on';
      return /^(EHLO|HELO|MAIL|RCPT|QUIT)/.test(line) ? '250 ok' : undefined;
    };

    expect(await attempt({ url: `smtp://${url}` })).toMatchObject(expected);
  });
});

test('e-mails are signed (DKIM) for the domain of our address', async () => {
  const { generateKeyPairSync } = await import('node:crypto');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const mail = await aMail('firma@cliente.example');

  await sent(mail, { mailer: createMailer(smtp({ dkim: { selector: 'cfe2026', privateKey: key } })) });

  const { headers } = await server.read(`${mail.id}@cfe.example`);
  const signature = headers.find(({ key: name }) => name === 'dkim-signature')?.value ?? '';
  expect(signature).toMatch(/d=cfe\.example;/);
  expect(signature).toMatch(/s=cfe2026;/);
  expect(signature).toMatch(/h=[^;]*from[^;]*subject/i);
});

describe('an e-mail by hand', () => {
  const ask = (of: Cfe, clock = () => new Date()) =>
    sendMail(
      { ...commands(), clock },
      { accountId: issuer.accountId, cfeUuid: of.id, destination: 'mano@cliente.example' },
    );

  test('twelve at once: ten are taken; the next day in Montevideo begins anew', async () => {
    const [one] = (await giveCfes(db.orm, issuer, { status: 'ACCEPTED' })) as [Cfe];
    const evening = () => new Date('2026-11-21T02:59:00Z');
    const nextDay = () => new Date('2026-11-21T03:00:00Z');

    const asked = await Promise.allSettled(Array.from({ length: 12 }, () => ask(one, evening)));

    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const refused of asked.filter((each) => each.status === 'rejected'))
      expect(refused.reason).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    expect(await ask(one, nextDay)).toMatchObject({ status: 'PENDING', byHand: true });
  });

  test('those that followed from the verdict do not count', async () => {
    const [one] = (await giveCfes(db.orm, issuer, { status: 'ACCEPTED' })) as [Cfe];
    for (let n = 0; n < 12; n += 1) await aMail(`c${n}@cliente.example`, one);

    expect(await ask(one)).toMatchObject({ status: 'PENDING' });
  });
});
