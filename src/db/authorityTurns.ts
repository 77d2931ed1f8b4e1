import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { AuthorityTurn } from './entities/AuthorityTurn.ts';
import type { Cfe } from './entities/Cfe.ts';

/** A CFE that is next. */
export interface NextInTurn {
  readonly cfeId: string;
  readonly rut: string;
}

/** The turn of a CFE; null while it neither waits nor was let through. */
export function findTurn(em: EntityManager, cfeId: string): Promise<AuthorityTurn | null> {
  return em.findOne(AuthorityTurn, { cfeId });
}

/** Puts a CFE among those that wait, when the open transaction is flushed. */
export function addTurn(em: EntityManager, cfe: Cfe): AuthorityTurn {
  const { id, environment, rut, createdAt, sequence } = cfe;
  return em.create(AuthorityTurn, {
    cfeId: id,
    environment,
    rut,
    since: createdAt,
    sequence,
    releasedFor: null,
    probedAt: null,
  });
}

/** Takes a CFE off: it was received, settled, or waits for a person. */
export async function removeTurn(em: EntityManager, cfeId: string): Promise<void> {
  await em.nativeDelete(AuthorityTurn, { cfeId });
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
  return em.count(AuthorityTurn, { environment, releasedFor: { $ne: null } });
}

/**
 * The CFEs whose turn is next, in order, at most `count`: round by round over the enterprises that wait, in each
 * round the one first whose last turn is longest ago, and of each its oldest CFE. `notProbedSince` passes over those
 * that gave up being the probe since then.
 */
export function nextInTurn(
  em: EntityManager,
  options: { environment: Environment; count: number; notProbedSince?: Date },
): Promise<NextInTurn[]> {
  const { environment, count, notProbedSince } = options;
  const passedOver = notProbedSince ? 'and (probed_at is null or probed_at < ?::timestamptz)' : '';
  // With somebody to pass over, it may take a look at every enterprise to find one who is not.
  const enterprises = notProbedSince ? '' : 'limit ?';
  return em.execute<NextInTurn[]>(
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

/** Notes which slots were given, with the CFEs and as the last turns of their enterprises; `turns` in order. */
export async function releaseTurns(
  em: EntityManager,
  environment: Environment,
  turns: readonly (NextInTurn & { slot: Date })[],
): Promise<void> {
  const rows = JSON.stringify(turns);
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
 * Lets those wait anew whose turn nobody has used since `before`, though they were called, and takes off those that are
 * no longer to be sent: what a crash at the wrong moment leaves behind. A call that Temporal has not been told yet is
 * not made a second time.
 */
export async function takeBackUnused(em: EntityManager, before: Date): Promise<void> {
  await em.execute(
    `delete from authority_turn using cfe where cfe.id = cfe_id and released_for < ?::timestamptz
       and (status <> 'PENDING' or stuck_reason is not null)`,
    [before.toISOString()],
  );
  await em.execute(
    `update authority_endpoint set prober_id = null
     where prober_id is not null and not exists (select from authority_turn where cfe_id = prober_id)`,
  );
  await em.execute(
    `update authority_turn set released_for = null where released_for < ?::timestamptz and not exists (
       select from outbox where dispatched_at is null and signal = 'turnCame' and input ->> 'cfeId' = cfe_id::text)`,
    [before.toISOString()],
  );
}
