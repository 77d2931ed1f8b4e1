import type { EntityManager } from '@mikro-orm/postgresql';
import { enterpriseChanges } from '../domain/enterpriseObject.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { enterpriseUpdated } from '../domain/webhookEvents.ts';
import { enterpriseObjectOf } from './enterpriseObjects.ts';
import { lockEnterprise } from './enterprises.ts';
import { recordEvent } from './events.ts';

/**
 * The RUTs of enterprises with a production certificate or CAE that passed its date before `now` and after they were
 * last told of such a thing, in their order, after the RUT `after`; at most `limit`. Dates are Montevideo's (UTC−3).
 */
export async function expiredUntold(
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
 * Records `enterprise.updated` for what the clock alone has changed of an enterprise since it was last told so, with
 * the open transaction, and notes that it is told: whether there was anything. Papers that were uploaded or replaced
 * meanwhile have had their own event; they are compared as they stand now.
 */
export async function recordExpiriesOf(em: EntityManager, rut: string, now: Date): Promise<boolean> {
  const enterprise = await lockEnterprise(em, rut);
  if (!enterprise) return false;
  const since = enterprise.expiriesToldAt ?? enterprise.createdAt;
  if (since >= now) return false;
  const before = await enterpriseObjectOf(em, enterprise, since);
  const after = await enterpriseObjectOf(em, enterprise, now);
  const changes = enterpriseChanges(before, after);
  if (Object.keys(changes).length === 0) return false;
  await recordEvent(em, { rut, environment: 'production' }, enterpriseUpdated(after, changes), now);
  enterprise.expiriesToldAt = now;
  return true;
}
