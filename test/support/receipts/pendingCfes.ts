import { nextIdemisor, openSobres } from '../../../src/db/authority/sobres.ts';
import { Sobre, type SobreState } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';

/**
 * Puts PENDING CFEs of a READY enterprise into the table, a second apart from `from` on, as they wait to be put into a
 * sobre, unsigned; the oldest first.
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
    `insert into cfe (id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status,
       emission_date, currency, pay_amount, document, certificate_id, created_at)
     select gen_random_uuid(), false,
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
  await em.transactional((one) => nextIdemisor(one, { rut, environment }, montevideoDate(new Date())));
  return em.find(Cfe, { id: { $in: rows.map(({ id }) => id) } }, { orderBy: { sequence: 'asc' } });
}

/** Puts CFEs that wait into a sobre, OPEN, whose slot has come unless told otherwise; its id. */
export async function aSobreOf(
  orm: Orm,
  cfes: readonly Cfe[],
  { slot = new Date(0), now = new Date() }: { slot?: Date | null; now?: Date } = {},
): Promise<string> {
  const [first] = cfes;
  if (!first) throw new RangeError('a sobre without CFEs');
  const { rut, environment } = first;
  const [made] = await orm.em
    .fork()
    .transactional((em) => openSobres(em, [{ rut, environment, slot, cfes }], now));
  if (!made) throw new Error('no sobre was made');
  return made.id;
}

/** The sobre that a CFE is in; one is opened for it where it waits for one. Its id. */
export async function theSobreOf(orm: Orm, cfeId: string): Promise<string> {
  const cfe = await orm.em.fork().findOneOrFail(Cfe, { id: cfeId });
  return cfe.sobreId ?? aSobreOf(orm, [cfe]);
}

let lastIdemisor = 100_000n;
/** Puts the sobre of a CFE, and that CFE, where a test wants them; what was sent has a number and bytes. Its id. */
export async function putSobre(
  orm: Orm,
  cfeId: string,
  { state, sendingAt = null }: { state: SobreState; sendingAt?: Date | null },
): Promise<string> {
  const id = await theSobreOf(orm, cfeId);
  const em = orm.em.fork();
  const isReceived = state === 'RECEIVED';
  const written = state === 'OPEN' ? {} : { idemisor: (lastIdemisor += 1n), xml: '<EnvioCFE/>' };
  const ticket = isReceived ? { receivedAt: sendingAt, idReceptor: '7', token: 'b2xk' } : {};
  await em.nativeUpdate(Sobre, { id }, { state, sendingAt, ...written, ...ticket });
  if (isReceived) await em.nativeUpdate(Cfe, { id: cfeId }, { status: 'RECEIVED' });
  return id;
}
