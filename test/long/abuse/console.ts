import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect } from '@jest/globals';
import { AuditEntry } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { insertMail } from '../../../src/db/mail/mails.ts';
import { MAILS_BY_HAND_A_DAY } from '../../../src/domain/mail/mail.ts';
import { formatCfeId } from '../../../src/domain/receipts/cfeId.ts';
import type { Attack } from '../../support/api/abuse.ts';
import { type Browser, browserOn, formTokenIn } from '../../support/console/console.ts';
import { type ConsoleGround, openConsole } from '../../support/console/consoleAttack.ts';
import { linksOf } from '../../support/print/links.ts';

const site = openConsole();
afterAll(() => site.close());

const BOUNDARY = 'x'.repeat(20);
const FILE_BYTES = 128 * 1024;
const emptyPart = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="p"\r\n\r\n\r\n`;
const MANY_PARTS = `${emptyPart.repeat(Math.floor(FILE_BYTES / emptyPart.length) - 1)}--${BOUNDARY}--\r\n`;

/** Strangers with a form to sign in, each in a network of their own. */
const strangers: { browser: Browser; form_token: string }[] = [];
/** So many that the queue of strangers, 20, is full also where they arrive slowly. */
const GUESSES = 60;

const RESENT = MAILS_BY_HAND_A_DAY + 4;
/** An e-mail that somebody sends again and again, and the page of its receipt. */
let mail: { id: string; page: string; sender: Browser } | undefined;
let resent = 0;

async function aMailThatArrived({ orm, aMember }: ConsoleGround): Promise<void> {
  const [link = ''] = await linksOf(orm, { enterprises: 1, count: 1, lines: 3, description: 'Café' });
  const em = orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { receiptToken: link.slice('/r/'.length) });
  const destination = 'vecino@ajeno.example';
  const { id } = await em.transactional(async (open) =>
    insertMail(open, cfe, { kind: 'RECEIPT', destination, byHand: false }, new Date()),
  );
  const page = `/cfes/${cfe.rut}/production/${formatCfeId(cfe)}`;
  mail = { id, page, sender: await aMember(cfe.accountId, 'MEMBER') };
}

/** What somebody does to the console that others use. */
export const CONSOLE: readonly Attack[] = [
  site.attack({
    name: 'console: 90 pages of one viewer, 50 at once',
    times: 90,
    atOnce: 50,
    send: async ({ attacker }, place) =>
      (await attacker.get(['/cfes?status=PENDING', '/', '/plan'][place % 3] ?? '/')).status,
    answers: [200],
  }),
  site.attack({
    name: 'console: 12 streams of one viewer',
    times: 12,
    atOnce: 3,
    async send({ url, attacker }) {
      const headers = { cookie: `cfe_session=${attacker.cookies.get('cfe_session')}` };
      // Left open, as the attacker would.
      return (await fetch(`${url}/changes?of=cfes`, { headers })).status;
    },
    answers: [200, 204],
  }),
  site.attack({
    name: 'console: 128 KB of small parts in a form, without a session',
    times: 60,
    atOnce: 6,
    async send({ url }) {
      const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
      const init = { method: 'POST', redirect: 'manual', headers, body: MANY_PARTS } as const;
      return (await fetch(`${url}/enterprises/219999830019/logo`, init)).status;
    },
    answers: [303],
  }),
  site.attack({
    name: 'console: sign-ins from 60 networks; who is known signs in all the same',
    times: GUESSES,
    atOnce: GUESSES,
    async prepare({ url }) {
      while (strangers.length < GUESSES) {
        const browser = browserOn(url, { 'x-forwarded-for': `198.51.100.${strangers.length}` });
        strangers.push({ browser, form_token: formTokenIn((await browser.get('/sign-in')).text) });
      }
    },
    async send(_, place) {
      const { browser, form_token } = strangers[place] ?? {};
      // Not all at one instant: that would keep this process busy, and look as if the console were slow.
      await pause(place * 10);
      const guess = {
        email: `guess${place}@example.com`,
        password: 'surely not this',
        form_token: form_token ?? '',
      };
      return (await browser?.post('/sign-in', guess))?.status ?? 0;
    },
    async meanwhile({ signInAgain }) {
      await pause(GUESSES * 10);
      expect(await signInAgain()).toBe(303);
    },
    answers: [403, 503],
  }),
  site.attack({
    name: 'console: one e-mail sent again in a loop: ten of its receipt in a day',
    times: RESENT,
    atOnce: 2,
    prepare: aMailThatArrived,
    async send({ orm }) {
      const { id, page, sender } = mail ?? {};
      const { status = 0 } = (await sender?.send(`${page}/mails/${id}`, {}, page)) ?? {};
      resent += 1;
      if (resent === RESENT) {
        const taken = await orm.em.fork().count(AuditEntry, { action: 'mail.resend', subject: id ?? '' });
        if (taken !== MAILS_BY_HAND_A_DAY) throw new Error(`it was sent again ${taken} times`);
      }
      return status;
    },
    // Back to the page of the receipt, which says what was done or refused.
    answers: [303],
  }),
];
