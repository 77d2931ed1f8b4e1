import type { EntityManager } from '@mikro-orm/postgresql';
import {
  enterpriseChanges,
  type ListedCae,
  listedCaeObject,
} from '../../domain/enterprises/enterpriseObject.ts';
import {
  daysLeft,
  dueWarnings,
  isRepeatable,
  PACE_DAYS,
  type WarnedEnterprise,
} from '../../domain/enterprises/warnings.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { enterpriseUpdated } from '../../domain/webhooks/webhookEvents.ts';
import { Certificate, Warning } from '../entities/enterprises.ts';
import { Cae } from '../entities/numbers.ts';
import { findCaes } from '../numbers/numbers.ts';
import { recordEvent } from '../webhooks/events.ts';
import { buildEnterpriseObject, lockEnterprise } from './enterprises.ts';

const PRODUCTION = { environment: 'production' as const };
const DAY_MILLISECONDS = 86_400_000;

/** Returns the CAEs of an enterprise in upload order, with their remaining numbers and days at `now`. */
export async function listCaes(
  em: EntityManager,
  { rut, environment, now }: { rut: string; environment: Environment; now: Date },
): Promise<ListedCae[]> {
  const caes = await findCaes(em, rut, environment);
  const used = environment === 'production' ? (await countRecentNumbers(em, [rut], now)).get(rut) : undefined;
  return caes.map((cae) => listedCaeObject(cae, daysLeft(cae.numbersLeft, used?.get(cae.type) ?? 0), now));
}

/** Counts the production numbers of each type that enterprises used in the 28 days before `now`, by RUT. */
export async function countRecentNumbers(
  em: EntityManager,
  ruts: readonly string[],
  now: Date,
): Promise<Map<string, Map<CfeType, number>>> {
  if (ruts.length === 0) return new Map();
  // Sequence numbers follow time, so a binary search over the unique index finds the first one: counting would read
  // every CFE of four weeks. Numbers up to `low` were used before, those above `high` since.
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

/**
 * Returns at most `limit` RUTs of enterprises with a production CAE or certificate, in order, after the RUT `after`.
 */
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

/**
 * Loads the certificates, CAEs and pace of these enterprises, for warnings. CAEs that expired before the pace was
 * measured do not count.
 */
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
 * Records due warnings of an enterprise that were not given yet, with the open transaction, and deletes repeatable
 * ones that are no longer due. Returns how many were given; of concurrent calls one gives each.
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
 * Returns at most `limit` RUTs, in order, after the RUT `after`, of enterprises with a production certificate or CAE
 * that expired before `now` and after their last event about one. Dates are Montevideo's (UTC−3).
 */
export async function listRutsWithUnreportedExpiries(
  em: EntityManager,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<string[]> {
  const rows = await em.execute<{ rut: string }[]>(
    `select e.rut from enterprise e, coalesce(e.expiries_told_at, e.created_at) as notified(at)
     where e.rut > ? and (
       exists (select 1 from certificate c
         where c.rut = e.rut and c.environment = 'production' and c.replaced_at is null
           and c.not_after >= notified.at and c.not_after < ?)
       or exists (select 1 from cae a
         where a.rut = e.rut and a.environment = 'production'
           and a.expiration_date >= (notified.at at time zone 'UTC' - interval '3 hours')::date
           and a.expiration_date < ?))
     order by e.rut limit ?`,
    [after, now, montevideoDate(now), limit],
  );
  return rows.map(({ rut }) => rut);
}

/**
 * Records `enterprise.updated` for changes by time alone since the last such event, with the open transaction;
 * returns whether there were any. Uploads meanwhile had their own events, and do not count as changes.
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
