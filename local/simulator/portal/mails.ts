import { z } from 'zod';
import { Refusal } from '../../../src/errors.ts';
import { attachmentsOf, bareId } from '../smtp.ts';
import { listMails, MAILBOX_ANSWERS, mailBytes, putMailbox } from '../state/mails.ts';
import { dayOrMoment, read } from './input.ts';
import type { PortalRoute } from './route.ts';

const address = z.string().max(320).includes('@', 'must be an e-mail address');

const Mailbox = z.strictObject({
  answer: z.literal(MAILBOX_ANSWERS),
  times: z.int().min(1).max(1_000_000).optional(),
});

/** Sets how a mailbox answers, always or `times` times; answer 0 drops the connection after DATA. */
export const putMailboxAnswer: PortalRoute = {
  method: 'PUT',
  path: '/portal/mailboxes/{address}',
  handle({ path, body }, { state }) {
    const mailbox = read(address, decoded(path['address']), '/path/address');
    const { answer, times } = read(Mailbox, body);
    putMailbox(state, mailbox, answer, times ?? null);
    return { status: 200, json: { address: mailbox, answer, times: times ?? null } };
  },
};

const Query = z.strictObject({ to: address.optional(), since: dayOrMoment.optional() });

/** The e-mails that arrived, in the order of their arrival. */
export const mails: PortalRoute = {
  method: 'GET',
  path: '/portal/mails',
  handle({ query }, { state }) {
    const { to, since } = read(Query, query, '/query');
    const items = listMails(state, { to: to ?? null, since: (since ?? new Date(0)).toISOString() });
    return { status: 200, json: { items } };
  },
};

/** One file of an e-mail, byte for byte. */
export const mailAttachment: PortalRoute = {
  method: 'GET',
  path: '/portal/mails/{message_id}/{attachment}',
  async handle({ path }, { state }) {
    const bytes = mailBytes(state, bareId(decoded(path['message_id'])));
    const name = decoded(path['attachment']);
    const file = bytes && (await attachmentsOf(bytes)).find((one) => one.name === name);
    if (!file) throw new Refusal('NOT_FOUND', 'no such e-mail, or no such file in it');
    return { status: 200, contentType: file.type, text: file.bytes };
  },
};

function decoded(piece: string | undefined): string {
  try {
    return decodeURIComponent(piece ?? '');
  } catch {
    throw new Refusal('INVALID_INPUT', 'the path is not valid percent-encoding');
  }
}
