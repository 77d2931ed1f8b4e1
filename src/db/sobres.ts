import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { Sobre } from './entities/Sobre.ts';

/** The sobre in which a CFE is, or goes, to the authority; null when none was made yet or the last was refused. */
export function sobreUnderWay(em: EntityManager, cfeUuid: string): Promise<Sobre | null> {
  return em.findOne(Sobre, { cfeId: cfeUuid, state: { $ne: 'REFUSED' } }, { populate: ['xml'] });
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
