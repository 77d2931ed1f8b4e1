import type { State } from './database.ts';

/** How a mailbox answers: it takes e-mails, refuses them for now or for good, or hangs up once it has one. */
export const MAILBOX_ANSWERS = [250, 450, 550, 0] as const;
export type MailboxAnswer = (typeof MAILBOX_ANSWERS)[number];

/** A part of an e-mail that is a file. */
export interface AttachmentRow {
  readonly name: string;
  readonly type: string;
  readonly sha256: string;
}

/** An e-mail that arrived in a mailbox. */
export interface MailRow {
  /** Without angle brackets. */
  readonly message_id: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly received_at: string;
  readonly attachments: readonly AttachmentRow[];
}

/** From now on, or `times` times, the mailbox answers so; then it takes e-mails again. */
export function putMailbox(state: State, address: string, answer: MailboxAnswer, times: number | null): void {
  state
    .prepare(
      `insert into mailboxes values (?, ?, ?)
       on conflict do update set answer = excluded.answer, times = excluded.times`,
    )
    .run(address.toLowerCase(), answer, times);
}

/** What a mailbox answers to the next e-mail; asking counts. Whatever nobody spoke of takes everything. */
export function nextAnswer(state: State, address: string): MailboxAnswer {
  const row = state
    .prepare(
      `update mailboxes set times = times - 1 where address = ? and (times is null or times > 0) returning answer`,
    )
    .get(address.toLowerCase());
  return MAILBOX_ANSWERS.find((answer) => answer === row?.['answer']) ?? 250;
}

/** Stores an e-mail as it arrived, byte for byte. */
export function keepMail(state: State, mail: MailRow, bytes: Uint8Array): void {
  state
    .prepare(
      `insert into mails (message_id, sender, recipient, subject, received_at, attachments, bytes)
       values (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      mail.message_id,
      mail.from,
      mail.to.toLowerCase(),
      mail.subject,
      mail.received_at,
      JSON.stringify(mail.attachments),
      bytes,
    );
}

/** The e-mails that arrived, to one mailbox or to all, since a moment, in the order of their arrival. */
export function listMails(state: State, { to, since }: { to: string | null; since: string }): MailRow[] {
  const rows = state
    .prepare(
      `select message_id, sender, recipient, subject, received_at, attachments from mails
       where (?1 is null or recipient = ?1) and received_at >= ?2 order by id`,
    )
    .all(to === null ? null : to.toLowerCase(), since);
  return rows.map((row) => ({
    message_id: String(row['message_id']),
    from: String(row['sender']),
    to: String(row['recipient']),
    subject: String(row['subject']),
    received_at: String(row['received_at']),
    attachments: JSON.parse(String(row['attachments'])) as AttachmentRow[],
  }));
}

/** An e-mail byte for byte, the last one with that Message-ID; undefined where none arrived. */
export function mailBytes(state: State, messageId: string): Uint8Array | undefined {
  const row = state
    .prepare('select bytes from mails where message_id = ? order by id desc limit 1')
    .get(messageId);
  return row?.['bytes'] as Uint8Array | undefined;
}
