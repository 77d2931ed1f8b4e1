/** Deletes expired rows, table by table. CFEs, their signed XML, sobres and the audit are kept permanently. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Purged, PurgedTable, Retention } from '../../domain/operations/retention.ts';
import { EXPORT_KEPT_DAYS } from '../../domain/receipts/receiptExport.ts';
import { Delivery, DeliveryAttempt, Event } from '../entities/webhooks.ts';
import { BOUNCE_MILLISECONDS } from '../mail/mails.ts';
import type { Orm } from '../orm.ts';
import {
  COUNT_MILLISECONDS,
  DAILY_COUNT_MILLISECONDS,
  FAILURE_MILLISECONDS,
  FORM_MILLISECONDS,
  SIGN_IN_MILLISECONDS,
} from '../people/counts.ts';
import { ANSWER_MILLISECONDS } from '../people/idempotency.ts';

const DAY_MILLISECONDS = 86_400_000;
/** Kept this long after expiry, to look up how an invitation ended. */
const INVITATION_MILLISECONDS = 30 * DAY_MILLISECONDS;

/** Kept this long after a session of the console started. */
const CONSOLE_SESSION_MILLISECONDS = 30 * DAY_MILLISECONDS;

/** Deletes at most `limit` rows older than `before`, in the open transaction; returns how many. */
type Purge = (em: EntityManager, before: Date, limit: number) => Promise<number>;

/** For each table, how long its rows are kept, in milliseconds, and how they are deleted. */
const PURGES: Readonly<Record<PurgedTable, [kept: (retention: Retention) => number, purge: Purge]>> = {
  outbox: [({ outboxDays }) => outboxDays * DAY_MILLISECONDS, deleteWhere('outbox', 'dispatched_at < ?')],
  delivery_attempt: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    deleteWhere(
      'delivery_attempt',
      `at < ? and exists (select from delivery where id = delivery_attempt.delivery_id and status <> 'PENDING')`,
    ),
  ],
  mail_attempt: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    deleteWhere(
      'mail_attempt',
      `at < ? and exists (select from mail where id = mail_attempt.mail_id and status <> 'PENDING')`,
    ),
  ],
  authority_attempt: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    // `first_at` has the index, and is never later than `last_at`.
    deleteWhere('authority_attempt', 'first_at < ? and last_at < ?', 2),
  ],
  run_item: [
    ({ attemptsDays }) => attemptsDays * DAY_MILLISECONDS,
    deleteWhere('run_item', 'exists (select from run where id = run_id and ended_at < ?)'),
  ],
  receipt_export_part: [
    () => EXPORT_KEPT_DAYS * DAY_MILLISECONDS,
    deleteWhere(
      'receipt_export_part',
      'exists (select from receipt_export where id = export_id and ended_at < ?)',
    ),
  ],
  event: [({ eventsDays }) => eventsDays * DAY_MILLISECONDS, purgeEvents],
  idempotent_answer: [() => ANSWER_MILLISECONDS, deleteWhere('idempotent_answer', 'created_at < ?')],
  request_count: [() => COUNT_MILLISECONDS, deleteWhere('request_count', 'since < ?')],
  failed_authentication: [() => FAILURE_MILLISECONDS, deleteWhere('failed_authentication', 'since < ?')],
  sign_in_count: [() => SIGN_IN_MILLISECONDS, deleteWhere('sign_in_count', 'since < ?')],
  form_count: [() => FORM_MILLISECONDS, deleteWhere('form_count', 'since < ?')],
  console_session: [() => CONSOLE_SESSION_MILLISECONDS, purgeSessions],
  daily_count: [() => DAILY_COUNT_MILLISECONDS, deleteWhere('daily_count', 'day < ?')],
  mail_bounce: [() => BOUNCE_MILLISECONDS, deleteWhere('mail_bounce', 'since < ?')],
  // Including used, withdrawn and replaced ones: the audit records who invited whom, and who joined.
  account_invitation: [() => INVITATION_MILLISECONDS, deleteWhere('account_invitation', 'expires_at < ?')],
  invitation: [() => INVITATION_MILLISECONDS, deleteWhere('invitation', 'expires_at < ?')],
  certificate: [({ keysDays }) => keysDays * DAY_MILLISECONDS, purgeKeys],
};

/**
 * Deletes all rows that have expired at `now`, in batches of one transaction each, which skip locked rows. Safe to
 * repeat, and to run concurrently. `onPurged` is called for every batch.
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

/** Deletes the rows of a table that match a condition; each of its parameters is `before`. */
function deleteWhere(table: string, condition: string, parameters = 1): Purge {
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

/** The worker may neither read nor lock sessions (rights.ts); no one uses one that ended so long ago. */
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
 * Deletes events with their deliveries and attempts, but not those with a delivery that is pending or ended after
 * `before`: a resent one may still be looked up. Returns how many events.
 */
async function purgeEvents(em: EntityManager, before: Date, limit: number): Promise<number> {
  const at = before.toISOString();
  const old = await em.execute<{ id: string }[]>(
    `select id from event where created_at < ? and not exists (
       select from delivery where event_id = event.id and (status = 'PENDING' or settled_at >= ?))
     order by created_at limit ? for update skip locked`,
    [at, at, limit],
  );
  // One may be resent at this moment: a locked row shows its current state.
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
 * Deletes private keys of certificates that were replaced before `before` and that no CFE needs any more. The
 * certificates stay. A CFE that had chosen such a certificate was stored long ago, within seconds.
 */
async function purgeKeys(em: EntityManager, before: Date, limit: number): Promise<number> {
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
