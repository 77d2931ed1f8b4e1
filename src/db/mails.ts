import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { formatCfeId } from '../domain/cfeId.ts';
import { CFE_TYPES } from '../domain/cfeTypes.ts';
import { MAIL_RETRY_DELAYS, type MailKind, type MailStatus } from '../domain/mail.ts';
import { isUuid } from '../domain/uuid.ts';
import { newMailWorkflowId, SIGNALS, type WorkflowMessage, type WorkflowName } from '../temporal.ts';
import { Cfe } from './entities/Cfe.ts';
import { Mail } from './entities/Mail.ts';
import { MailAttempt } from './entities/MailAttempt.ts';
import { enqueue } from './outbox.ts';

/** What a search attribute tells of a CFE in SQL, where its cfe_id is made from its type and place. */
const CODES = JSON.stringify(
  Object.fromEntries(Object.entries(CFE_TYPES).map(([type, { code }]) => [type, String(code)])),
);

/**
 * The part of a statement that stores, with a verdict, the e-mails that follow from it: for each enabled address of the
 * customer with the receiver's document its row and the start of its workflow, in `mails` and `mails_started`.
 * `decided` names the CFE: a CTE with id, rut, environment, type, sequence and document. Its parameters:
 * `verdictMailValues`. Nothing is done where nobody is to be told.
 */
export const verdictMails = (decided: string): string => `
  told as materialized (
    select gen_random_uuid() as id, * from (
      select distinct d.id as cfe_id, d.rut, d.environment, d.type, d.sequence, told.destination
      from ${decided} d
      join customer on customer.rut = d.rut
        and customer.doc_number = d.document #>> '{receiver,document,number}'
        and customer.doc_type = d.document #>> '{receiver,document,type}'
      cross join lateral jsonb_to_recordset(customer.notifications) as told (type text, destination text, enabled boolean)
      where told.enabled and told.type = 'EMAIL' and (d.environment = 'production'
        or lower(told.destination) in (select lower(json) from jsonb_array_elements_text(?::jsonb) as allowed (json)))
    ) as addresses),
  mails as (
    insert into mail (id, workflow_id, cfe_id, rut, environment, kind, destination, status, by_hand, created_at)
    select id, '${newMailWorkflowId('')}' || id, cfe_id, rut, environment, 'RECEIPT', destination, 'PENDING', false, ?
    from told returning id),
  mails_started as (
    insert into outbox (workflow, workflow_id, input, search_attributes, created_at, attempts, not_before)
    select '${'deliverReceipt' satisfies WorkflowName}', '${newMailWorkflowId('')}' || id,
      jsonb_build_object('mailId', id, 'delays', ?::jsonb),
      jsonb_build_object('EnterpriseRut', rut, 'Environment', environment, 'CfeType', type,
        'CfeId', ('${CODES}'::jsonb ->> type) || '-' || sequence),
      ?, 0, to_timestamp(0)
    from told)`;

/** What the e-mails of a verdict depend on beside the CFE. */
export interface VerdictMails {
  readonly now: Date;
  /** The only addresses that e-mails of the sandbox go to. */
  readonly sandboxMails: readonly string[];
}

/** The values of `verdictMails`. */
export const verdictMailValues = ({ now, sandboxMails }: VerdictMails): unknown[] => [
  JSON.stringify(sandboxMails),
  now,
  JSON.stringify(MAIL_RETRY_DELAYS),
  now,
];

/**
 * Stores, with the open transaction, the e-mails that follow from the verdict on a CFE, ACCEPTED or OBSERVED; in one
 * statement, and in none where its receiver has no document and so nobody is to be told.
 */
export async function recordVerdictMails(
  em: EntityManager,
  { id, document }: Pick<Cfe, 'id' | 'document'>,
  mails: VerdictMails,
): Promise<void> {
  if (!document.receiver?.document) return;
  await em.execute(
    `with decided as (select id, rut, environment, type, sequence, document from cfe where id = ?),
       ${verdictMails('decided')}
     select 1 from mails`,
    [id, ...verdictMailValues(mails)],
  );
}

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
    cfeId: cfe.id,
    rut: cfe.rut,
    environment: cfe.environment,
    kind,
    destination,
    status: 'PENDING',
    attempts: 0,
    byHand,
    askedAgain: false,
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
      CfeId: formatCfeId(cfe),
    },
  };
}

/** What starts the workflows of the e-mails that are under way, oldest first; of one enterprise, or of all. */
export async function pendingMailMessages(
  em: EntityManager,
  rut: string | undefined,
): Promise<WorkflowMessage[]> {
  const mails = await em.find(
    Mail,
    { status: 'PENDING', ...(rut === undefined ? {} : { rut }) },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const ids = [...new Set(mails.map(({ cfeId }) => cfeId))];
  const cfes = await em.find(Cfe, { id: { $in: ids } }, { fields: ['type', 'sequence'] });
  const cfeOf = new Map(cfes.map((cfe) => [cfe.id, cfe]));
  return mails.flatMap((mail) => {
    const cfe = cfeOf.get(mail.cfeId);
    return cfe ? [mailMessage(mail, cfe)] : [];
  });
}

/**
 * Puts an e-mail, locked by the open transaction, on its way once more: same Message-ID, at once, a new schedule. One
 * that waits for its retry waits no longer.
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
  cfeId?: string | undefined;
  status?: MailStatus | undefined;
}

/** E-mails, newest first, at most `limit`. */
export function listMails(em: EntityManager, filter: MailFilter, limit: number): Promise<Mail[]> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  return em.find(Mail, given, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
}

/** How many e-mails of a CFE were asked for by hand since a moment. */
export function countMailsByHand(em: EntityManager, cfeId: string, since: Date): Promise<number> {
  return em.count(Mail, { cfeId, byHand: true, createdAt: { $gte: since } });
}

/** The attempts of an e-mail, in the order in which they were made. */
export function listMailAttempts(em: EntityManager, mailId: string): Promise<MailAttempt[]> {
  return em.find(MailAttempt, { mailId }, { orderBy: { number: 'asc' } });
}

/** Whether that execution has made an attempt of the e-mail already. */
export async function hasTriedMail(em: EntityManager, mailId: string, execution: string): Promise<boolean> {
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
export async function mailsToReceiver(
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
    { cfeId: { $in: [...names.keys()] } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  return mails.map((mail) => ({ mail, cfeId: names.get(mail.cfeId) ?? '' }));
}
