import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { formatCfeId } from '../domain/cfeId.ts';
import { CFE_TYPES } from '../domain/cfeTypes.ts';
import {
  MAIL_RETRY_DELAYS,
  MAILS_TO_ONE_MAILBOX,
  MAILS_TO_ONE_MAILBOX_ASSURED,
  type MailKind,
  type MailLimit,
  type MailStatus,
  mailboxOf,
  mailsOfAccount,
} from '../domain/mail.ts';
import { isUuid } from '../domain/uuid.ts';
import { newMailWorkflowId, SIGNALS, type WorkflowMessage } from '../temporal.ts';
import { countToday, type DayLimit, findHourlyLimit } from './counts.ts';
import { Mail, MailAttempt } from './entities/mail.ts';
import { Cfe } from './entities/receipts.ts';
import { enqueue, insertMessagesSql } from './outbox.ts';
import { pageCriteria, type UuidPage } from './page.ts';

/** What a search attribute tells of a CFE in SQL, where its cfe_id is made from its type and place. */
const CODES = JSON.stringify(
  Object.fromEntries(Object.entries(CFE_TYPES).map(([type, { code }]) => [type, String(code)])),
);

/**
 * The part of a statement that stores the e-mails of a verdict, and the starts of their workflows, for each enabled address of
 * the customer. `decided`: a CTE with id, rut, environment, type, sequence, document. Parameters: `verdictMailValues`.
 */
export const verdictMailsSql = (decided: string): string => `
  told as materialized (
    select gen_random_uuid() as id, * from (
      select distinct d.id as cfe_uuid, d.rut, d.environment, d.type, d.sequence, told.destination
      from ${decided} d
      join customer on customer.rut = d.rut
        and customer.doc_number = d.document #>> '{receiver,document,number}'
        and customer.doc_type = d.document #>> '{receiver,document,type}'
      cross join lateral jsonb_to_recordset(customer.notifications) as told (type text, destination text, enabled boolean)
      where told.enabled and told.type = 'EMAIL' and (d.environment = 'production'
        or lower(told.destination) in (select lower(json) from jsonb_array_elements_text(?::jsonb) as allowed (json)))
    ) as addresses),
  mails as (
    insert into mail (id, workflow_id, cfe_uuid, rut, environment, kind, destination, status, by_hand, created_at)
    select id, '${newMailWorkflowId('')}' || id, cfe_uuid, rut, environment, 'RECEIPT', destination, 'PENDING', false,
      ?::timestamptz
    from told returning id),
  mails_started as (
    ${insertMessagesSql(
      'deliverReceipt',
      `'${newMailWorkflowId('')}' || id, jsonb_build_object('mailId', id, 'delays', ?::jsonb),
       jsonb_build_object('EnterpriseRut', rut, 'Environment', environment, 'CfeType', type,
         'CfeId', jsonb_build_array(('${CODES}'::jsonb ->> type) || '-' || sequence)), ?::timestamptz`,
    )}
    from told)`;

/** What the e-mails of a verdict depend on beside the CFE. */
export interface VerdictMails {
  readonly now: Date;
  /** The only addresses that e-mails of the sandbox go to. */
  readonly sandboxMails: readonly string[];
}

/** The values of `verdictMailsSql`. */
export const verdictMailValues = ({ now, sandboxMails }: VerdictMails): string[] => [
  JSON.stringify(sandboxMails),
  now.toISOString(),
  JSON.stringify(MAIL_RETRY_DELAYS),
  now.toISOString(),
];

/** What an e-mail is about and where it is to go. */
export interface NewMail {
  readonly kind: MailKind;
  readonly destination: string;
  readonly byHand: boolean;
  /** Where the Message-ID follows from what is sent; else it is made before the first attempt. */
  readonly messageId?: string;
}

/** Puts a CFE on its way to an address with the open transaction: the e-mail, and the workflow that sees to it. */
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

/** Starts the workflow of an e-mail, its schedule at the beginning. */
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

/** What starts the workflows of the e-mails that are under way, oldest first or a page; of one enterprise, or of all. */
export async function pendingMailMessages(
  em: EntityManager,
  { rut, page }: { rut?: string | undefined; page?: UuidPage | undefined },
): Promise<WorkflowMessage[]> {
  const { where, options } = pageCriteria(page);
  const mails = await em.find(
    Mail,
    { status: 'PENDING', ...where, ...(rut === undefined ? {} : { rut }) },
    options,
  );
  const ids = [...new Set(mails.map(({ cfeUuid }) => cfeUuid))];
  const cfes = await em.find(Cfe, { id: { $in: ids } }, { fields: ['type', 'sequence'] });
  const cfeOf = new Map(cfes.map((cfe) => [cfe.id, cfe]));
  return mails.flatMap((mail) => {
    const cfe = cfeOf.get(mail.cfeUuid);
    return cfe ? [mailMessage(mail, cfe)] : [];
  });
}

/**
 * Puts an e-mail, locked by the open transaction, on its way once more: same Message-ID, at once, a new schedule. One
 * that waits for its retry waits no longer. No limit of the day holds it back: whoever asks is limited.
 */
export function restartMail(
  em: EntityManager,
  mail: Mail,
  cfe: Pick<Cfe, 'type' | 'sequence'>,
  now: Date,
): void {
  // Its last attempt may be under way: failing, it must not end what was just asked for.
  mail.askedAgain = mail.status === 'PENDING';
  mail.status = 'PENDING';
  mail.settledAt = null;
  mail.error = null;
  mail.counted = true;
  // By signal: a run that waits is woken, one that is just ending is started again.
  enqueue(em, { ...mailMessage(mail, cfe), signal: SIGNALS.deliverAgain }, now);
}

/** The e-mail with this id, or null. */
export async function findMail(em: EntityManager, id: string): Promise<Mail | null> {
  return isUuid(id) ? em.findOne(Mail, { id }) : null;
}

/** The e-mail with this id, locked until the open transaction ends, or null. */
export async function lockMail(em: EntityManager, id: string): Promise<Mail | null> {
  if (!isUuid(id)) return null;
  return em.findOne(Mail, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** The Message-ID of an e-mail: the one it has, or from now on `made`. */
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

/** Which e-mails to list: every condition that is given must hold. */
export interface MailFilter {
  rut?: string | undefined;
  cfeUuid?: string | undefined;
  status?: MailStatus | undefined;
}

/** E-mails, newest first, at most `limit`. */
export function findMails(em: EntityManager, filter: MailFilter, limit: number): Promise<Mail[]> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  return em.find(Mail, given, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
}

/** The attempts of an e-mail, in the order in which they were made. */
export function listMailAttempts(em: EntityManager, mailId: string): Promise<MailAttempt[]> {
  return em.find(MailAttempt, { mailId }, { orderBy: { number: 'asc' } });
}

/** Whether that execution has made an attempt of the e-mail already. */
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

/** An e-mail with the cfe_id of its CFE. */
export interface MailOfReceiver {
  readonly mail: Mail;
  readonly cfeId: string;
}

/** The e-mails with the last `most` CFEs of an enterprise to a receiver, by the number of their document; newest first. */
export async function listMailsToReceiver(
  em: EntityManager,
  { rut, docNumber }: { rut: string; docNumber: string },
  most: number,
): Promise<MailOfReceiver[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select id from cfe where document #>> '{receiver,document,number}' = ? and rut = ?
     order by created_at desc, id desc limit ?`,
    [docNumber, rut, most],
  );
  const cfes = await em.find(
    Cfe,
    { id: { $in: rows.map(({ id }) => id) } },
    { fields: ['id', 'type', 'sequence'] },
  );
  const names = new Map(cfes.map((cfe) => [cfe.id, formatCfeId(cfe)]));
  const mails = await em.find(
    Mail,
    { cfeUuid: { $in: [...names.keys()] } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  return mails.map((mail) => ({ mail, cfeId: names.get(mail.cfeUuid) ?? '' }));
}

// How many e-mails go out in a day, and the addresses that get none.

/** That an e-mail is one more than a limit allows; whoever counts rolls back. */
export class MailLimitExceeded extends Error {
  override name = 'MailLimitExceeded';
  readonly limit: MailLimit;
  /** How many the limit allows in a day. */
  readonly most: number;

  constructor(limit: MailLimit, most: number) {
    super(limit);
    this.limit = limit;
    this.most = most;
  }
}

/** What an e-mail counts for. */
interface CountedMail {
  readonly accountId: string;
  readonly kind: MailKind;
  readonly destination: string;
  /** Whether a person asked for it; else it followed from a verdict. */
  readonly isAskedFor: boolean;
}

/**
 * Counts an e-mail for today, with the open transaction; throws MailLimitExceeded. A sobre that nobody asked for counts for the
 * account alone: the law demands it of each e-Factura, and the authority names the mailbox.
 */
export async function countMail(em: EntityManager, mail: CountedMail, now: Date): Promise<void> {
  const { accountId, kind, isAskedFor } = mail;
  const most = mailsOfAccount(await findHourlyLimit(em, accountId));
  const mailbox = mailboxOf(mail.destination);
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

/** How long an address that refused an e-mail gets no more: mailboxes are opened again. */
export const BOUNCE_MILLISECONDS = 30 * 86_400_000;

/** An address to which an account writes. */
interface Address {
  readonly accountId: string;
  readonly destination: string;
}

const ofAddress = ({ accountId, destination }: Address): string[] => [accountId, destination.toLowerCase()];

/** Stores that an address has refused an e-mail of an account for good: no receipt goes there until the row expires. */
export async function recordBounce(em: EntityManager, address: Address, now: Date): Promise<void> {
  await em.execute(
    'insert into mail_bounce (account_id, destination, since) values (?, ?, ?) on conflict do nothing',
    [...ofAddress(address), now],
  );
}

/** Whether it has. */
export async function hasBounced(em: EntityManager, address: Address): Promise<boolean> {
  const where = 'account_id = ? and destination = ?';
  return (await em.execute(`select 1 from mail_bounce where ${where}`, ofAddress(address))).length > 0;
}

/** Lets receipts go there again. */
export async function liftBounce(em: EntityManager, address: Address): Promise<void> {
  await em.execute('delete from mail_bounce where account_id = ? and destination = ?', ofAddress(address));
}
