import type { EntityManager } from '@mikro-orm/postgresql';
import { setNextIdemisor } from '../../db/authority/sobres.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { Refusal } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Sets the number of the next sobre (Idemisor) of an enterprise in an environment. Operators only. Throws NOT_FOUND for an
 * unknown enterprise, INVALID_INPUT unless `next` is above all used numbers.
 */
export async function setIdemisor(
  deps: CommandDeps,
  { rut, environment, next, reason }: { rut: string; environment: Environment; next: number; reason: string },
): Promise<void> {
  await changeEnterprise(
    deps,
    rut,
    { action: 'enterprise.idemisor', reason: `${environment} ${next}: ${reason}` },
    (em) => setNextIdemisorOrThrow(em, { rut, environment }, next),
  );
}

/** Sets the next Idemisor with the open transaction; throws INVALID_INPUT unless it is above all used numbers. */
async function setNextIdemisorOrThrow(
  em: EntityManager,
  of: { rut: string; environment: Environment },
  next: number,
): Promise<void> {
  if (await setNextIdemisor(em, of, next)) return;
  throw new Refusal(
    'INVALID_INPUT',
    `Sobres of ${of.rut} in ${of.environment} already have the number ${next} or one above it.`,
  );
}
