/**
 * What goes when its time is over, table by table. CFEs, their signed XML, sobres and the audit are not among it: they
 * stay for ever.
 */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { EXPORT_KEPT_DAYS } from '../domain/receiptExport.ts';
import type { Purged, PurgedTable, Retention } from '../domain/retention.ts';
import {
  COUNT_MILLISECONDS,
  DAILY_COUNT_MILLISECONDS,
  FAILURE_MILLISECONDS,
  FORM_MILLISECONDS,
  SIGN_IN_MILLISECONDS,
} from './counts.ts';
import { Delivery, DeliveryAttempt, Event } from './entities/webhooks.ts';
import { ANSWER_MILLISECONDS } from './idempotency.ts';
import { BOUNCE_MILLISECONDS } from './mails.ts';
import type { Orm } from './orm.ts';

const DAY_MILLISECONDS = 86_400_000;
/** After an invitation could be used for the last time: what became of it can be looked up as long. */
const INVITATION_MILLISECONDS = 30 * DAY_MILLISECONDS;

/** After a session in the console began, whoever's it was. */
const CONSOLE_SESSION_MILLISECONDS = 30 * DAY_MILLISECONDS;

/** Takes out at most `limit` rows of what is older than its time, in the open transaction; how many. */
type Purge = (em: EntityManager, before: Date, limit: number) => Promise<number>;

/** Each table, how long its rows are kept in milliseconds, and how they go. */
const PURGES: Readonly<Record<PurgedTable, [kept: (retention: Retention) => number, purge: Purge]>> = {
  outbox: [({ outboxDays }) => outboxDays * DAY_MILLISECONDS, rowsWhere('outbox', 'dispatched_at < ?')],
  delivery_attempt: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    rowsWhere(
      'delivery_attempt',
      `at < ? and exists (select from delivery where id = delivery_attempt.delivery_id and status <> 'PENDING')`,
    ),
  ],
  mail_attempt: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    rowsWhere(
      'mail_attempt',
      `at < ? and exists (select from mail where id = mail_attempt.mail_id and status <> 'PENDING')`,
    ),
  ],
  authority_attempt: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    // The first one, which has the index, is never younger than the last.
    rowsWhere('authority_attempt', 'first_at < ? and last_at < ?', 2),
  ],
  run_item: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    rowsWhere('run_item', 'exists (select from run where id = run_id and ended_at < ?)'),
  ],
  receipt_export_part: [
    () => EXPORT_KEPT_DAYS * DAY_MILLISECONDS,
    rowsWhere(
      'receipt_export_part',
      'exists (select from receipt_export where id = export_id and ended_at < ?)',
    ),
  ],
  event: [({ eventsDays }) => eventsDays * DAY_MILLISECONDS, purgeEvents],
  idempotent_answer: [() => ANSWER_MILLISECONDS, rowsWhere('idempotent_answer', 'created_at < ?')],
  request_count: [() => COUNT_MILLISECONDS, rowsWhere('request_count', 'since < ?')],
  failed_authentication: [() => FAILURE_MILLISECONDS, rowsWhere('failed_authentication', 'since < ?')],
  sign_in_count: [() => SIGN_IN_MILLISECONDS, rowsWhere('sign_in_count', 'since < ?')],
  form_count: [() => FORM_MILLISECONDS, rowsWhere('form_count', 'since < ?')],
  console_session: [() => CONSOLE_SESSION_MILLISECONDS, purgeSessions],
  daily_count: [() => DAILY_COUNT_MILLISECONDS, rowsWhere('daily_count', 'day < ?')],
  mail_bounce: [() => BOUNCE_MILLISECONDS, rowsWhere('mail_bounce', 'since < ?')],
  // Used, withdrawn or replaced ones too: who invited whom, and who joined, stands in the audit.
  account_invitation: [() => INVITATION_MILLISECONDS, rowsWhere('account_invitation', 'expires_at < ?')],
  invitation: [() => INVITATION_MILLISECONDS, rowsWhere('invitation', 'expires_at < ?')],
  certificate: [({ keysDays }) => keysDays * DAY_MILLISECONDS, forgetKeys],
};

/**
 * Takes out all whose time is over at `now`, in batches of one transaction each, which pass over rows that others hold. Safe
 * to repeat, and for several at once. `onPurged` is told of every batch.
 */
export async function purgeExpiredRows(
  orm: Orm,
  options: {
    now: Date;
    retention: Retention;
    batch: number;
    onPurged?: ((table: PurgedTable, rows: number) => void) | undefined;
  },
): Promise<Purged> {
  const { now, retention, batch, onPurged } = options;
  const purged = {} as Record<PurgedTable, number>;
  for (const [table, [kept, purge]] of Object.entries(PURGES) as [
    PurgedTable,
    (typeof PURGES)[PurgedTable],
  ][]) {
    const before = new Date(now.getTime() - kept(retention));
    purged[table] = 0;
    for (;;) {
      const rows = await orm.em.fork().transactional((em) => purge(em, before, batch));
      if (rows === 0) break;
      purged[table] += rows;
      onPurged?.(table, rows);
    }
  }
  return purged;
}

/** The rows of a table where a condition holds, whose parameters are the moment before which they count as old. */
function rowsWhere(table: string, condition: string, parameters = 1): Purge {
  return async (em, before, limit) => {
    const { affectedRows } = await em.execute<{ affectedRows: number }>(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${condition} limit ? for update skip locked))`,
      [...Array<string>(parameters).fill(before.toISOString()), limit],
      'run',
    );
    return affectedRows;
  };
}

/** The worker may neither read nor lock sessions (rights.ts); nobody holds one that ended so long ago. */
async function purgeSessions(em: EntityManager, before: Date, limit: number): Promise<number> {
  const { affectedRows } = await em.execute<{ affectedRows: number }>(
    `delete from console_session where id = any(array(
       select id from console_session where created_at < ? limit ?))`,
    [before.toISOString(), limit],
    'run',
  );
  return affectedRows;
}

/**
 * Events with their deliveries and attempts; none of which a delivery waits, or ended after that moment: sent again by
 * hand, it may be asked about. Answers how many events.
 */
async function purgeEvents(em: EntityManager, before: Date, limit: number): Promise<number> {
  const at = before.toISOString();
  const old = await em.execute<{ id: string }[]>(
    `select id from event where created_at < ? and not exists (
       select from delivery where event_id = event.id and (status = 'PENDING' or settled_at >= ?))
     order by created_at limit ? for update skip locked`,
    [at, at, limit],
  );
  // One of them may be asked for again at this moment: with its row locked it is as it is now.
  const deliveries = await em.find(
    Delivery,
    { eventId: { $in: old.map(({ id }) => id) } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  const waited = new Set(
    deliveries.filter(({ status }) => status === 'PENDING').map(({ eventId }) => eventId),
  );
  const events = old.map(({ id }) => id).filter((id) => !waited.has(id));
  const ended = deliveries.filter(({ eventId }) => !waited.has(eventId)).map(({ id }) => id);
  await em.nativeDelete(DeliveryAttempt, { deliveryId: { $in: ended } });
  await em.nativeDelete(Delivery, { id: { $in: ended } });
  await em.nativeDelete(Event, { id: { $in: events } });
  return events.length;
}

/**
 * Private keys of certificates that were replaced before that moment, and by which no CFE is to be signed any more. The
 * certificates stay for the record. A CFE that took such a certificate has long been stored: that takes seconds.
 */
async function forgetKeys(em: EntityManager, before: Date, limit: number): Promise<number> {
  const { affectedRows } = await em.execute<{ affectedRows: number }>(
    `update certificate set sealed_key = null where id = any(array(
       select id from certificate where replaced_at < ? and sealed_key is not null and not exists (
         select from cfe where certificate_id = certificate.id and signed_xml is null and settled_at is null)
       limit ? for update skip locked))`,
    [before.toISOString(), limit],
    'run',
  );
  return affectedRows;
}
