import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import PostalMime, { type Email } from 'postal-mime';
import { startMailServer } from '../../../local/simulator/smtp.ts';
import { openState } from '../../../local/simulator/state/database.ts';
import {
  listMails,
  type MailboxAnswer,
  mailBytes,
  putMailbox,
} from '../../../local/simulator/state/mails.ts';

/** The simulator's mail server, with what arrived there. */
export interface TestMailServer {
  readonly url: string;
  /** Tells a mailbox how to answer, for ever or so many times. */
  answers(address: string, answer: MailboxAnswer, times?: number): void;
  /** Message-IDs that arrived in a mailbox, in order. */
  idsTo(address: string): string[];
  /** The last e-mail with a Message-ID, as a library reads it that did not write it. */
  read(messageId: string): Promise<Email>;
  /** Every e-mail with that Message-ID, byte for byte. */
  copies(messageId: string): string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts one on any free port. */
export async function aMailServer(): Promise<TestMailServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-mail-'));
  const state = openState(folder);
  const server = await startMailServer({
    host: '127.0.0.1',
    port: 0,
    state,
    clock: () => new Date(),
    logger: pino({ level: 'silent' }),
  });
  return {
    url: server.url,
    answers: (address, answer, times) => putMailbox(state, address, answer, times ?? null),
    idsTo: (to) => listMails(state, { to, since: '' }).map(({ message_id }) => message_id),
    async read(messageId) {
      const bytes = mailBytes(state, messageId);
      if (!bytes) throw new Error(`no e-mail ${messageId} arrived`);
      return PostalMime.parse(bytes);
    },
    copies: (messageId) =>
      state
        .prepare('select bytes from mails where message_id = ? order by id')
        .all(messageId)
        .map(({ bytes }) => Buffer.from(bytes as Uint8Array).toString('latin1')),
    async [Symbol.asyncDispose]() {
      await server.close();
      state.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
