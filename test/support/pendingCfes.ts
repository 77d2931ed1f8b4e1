import { Cfe } from '../../src/db/entities/receipts.ts';
import type { Orm } from '../../src/db/orm.ts';
import { nextIdemisor } from '../../src/db/sobres.ts';
import type { Environment } from '../../src/domain/cfeTypes.ts';

/**
 * Puts PENDING CFEs of a READY enterprise into the table, a second apart from `from` on, as they are once their sobre
 * is stored; the oldest first.
 */
export async function givePendingCfes(
  orm: Orm,
  of: { accountId: string; rut: string; count: number; from: Date; environment?: Environment },
): Promise<Cfe[]> {
  const { accountId, rut, count, from, environment = 'production' } = of;
  const em = orm.em.fork();
  const [papers] = await em.execute<{ cae: string; certificate: string; last: number }[]>(
    `select cae.id as cae, certificate.id as certificate,
       (select coalesce(max(sequence), 0) from cfe where rut = cae.rut) as last
     from cae join certificate using (rut) where rut = ? limit 1`,
    [rut],
  );
  if (!papers) throw new Error(`${rut} has no CAE or no certificate`);
  const rows = await em.execute<{ id: string }[]>(
    `insert into cfe (id, workflow_id, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status,
       emission_date, currency, pay_amount, document, certificate_id, created_at)
     select gen_random_uuid(), gen_random_uuid(),
       translate(encode(uuid_send(gen_random_uuid()), 'base64'), '+/=', '-_'), ?, ?, ?, 'ETICKET', n, ?, 'A', n, 'PENDING',
       '2026-09-15', 'UYU', 1, '{"signedAt": "2026-09-15T12:00:00-03:00"}', ?, ?::timestamptz + (n - ? - 1) * interval '1 second'
     from generate_series(?::int, ?::int) n returning id`,
    [
      accountId,
      rut,
      environment,
      papers.cae,
      papers.certificate,
      from.toISOString(),
      papers.last,
      papers.last + 1,
      papers.last + count,
    ],
  );
  await em.execute('update cae set last_number = greatest(last_number, least(number_end, ?)) where id = ?', [
    papers.last + count,
    papers.cae,
  ]);
  await em.transactional((one) => nextIdemisor(one, rut, environment));
  return em.find(Cfe, { id: { $in: rows.map(({ id }) => id) } }, { orderBy: { sequence: 'asc' } });
}
