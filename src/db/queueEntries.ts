import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import type { Cfe } from './entities/Cfe.ts';
import { QueueEntry } from './entities/QueueEntry.ts';

/** A CFE that is next. */
interface NextEntry {
  readonly cfeId: string;
  readonly rut: string;
}

/** A CFE that was given a slot. */
export interface GivenSlot extends NextEntry {
  readonly slot: Date;
}

/** The queue entry of a CFE; null while it neither waits nor was let through. */
export function findEntry(em: EntityManager, cfeId: string): Promise<QueueEntry | null> {
  return em.findOne(QueueEntry, { cfeId });
}

/** Puts a CFE into the queue, when the open transaction is flushed. */
export function addEntry(em: EntityManager, cfe: Cfe): QueueEntry {
  const { id, environment, rut, createdAt, sequence } = cfe;
  return em.create(QueueEntry, {
    cfeId: id,
    environment,
    rut,
    since: createdAt,
    sequence,
    releasedFor: null,
    probedAt: null,
  });
}

/** Takes a CFE out of the queue: it was received, decided, or waits for a person. */
export async function removeEntry(em: EntityManager, cfeId: string): Promise<void> {
  await em.nativeDelete(QueueEntry, { cfeId });
}

/** Takes a CFE out of the queue that was called; false where it waits, or is not in the queue. */
export async function removeCalled(em: EntityManager, cfeId: string): Promise<boolean> {
  return (await em.nativeDelete(QueueEntry, { cfeId, releasedFor: { $ne: null } })) > 0;
}

/** The environments in which CFEs wait. */
export async function environmentsWaiting(em: EntityManager): Promise<Environment[]> {
  const rows = await em.execute<{ environment: Environment }[]>(
    `select environment from unnest(array['production', 'sandbox']) environment
     cross join lateral (select from authority_turn one
       where one.environment = environment.environment and one.released_for is null limit 1) somebody`,
  );
  return rows.map(({ environment }) => environment);
}

/** How many CFEs were let through and are not received yet. */
export async function countReleased(em: EntityManager, environment: Environment): Promise<number> {
  return em.count(QueueEntry, { environment, releasedFor: { $ne: null } });
}

/**
 * The CFEs that are next, in order, at most `count`: round by round over the enterprises that wait, in each round the
 * one first whose last slot is longest ago, and of each its oldest CFE. `notProbedSince` passes over those that gave up
 * being the prober since then.
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
       (select rut from authority_turn where environment = ? and released_for is null order by rut limit 1)
       union all
       select (select rut from authority_turn
         where environment = ? and released_for is null and rut > waiting.rut order by rut limit 1)
       from waiting where waiting.rut is not null
     ), nearest as (
       select rut, last_turn_at from waiting join sobre_sequence using (rut)
       where environment = ? order by last_turn_at nulls first, rut ${enterprises}
     )
     select cfe_id as "cfeId", nearest.rut from nearest cross join lateral (
       select cfe_id, row_number() over (order by since, sequence) as round from authority_turn
       where environment = ? and rut = nearest.rut and released_for is null ${passedOver}
       order by since, sequence limit ?
     ) oldest
     order by round, last_turn_at nulls first, rut limit ?`,
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
    `update authority_turn set released_for = given.slot
     from jsonb_to_recordset(?::jsonb) as given ("cfeId" uuid, slot timestamptz) where cfe_id = given."cfeId"`,
    [rows],
  );
  await em.execute(
    `update sobre_sequence set last_turn_at = given.slot
     from (select rut, max(slot) as slot from jsonb_to_recordset(?::jsonb) as one (rut text, slot timestamptz)
       group by rut) given
     where sobre_sequence.rut = given.rut and environment = ?`,
    [rows, environment],
  );
}

/**
 * Lets those wait anew of whom nothing was heard since `before`, though they were called, and takes off those that are
 * no longer to be sent: what a crash at the wrong moment leaves behind. A call that Temporal has
 * not been told yet is not made a second time.
 */
export async function takeBackUnused(em: EntityManager, before: Date): Promise<void> {
  await em.execute(
    `delete from authority_turn using cfe where cfe.id = cfe_id and released_for < ?::timestamptz
       and (status <> 'PENDING' or stuck_reason is not null)`,
    [before.toISOString()],
  );
  await em.execute(
    `update authority_turn set released_for = null where released_for < ?::timestamptz and not exists (
       select from outbox where dispatched_at is null and signal = 'turnCame' and input ->> 'cfeId' = cfe_id::text)`,
    [before.toISOString()],
  );
}
