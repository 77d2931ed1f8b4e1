import type { EntityManager } from '@mikro-orm/postgresql';
import { findCfe } from '../db/cfes.ts';
import type { Cfe } from '../db/entities/Cfe.ts';
import { parseCfeId } from '../domain/cfeId.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { Refusal } from '../errors.ts';

/** The CFE that arguments name. Refuses where there is none (NOT_FOUND). */
export async function oneCfe(
  em: EntityManager,
  { rut = '', cfe_id, environment }: { rut?: string | undefined; cfe_id: string; environment: Environment },
): Promise<Cfe> {
  const parts = parseCfeId(cfe_id);
  const cfe = parts ? await findCfe(em, { rut, environment, ...parts }) : null;
  if (!cfe) throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no CFE ${cfe_id} in ${environment}.`);
  return cfe;
}
