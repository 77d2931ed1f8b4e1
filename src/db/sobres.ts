import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { Sobre } from './entities/authority.ts';

/** The sobre in which a CFE is, or goes, to the authority; null when none was made yet or the last was refused. */
export function sobreUnderWay(em: EntityManager, cfeUuid: string): Promise<Sobre | null> {
  return em.findOne(Sobre, { cfeUuid, state: { $ne: 'REFUSED' } }, { populate: ['xml'] });
}

/** The bytes of all sobres of a CFE, oldest first. */
export async function sobreXmls(
  em: EntityManager,
  cfeUuid: string,
): Promise<readonly Pick<Sobre, 'idemisor' | 'xml'>[]> {
  return em.find(Sobre, { cfeUuid }, { populate: ['xml'], orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** Skips `count` Idemisors of an enterprise in an environment. */
export async function skipIdemisors(
  em: EntityManager,
  { rut, environment }: { rut: string; environment: Environment },
  count: number,
): Promise<void> {
  await em.execute(
    `insert into sobre_sequence (rut, environment, last) values (?, ?, ?)
     on conflict (rut, environment) do update set last = sobre_sequence.last + excluded.last`,
    [rut, environment, count],
  );
}

/**
 * The next Idemisor of an enterprise in an environment. Its row stays locked until the open transaction ends, so
 * numbers are given in the order of commits.
 */
export async function nextIdemisor(
  em: EntityManager,
  rut: string,
  environment: Environment,
): Promise<bigint> {
  const [row] = await em.execute<{ last: string }[]>(
    `insert into sobre_sequence (rut, environment, last) values (?, ?, 1)
     on conflict (rut, environment) do update set last = sobre_sequence.last + 1
     returning last`,
    [rut, environment],
  );
  if (!row) throw new Error('the sequence of sobres gave no number');
  return BigInt(row.last);
}

/** A sobre that is stored with the signature, but for its number, which stands between the two parts of its text. */
export interface SobreToNumber {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly createdAt: Date;
}

/**
 * Stores a CFE's signature and its sobre, PREPARED, with the next Idemisor, in one statement: the sequence is locked for
 * no longer than that. Changes nothing where the CFE is signed or decided already.
 */
export async function storeSignedWithSobre(
  em: EntityManager,
  cfeUuid: string,
  signed: { xml: string; digest: string },
  sobre: SobreToNumber,
): Promise<void> {
  await em.execute(
    `with signed as (
       update cfe set signed_xml = ?, digest = ?, stuck_reason = null
       where id = ? and signed_xml is null and status = 'PENDING' returning id, rut, environment
     ), numbered as (
       insert into sobre_sequence (rut, environment, last) select rut, environment, 1 from signed
       on conflict (rut, environment) do update set last = sobre_sequence.last + 1 returning last
     )
     insert into sobre (id, cfe_uuid, rut, environment, idemisor, state, xml, created_at)
     select ?, signed.id, rut, environment, last, 'PREPARED', ?::text || last || ?::text, ? from signed, numbered`,
    [signed.xml, signed.digest, cfeUuid, sobre.id, sobre.before, sobre.after, sobre.createdAt],
  );
}

/**
 * Stores that a sobre is about to be sent, provided that it stands in that state and its CFE waits for nothing else,
 * in one statement under the lock of the CFE's row. False where nothing was stored.
 */
export async function markSending(
  em: EntityManager,
  { id, cfeUuid, state }: Pick<Sobre, 'id' | 'cfeUuid' | 'state'>,
  sendingAt: Date,
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `with waiting as (select id from cfe where id = ? and status = 'PENDING' for update)
     update sobre set state = 'SENDING', sending_at = ? from waiting
     where sobre.id = ? and sobre.state = ? and cfe_uuid = waiting.id returning sobre.id`,
    [cfeUuid, sendingAt, id, state],
  );
  return rows.length > 0;
}
