import { createHash } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../src/logger.ts';
import type { Clock } from './clock.ts';
import type { State } from './state/database.ts';
import { keepMail, type MailboxAnswer, nextAnswer } from './state/mails.ts';

const MOST_BYTES = 25 * 1024 * 1024;
const CLOSE_MILLISECONDS = 1_000;

/** A running catch-all. */
export interface MailServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A file in an e-mail, as it arrived. */
interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** The files in an e-mail. */
export async function attachmentsOf(bytes: Uint8Array): Promise<Attachment[]> {
  return filesOf(await PostalMime.parse(bytes));
}

const filesOf = ({ attachments }: Email): Attachment[] =>
  attachments.map(({ filename, mimeType, content }) => ({
    name: filename ?? '',
    type: mimeType,
    bytes: typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content as ArrayBuffer),
  }));

/**
 * A mail server that takes every e-mail for everybody and keeps it, unless the portal has told the mailbox to refuse. It
 * speaks neither TLS nor wants a login. Rejects when the port is taken; 0 takes any free port.
 */
export async function startMailServer(options: {
  readonly host: string;
  readonly port: number;
  readonly state: State;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<MailServer> {
  const { host, port, state, clock, logger } = options;
  /** What the mailboxes of a session have answered, by its id; told again once the e-mail is there. */
  const answers = new Map<string, MailboxAnswer>();
  /** The open connections, by the port of whoever is at the other end. */
  const sockets = new Map<number, Socket>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: MOST_BYTES,
    closeTimeout: CLOSE_MILLISECONDS,
    onRcptTo({ address }, { id }, done) {
      const answer = nextAnswer(state, address);
      answers.set(id, answer);
      if (answer === 450) done(refusal(450, 'the mailbox is busy'));
      else if (answer === 550) done(refusal(550, 'no such mailbox'));
      else done();
    },
    onData(stream, session, done) {
      const receive = async (): Promise<void> => {
        try {
          await keep(state, await buffer(stream), session, clock());
        } catch (err) {
          logger.error({ err }, 'an e-mail could not be kept');
          done(refusal(451, 'the simulator failed; see its log'));
          return;
        }
        // Without a word.
        if (answers.get(session.id) === 0) sockets.get(session.remotePort)?.destroy();
        else done();
      };
      void receive();
    },
    onClose({ id }) {
      answers.delete(id);
    },
  });
  server.server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    sockets.set(port, socket);
    socket.once('close', () => sockets.delete(port));
  });
  // Of one connection, such as one that is broken off.
  server.on('error', (err: Error) => logger.debug({ err }, 'a connection to the mail server failed'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.server.address() as AddressInfo; // a TCP server's address is never a pipe's name
  return {
    url: `smtp://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const refusal = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });

/** Keeps an e-mail once for each of its receivers. */
async function keep(state: State, bytes: Buffer, { envelope }: SMTPServerSession, now: Date): Promise<void> {
  const email = await PostalMime.parse(bytes);
  const attachments = filesOf(email).map(({ name, type, bytes: content }) => ({
    name,
    type,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  for (const { address } of envelope.rcptTo) {
    keepMail(
      state,
      {
        message_id: bareId(email.messageId ?? ''),
        from: email.from?.address ?? from,
        to: address,
        subject: email.subject ?? '',
        received_at: now.toISOString(),
        attachments,
      },
      bytes,
    );
  }
}

/** A Message-ID without its angle brackets. */
export const bareId = (messageId: string): string => messageId.replace(/^<|>$/g, '');
