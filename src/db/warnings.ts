import type { EntityManager } from '@mikro-orm/postgresql';
import type { CfeType } from '../domain/cfeTypes.ts';
import { enterpriseChanges } from '../domain/enterpriseObject.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { dueWarnings, isRepeatable, PACE_DAYS, type WarnedEnterprise } from '../domain/warnings.ts';
import { enterpriseUpdated } from '../domain/webhookEvents.ts';
import { buildEnterpriseObject, lockEnterprise } from './enterprises.ts';
import { Certificate, Warning } from './entities/enterprises.ts';
import { Cae } from './entities/numbers.ts';
import { recordEvent } from './events.ts';

const PRODUCTION = { environment: 'production' as const };
const DAY_MILLISECONDS = 86_400_000;

/** How many production numbers of each type the enterprises used in the last 28 days before `now`, by RUT. */
export async function countRecentNumbers(
  em: EntityManager,
  ruts: readonly string[],
  now: Date,
): Promise<Map<string, Map<CfeType, number>>> {
  if (ruts.length === 0) return new Map();
  // Numbers of a type follow one another in time, so the first of them is found by halving, over the unique index:
  // counting would read every CFE of four weeks. What is at or below `low` was used before, what is above `high` since.
  const rows = await em.execute<{ rut: string; type: CfeType; used: number }[]>(
    `select s.rut, s.type, s.last - found.low as used
     from cfe_sequence s, lateral (
       with recursive halving(low, high) as (
         select 0, s.last
         union all
         select case when before then middle else low end, case when before then high else middle - 1 end
         from (
           select low, high, middle, coalesce((
             select c.created_at < ? from cfe c
             where c.rut = s.rut and c.environment = s.environment and c.type = s.type and c.sequence <= middle
             order by c.sequence desc limit 1), true) as before
           from (select low, high, (low + high + 1) / 2 as middle from halving where low < high) as half
         ) as step
       )
       select low from halving where low >= high
     ) as found
     where s.environment = 'production' and s.rut in (?)`,
    [new Date(now.getTime() - PACE_DAYS * DAY_MILLISECONDS), [...ruts]],
  );
  const byRut = Map.groupBy(rows, ({ rut }) => rut);
  return new Map(
    ruts.map((rut) => [rut, new Map((byRut.get(rut) ?? []).map(({ type, used }) => [type, used]))]),
  );
}

/** The RUTs of enterprises with a production CAE or certificate, after the RUT `after`, in their order; at most `limit`. */
export async function listRutsWithDocuments(
  em: EntityManager,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await em.execute<{ rut: string }[]>(
    `select e.rut from enterprise e
     where e.rut > ? and (
       exists (select 1 from cae a where a.rut = e.rut and a.environment = 'production')
       or exists (select 1 from certificate c
         where c.rut = e.rut and c.environment = 'production' and c.replaced_at is null))
     order by e.rut limit ?`,
    [after, limit],
  );
  return rows.map(({ rut }) => rut);
}

/** What warnings look at, of these enterprises; CAEs that expired before the pace was measured count for nothing. */
export async function loadWarnedEnterprises(
  em: EntityManager,
  ruts: readonly string[],
  now: Date,
): Promise<WarnedEnterprise[]> {
  const of = { ...PRODUCTION, rut: { $in: [...ruts] } };
  const caes = await em.find(Cae, of, { exclude: ['xml'], orderBy: { createdAt: 'asc', id: 'asc' } });
  const certificates = await em.find(Certificate, { ...of, replacedAt: null });
  const used = await countRecentNumbers(em, ruts, now);
  const caesOf = Map.groupBy(caes, ({ rut }) => rut);
  const certificateOf = new Map(certificates.map((certificate) => [certificate.rut, certificate]));
  return ruts.map((rut) => {
    const held = certificateOf.get(rut);
    return {
      rut,
      caes: caesOf.get(rut) ?? [],
      certificate: held ? { id: held.id, expirationDate: montevideoDate(held.notAfter) } : null,
      usedLately: used.get(rut) ?? new Map<CfeType, number>(),
    };
  });
}

/**
 * Gives an enterprise the warnings that are due at `now` and were not given yet, with the open transaction, and forgets
 * those that may be given again once they are not due any more; answers how many were given. Two at once give each once.
 */
export async function recordDueWarnings(
  em: EntityManager,
  enterprise: WarnedEnterprise,
  now: Date,
): Promise<number> {
  const { rut } = enterprise;
  const due = dueWarnings(enterprise, montevideoDate(now));
  const given = new Set((await em.find(Warning, { rut })).map(({ about }) => about));
  const passed = [...given].filter(
    (about) => isRepeatable(about) && due.every((warning) => warning.about !== about),
  );
  if (passed.length > 0) await em.nativeDelete(Warning, { rut, about: { $in: passed } });
  let count = 0;
  for (const { about, event } of due.filter((warning) => !given.has(warning.about))) {
    const rows = await em.execute<unknown[]>(
      'insert into warning (rut, about, given_at) values (?, ?, ?) on conflict do nothing returning about',
      [rut, about, now],
    );
    if (rows.length === 0) continue;
    await recordEvent(em, { rut, ...PRODUCTION }, event, now);
    count += 1;
  }
  return count;
}

/**
 * The RUTs of enterprises with a production certificate or CAE that passed its date before `now` and after they were
 * last told of such a thing, in their order, after the RUT `after`; at most `limit`. Dates are Montevideo's (UTC−3).
 */
export async function listRutsWithUnreportedExpiries(
  em: EntityManager,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<string[]> {
  const rows = await em.execute<{ rut: string }[]>(
    `select e.rut from enterprise e, coalesce(e.expiries_told_at, e.created_at) as told(at)
     where e.rut > ? and (
       exists (select 1 from certificate c
         where c.rut = e.rut and c.environment = 'production' and c.replaced_at is null
           and c.not_after >= told.at and c.not_after < ?)
       or exists (select 1 from cae a
         where a.rut = e.rut and a.environment = 'production'
           and a.expiration_date >= (told.at at time zone 'UTC' - interval '3 hours')::date
           and a.expiration_date < ?))
     order by e.rut limit ?`,
    [after, now, montevideoDate(now), limit],
  );
  return rows.map(({ rut }) => rut);
}

/**
 * Records `enterprise.updated` for what the clock alone has changed since it was last told, with the open transaction: whether
 * there was anything. Papers uploaded meanwhile have had their own event, and are compared as they stand now.
 */
export async function recordExpiryEvent(em: EntityManager, rut: string, now: Date): Promise<boolean> {
  const enterprise = await lockEnterprise(em, rut);
  if (!enterprise) return false;
  const since = enterprise.expiriesToldAt ?? enterprise.createdAt;
  if (since >= now) return false;
  const before = await buildEnterpriseObject(em, enterprise, since);
  const after = await buildEnterpriseObject(em, enterprise, now);
  const changes = enterpriseChanges(before, after);
  if (Object.keys(changes).length === 0) return false;
  await recordEvent(em, { rut, environment: 'production' }, enterpriseUpdated(after, changes), now);
  enterprise.expiriesToldAt = now;
  return true;
}
