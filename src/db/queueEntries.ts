import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { QueueEntry } from './entities/authority.ts';
import type { Cfe } from './entities/receipts.ts';

/** A CFE that is next. */
interface NextEntry {
  readonly cfeUuid: string;
  readonly rut: string;
}

/** A CFE that was given a slot. */
export interface GivenSlot extends NextEntry {
  readonly slot: Date;
}

/** Puts a CFE into the queue, when the open transaction is flushed. */
export function addEntry(em: EntityManager, cfe: Cfe): QueueEntry {
  const { id, environment, rut, createdAt, sequence } = cfe;
  return em.create(QueueEntry, {
    cfeUuid: id,
    environment,
    rut,
    since: createdAt,
    sequence,
    slot: null,
    probedAt: null,
  });
}

/** Takes a CFE out of the queue that was called; false where it waits, or is not in the queue. */
export async function removeCalled(em: EntityManager, cfeUuid: string): Promise<boolean> {
  return (await em.nativeDelete(QueueEntry, { cfeUuid, slot: { $ne: null } })) > 0;
}

/** The environments in which CFEs wait. */
export async function environmentsWaiting(em: EntityManager): Promise<Environment[]> {
  const rows = await em.execute<{ environment: Environment }[]>(
    `select environment from unnest(array['production', 'sandbox']) environment
     cross join lateral (select from queue_entry one
       where one.environment = environment.environment and one.slot is null limit 1) somebody`,
  );
  return rows.map(({ environment }) => environment);
}

/**
 * The CFEs that are next, at most `count`: in each round one of each enterprise, its oldest, the enterprise first whose last slot
 * is longest ago. `notProbedSince` passes over those that gave up being the prober since then.
 */
export function nextEntries(
  em: EntityManager,
  options: { environment: Environment; count: number; notProbedSince?: Date },
): Promise<NextEntry[]> {
  const { environment, count, notProbedSince } = options;
  const passedOver = notProbedSince ? 'and (probed_at is null or probed_at < ?::timestamptz)' : '';
  // With somebody to pass over, it may take a look at every enterprise to find one who is not.
  const enterprises = notProbedSince ? '' : 'limit ?';
  return em.execute<NextEntry[]>(
    `with recursive waiting (rut) as (
       (select rut from queue_entry where environment = ? and slot is null order by rut limit 1)
       union all
       select (select rut from queue_entry
         where environment = ? and slot is null and rut > waiting.rut order by rut limit 1)
       from waiting where waiting.rut is not null
     ), nearest as (
       select rut, last_slot from waiting join sobre_sequence using (rut)
       where environment = ? order by last_slot nulls first, rut ${enterprises}
     )
     select cfe_uuid as "cfeUuid", nearest.rut from nearest cross join lateral (
       select cfe_uuid, row_number() over (order by since, sequence) as round from queue_entry
       where environment = ? and rut = nearest.rut and slot is null ${passedOver}
       order by since, sequence limit ?
     ) oldest
     order by round, last_slot nulls first, rut limit ?`,
    [
      environment,
      environment,
      environment,
      ...(notProbedSince ? [] : [count]),
      environment,
      ...(notProbedSince ? [notProbedSince.toISOString()] : []),
      count,
      count,
    ],
  );
}

/** Notes which slots were given, with the CFEs and as the last slots of their enterprises. */
export async function releaseEntries(
  em: EntityManager,
  environment: Environment,
  given: readonly GivenSlot[],
): Promise<void> {
  const rows = JSON.stringify(given);
  await em.execute(
    `update queue_entry set slot = given.slot
     from jsonb_to_recordset(?::jsonb) as given ("cfeUuid" uuid, slot timestamptz) where cfe_uuid = given."cfeUuid"`,
    [rows],
  );
  await em.execute(
    `update sobre_sequence set last_slot = given.slot
     from (select rut, max(slot) as slot from jsonb_to_recordset(?::jsonb) as one (rut text, slot timestamptz)
       group by rut) given
     where sobre_sequence.rut = given.rut and environment = ?`,
    [rows, environment],
  );
}

/**
 * After a crash: lets those wait anew that were called before `before` and never came, and takes off those that are no longer
 * to be sent. A call that Temporal has not been told yet is not made a second time.
 */
export async function takeBackUnused(em: EntityManager, before: Date): Promise<void> {
  await em.execute(
    `delete from queue_entry using cfe where cfe.id = cfe_uuid and slot < ?::timestamptz
       and (status <> 'PENDING' or stuck_reason is not null)`,
    [before.toISOString()],
  );
  await em.execute(
    `update queue_entry set slot = null where slot < ?::timestamptz and not exists (
       select from outbox where dispatched_at is null and signal = 'slotGiven' and input ->> 'cfeUuid' = cfe_uuid::text)`,
    [before.toISOString()],
  );
}
