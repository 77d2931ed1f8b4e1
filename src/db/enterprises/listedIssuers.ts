/** Whether the authority's list of electronic issuers names our enterprises. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { isIssuerOn } from '../../domain/mail/directory.ts';
import { DirectoryEntry } from '../entities/authority.ts';
import { recordEnterpriseChanges } from '../webhooks/events.ts';
import { lockEnterprise } from './enterprises.ts';

/** Returns at most `limit` RUTs, after `after`, of enterprises whose state in the list of `today` (Montevideo) has changed. */
export async function listChangedIssuers(
  em: EntityManager,
  { today, after, limit }: { today: string; after: string; limit: number },
): Promise<string[]> {
  const rows = await em.execute<{ rut: string }[]>(
    `select enterprise.rut from enterprise left join directory_entry entry on entry.rut = enterprise.rut
     where enterprise.rut > ? and listed_issuer is distinct from
       coalesce(since <= ?::date and (until is null or until >= ?::date), false)
     order by enterprise.rut limit ?`,
    [after, today, today, limit],
  );
  return rows.map(({ rut }) => rut);
}

/** Stores whether the list of `today` names the enterprise, with its event; with the open transaction. */
export async function recordListedIssuer(
  em: EntityManager,
  rut: string,
  { today, now }: { today: string; now: Date },
): Promise<void> {
  const enterprise = await lockEnterprise(em, rut);
  if (!enterprise) return;
  const entry = await em.findOne(DirectoryEntry, { rut });
  await recordEnterpriseChanges(em, enterprise, now, () => {
    enterprise.listedIssuer = entry !== null && isIssuerOn(entry, today);
  });
}
