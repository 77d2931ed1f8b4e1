import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import {
  MAIL_RETRY_DELAYS,
  MAILS_TO_ONE_MAILBOX,
  MAILS_TO_ONE_MAILBOX_ASSURED,
  type MailKind,
  type MailLimit,
  type MailStatus,
  mailLimitsOfAccount,
  normaliseMailbox,
} from '../../domain/mail/mail.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { isUuid } from '../../domain/values/uuid.ts';
import { newMailWorkflowId, SIGNALS, type WorkflowMessage } from '../../temporal.ts';
import { Mail, MailAttempt } from '../entities/mail.ts';
import { Cfe } from '../entities/receipts.ts';
import { enqueue, insertMessagesSql } from '../outbox.ts';
import { type ListPage, newestFirst, pageCriteria, type UuidPage } from '../page.ts';
import { countToday, type DayLimit, findRateLimit } from '../people/counts.ts';
import { givenConditions, runSql, whereAll } from '../sql.ts';

/** The codes of CFE types, to build cfe_ids for search attributes in SQL. */
const CFE_CODES = JSON.stringify(
  Object.fromEntries(Object.entries(CFE_TYPES).map(([type, { code }]) => [type, String(code)])),
);

/**
 * Stores, as part of a statement, the e-mails of decided CFEs and the starts of their workflows, for each enabled
 * address of the customer. `decided`: a CTE with id, rut, environment, type, sequence, document. Parameters:
 * `verdictMailValues`.
 */
export const verdictMailsSql = (decided: string): string => `
  addressed as materialized (
    select gen_random_uuid() as id, * from (
      select distinct d.id as cfe_uuid, d.rut, d.environment, d.type, d.sequence, notification.destination
      from ${decided} d
      join customer on customer.rut = d.rut
        and customer.doc_number = d.document #>> '{receiver,document,number}'
        and customer.doc_type = d.document #>> '{receiver,document,type}'
      cross join lateral jsonb_to_recordset(customer.notifications) as notification (type text, destination text, enabled boolean)
      where notification.enabled and notification.type = 'EMAIL' and (d.environment = 'production'
        or lower(notification.destination) in (select lower(json) from jsonb_array_elements_text(?::jsonb) as allowed (json)))
    ) as addresses),
  mails as (
    insert into mail (id, workflow_id, cfe_uuid, rut, environment, kind, destination, status, by_hand, created_at)
    select id, '${newMailWorkflowId('')}' || id, cfe_uuid, rut, environment, 'RECEIPT', destination, 'PENDING', false,
      ?::timestamptz
    from addressed returning id),
  mails_started as (
    ${insertMessagesSql(
      'deliverReceipt',
      `'${newMailWorkflowId('')}' || id, jsonb_build_object('mailId', id, 'delays', ?::jsonb),
       jsonb_build_object('EnterpriseRut', rut, 'Environment', environment, 'CfeType', type,
         'CfeId', jsonb_build_array(('${CFE_CODES}'::jsonb ->> type) || '-' || sequence)), ?::timestamptz`,
    )}
    from addressed)`;

/** The inputs for the e-mails of a verdict, other than the CFE. */
export interface VerdictMails {
  readonly now: Date;
  /** The only addresses that receive e-mails of the sandbox. */
  readonly sandboxMails: readonly string[];
}

/** Returns the parameters of `verdictMailsSql`. */
export const verdictMailValues = ({ now, sandboxMails }: VerdictMails): string[] => [
  JSON.stringify(sandboxMails),
  now.toISOString(),
  JSON.stringify(MAIL_RETRY_DELAYS),
  now.toISOString(),
];

/** The kind and the address of a new e-mail. */
export interface NewMail {
  readonly kind: MailKind;
  readonly destination: string;
  readonly byHand: boolean;
  /** The Message-ID, if it is derived from the content; otherwise it is made before the first attempt. */
  readonly messageId?: string;
}

/** Creates an e-mail with a CFE, and starts its workflow, with the open transaction. */
export function insertMail(
  em: EntityManager,
  cfe: Pick<Cfe, 'id' | 'rut' | 'environment' | 'type' | 'sequence'>,
  { kind, destination, byHand, messageId }: NewMail,
  now: Date,
): Mail {
  const id = randomUUID();
  const mail = em.create(Mail, {
    id,
    workflowId: newMailWorkflowId(id),
    cfeUuid: cfe.id,
    rut: cfe.rut,
    environment: cfe.environment,
    kind,
    destination,
    status: 'PENDING',
    attempts: 0,
    byHand,
    askedAgain: false,
    counted: byHand,
    error: null,
    messageId: messageId ?? null,
    createdAt: now,
    settledAt: null,
  });
  enqueue(em, mailMessage(mail, cfe), now);
  return mail;
}

/** Returns the message that starts the workflow of an e-mail, with a new retry schedule. */
function mailMessage(
  { id, workflowId, rut, environment }: Mail,
  cfe: Pick<Cfe, 'type' | 'sequence'>,
): WorkflowMessage {
  return {
    workflow: 'deliverReceipt',
    workflowId,
    input: { mailId: id, delays: [...MAIL_RETRY_DELAYS] },
    searchAttributes: {
      EnterpriseRut: rut,
      Environment: environment,
      CfeType: cfe.type,
      CfeId: [formatCfeId(cfe)],
    },
  };
}

/**
 * Returns the messages that start the workflows of pending e-mails, oldest first or a page; of one enterprise or of
 * all.
 */
export async function pendingMailMessages(
  em: EntityManager,
  { rut, page }: { rut?: string | undefined; page?: UuidPage | undefined },
): Promise<WorkflowMessage[]> {
  const { where, options } = pageCriteria(page);
  const mails = await em.find(Mail, { status: 'PENDING', ...where, ...givenConditions({ rut }) }, options);
  const ids = [...new Set(mails.map(({ cfeUuid }) => cfeUuid))];
  const cfes = await em.find(Cfe, { id: { $in: ids } }, { fields: ['type', 'sequence'] });
  const cfeOf = new Map(cfes.map((cfe) => [cfe.id, cfe]));
  return mails.flatMap((mail) => {
    const cfe = cfeOf.get(mail.cfeUuid);
    return cfe ? [mailMessage(mail, cfe)] : [];
  });
}

/**
 * Sends an e-mail again that the open transaction has locked: same Message-ID, immediately, with a new retry
 * schedule. A waiting retry ends. No daily limit applies: requests themselves are limited.
 */
export function restartMail(
  em: EntityManager,
  mail: Mail,
  cfe: Pick<Cfe, 'type' | 'sequence'>,
  now: Date,
): void {
  // If its last attempt is in progress and fails, it must not end the new schedule.
  mail.askedAgain = mail.status === 'PENDING';
  mail.status = 'PENDING';
  mail.settledAt = null;
  mail.error = null;
  mail.counted = true;
  // Sends a signal: it wakes a waiting workflow, and restarts one that is just ending.
  enqueue(em, { ...mailMessage(mail, cfe), signal: SIGNALS.deliverAgain }, now);
}

/** Returns the e-mail with this id, or null. */
export async function findMail(em: EntityManager, id: string): Promise<Mail | null> {
  return isUuid(id) ? em.findOne(Mail, { id }) : null;
}

/** Returns the e-mail with this id, locked until the open transaction ends, or null. */
export async function lockMail(em: EntityManager, id: string): Promise<Mail | null> {
  if (!isUuid(id)) return null;
  return em.findOne(Mail, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Returns the Message-ID of an e-mail; stores `made` if it has none. */
export async function fixMessageId(
  em: EntityManager,
  { id, messageId }: Mail,
  made: string,
): Promise<string> {
  if (messageId !== null) return messageId;
  const [row] = await em.execute<{ message_id: string }[]>(
    'update mail set message_id = coalesce(message_id, ?) where id = ? returning message_id',
    [made, id],
  );
  return row?.message_id ?? made;
}

/** Selects e-mails; all given conditions must hold. */
export interface MailFilter {
  readonly rut?: string | undefined;
  readonly cfeUuid?: string | undefined;
  readonly status?: MailStatus | undefined;
  /** Document number of the receiver: e-mails with the last 1,000 CFEs of the enterprise to it. */
  readonly receiver?: string | undefined;
}

/** An e-mail with the cfe_id of its CFE. */
export interface ListedMail {
  readonly mail: Mail;
  readonly cfeId: string;
}

export const MAIL_ORDER = newestFirst('uuid');

/** Returns a page of e-mails, newest first. */
export async function listMailPage(
  em: EntityManager,
  { receiver, ...filter }: MailFilter,
  page: ListPage,
): Promise<ListedMail[]> {
  const condition =
    receiver === undefined
      ? { $and: [givenConditions(filter), MAIL_ORDER.after(page.after)] }
      : { id: { $in: await findMailsTo(em, { ...filter, receiver }, page) } };
  const mails = await em.find(Mail, condition, { orderBy: MAIL_ORDER.orderBy, limit: page.limit });
  const ids = [...new Set(mails.map(({ cfeUuid }) => cfeUuid))];
  const cfes = await em.find(Cfe, { id: { $in: ids } }, { fields: ['type', 'sequence'] });
  const names = new Map(cfes.map((cfe) => [cfe.id, formatCfeId(cfe)]));
  return mails.map((mail) => ({ mail, cfeId: names.get(mail.cfeUuid) ?? '' }));
}

/** Returns the ids of a page of e-mails to a receiver, newest first. */
async function findMailsTo(
  em: EntityManager,
  { rut = '', status, receiver }: MailFilter & { readonly receiver: string },
  { after, limit }: ListPage,
): Promise<string[]> {
  const condition = whereAll(
    status !== undefined && sql`mail.status = ${status}`,
    after && sql`(mail.created_at, mail.id) < (${after[0]}, ${after[1]})`,
  );
  // `offset 0`: 500,000 mails of the enterprise, none to the receiver: 9 ms; without it, all are read: 144 ms.
  const rows = await runSql(em)<{ id: string }>`
    select mail.id from (
      select id from cfe where document #>> '{receiver,document,number}' = ${receiver} and rut = ${rut}
      order by created_at desc, id desc limit 1000) cfe
    cross join lateral (select id, created_at, status from mail where cfe_uuid = cfe.id offset 0) mail
    where ${condition} order by mail.created_at desc, mail.id desc limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Returns the attempts of an e-mail, in order. */
export function listMailAttempts(em: EntityManager, mailId: string): Promise<MailAttempt[]> {
  return em.find(MailAttempt, { mailId }, { orderBy: { number: 'asc' } });
}

/** Returns whether this activity execution has already made an attempt of the e-mail. */
export async function hasMailAttempt(em: EntityManager, mailId: string, execution: string): Promise<boolean> {
  return (await em.count(MailAttempt, { mailId, execution })) > 0;
}

/** Stores the next attempt of an e-mail that the open transaction has locked. */
export function insertMailAttempt(
  em: EntityManager,
  mail: Mail,
  values: Omit<MailAttempt, 'number' | 'mailId' | symbol>,
): void {
  mail.attempts += 1;
  em.create(MailAttempt, { ...values, mailId: mail.id, number: mail.attempts });
}

// Daily limits of e-mails, and addresses that bounced.

/** Thrown for an e-mail beyond a limit; the caller that counts rolls back. */
export class MailLimitExceeded extends Error {
  override name = 'MailLimitExceeded';
  readonly limit: MailLimit;
  /** The daily limit. */
  readonly most: number;

  constructor(limit: MailLimit, most: number) {
    super(limit);
    this.limit = limit;
    this.most = most;
  }
}

/** The facts by which an e-mail is counted. */
interface CountedMail {
  readonly accountId: string;
  readonly kind: MailKind;
  readonly destination: string;
  /** Whether a person requested it; otherwise it followed from a verdict. */
  readonly isAskedFor: boolean;
}

/**
 * Counts an e-mail for today, with the open transaction; throws MailLimitExceeded. A sobre that follows from a
 * verdict counts for the account alone: the law requires it for each e-Factura, and the authority names the mailbox.
 */
export async function countMail(em: EntityManager, mail: CountedMail, now: Date): Promise<void> {
  const { accountId, kind, isAskedFor } = mail;
  const most = mailLimitsOfAccount(await findRateLimit(em, accountId));
  const mailbox = normaliseMailbox(mail.destination);
  const toMailbox = `e-mails to ${mailbox} of ${accountId}`;
  const limits: (DayLimit & { limit: MailLimit })[] =
    kind === 'EXCHANGE' && !isAskedFor
      ? [{ limit: 'account_limit', counter: `sobres of ${accountId}`, most: most.sobres }]
      : [
          { limit: 'account_limit', counter: `e-mails of ${accountId}`, most: most.all },
          {
            limit: 'mailbox_limit',
            counter: toMailbox,
            most: most.toOneMailbox,
          },
          {
            limit: 'mailbox_limit',
            counter: `e-mails to ${mailbox}`,
            most: MAILS_TO_ONE_MAILBOX,
            except: { counter: toMailbox, first: MAILS_TO_ONE_MAILBOX_ASSURED },
          },
        ];
  const exceeded = await countToday(em, limits, now);
  if (exceeded) throw new MailLimitExceeded(exceeded.limit, exceeded.most);
}

/** How long an address gets nothing after a bounce: mailboxes may be reopened. */
export const BOUNCE_MILLISECONDS = 30 * 86_400_000;

/** An address to which an account sends e-mails. */
interface Address {
  readonly accountId: string;
  readonly destination: string;
}

const addressValues = ({ accountId, destination }: Address): string[] => [
  accountId,
  destination.toLowerCase(),
];

/**
 * Records that an address permanently rejected an e-mail of an account: it gets no receipts until the row expires.
 */
export async function recordBounce(em: EntityManager, address: Address, now: Date): Promise<void> {
  await em.execute(
    'insert into mail_bounce (account_id, destination, since) values (?, ?, ?) on conflict do nothing',
    [...addressValues(address), now],
  );
}

/** Returns whether an address has bounced. */
export async function hasBounced(em: EntityManager, address: Address): Promise<boolean> {
  const where = 'account_id = ? and destination = ?';
  return (await em.execute(`select 1 from mail_bounce where ${where}`, addressValues(address))).length > 0;
}

/** Allows receipts to an address again. */
export async function liftBounce(em: EntityManager, address: Address): Promise<void> {
  await em.execute(
    'delete from mail_bounce where account_id = ? and destination = ?',
    addressValues(address),
  );
}
