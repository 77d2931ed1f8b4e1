import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import type { Numbering } from './cfes.ts';
import { Cae } from './entities/Cae.ts';

/** A CAE without its file, which nothing reads but an audit. */
export type CaeRow = Loaded<Cae, never, never, 'xml'>;

/** The CAEs of an enterprise, in the order in which they were uploaded. */
export function listCaes(em: EntityManager, rut: string, environment: Environment): Promise<CaeRow[]> {
  return em.find(Cae, { rut, environment }, { orderBy: { createdAt: 'asc', id: 'asc' }, exclude: ['xml'] });
}

/**
 * The CAEs of one type that have not expired on `today` (Montevideo, `YYYY-MM-DD`). Whoever has locked the type's
 * numbering (`takeSequence`) may choose one and move its `lastNumber`.
 */
export function caesForNumbers(
  em: EntityManager,
  { rut, environment, type, today }: Numbering & { today: string },
): Promise<CaeRow[]> {
  return em.find(Cae, { rut, environment, type, expirationDate: { $gte: today } }, { exclude: ['xml'] });
}

/** The CAE that holds all numbers of a span, given or not; null where there is none. */
export function caeHolding(
  em: EntityManager,
  { rut, environment, type, serie, from, to }: Numbering & { serie: string; from: number; to: number },
): Promise<CaeRow | null> {
  const holding = { numberStart: { $lte: from }, numberEnd: { $gte: to } };
  return em.findOne(Cae, { rut, environment, type, serie, ...holding }, { exclude: ['xml'] });
}

/** The values of a CAE that is stored for the first time. */
export type NewCae = Omit<Cae, symbol | 'numbersLeft'>;

/**
 * Stores a CAE. The caller holds the enterprise's lock and has seen that the range is free; the table refuses an
 * overlap all the same.
 */
export async function insertCae(em: EntityManager, values: NewCae): Promise<Cae> {
  const cae = em.create(Cae, values);
  await em.flush();
  return cae;
}
