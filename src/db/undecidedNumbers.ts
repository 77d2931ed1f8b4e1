/** Numbers that the authority refused for E06 alone: undecided, since its portal may still accept the CFE. */
import { type EntityManager, type FilterQuery, raw } from '@mikro-orm/postgresql';
import { Cfe } from './entities/Cfe.ts';

const UNDECIDED: FilterQuery<Cfe> = {
  status: 'REJECTED',
  [raw((cfe) => `number_fate(${cfe}.rejection)`)]: 'undecided',
  [raw((cfe) => `not exists (select from annulment where annulment.cfe_id = ${cfe}.id)`)]: true,
};

/** CFEs whose number is undecided, after the id `after`, in the order of their ids; at most `limit`. */
export function undecidedNumbers(
  em: EntityManager,
  { after, limit }: { after: string; limit: number },
): Promise<Cfe[]> {
  return em.find(Cfe, { $and: [UNDECIDED, { id: { $gt: after } }] }, { orderBy: { id: 'asc' }, limit });
}

/** Whether the number of a CFE is undecided. */
export async function isNumberUndecided(em: EntityManager, id: string): Promise<boolean> {
  return (await em.count(Cfe, { $and: [UNDECIDED, { id }] })) > 0;
}

/** Annuls the number of a CFE that is undecided, with the open transaction, which holds the lock of the CFE. */
export async function annulUndecided(em: EntityManager, { id }: Cfe, now: Date): Promise<void> {
  await em.execute(
    `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at,
       cae_id, cfe_id)
     select rut, environment, type, serie, numero, numero, 'rejected', left(document ->> 'signedAt', 10)::date, ?,
       cae_id, id
     from cfe where id = ?`,
    [now, id],
  );
}
