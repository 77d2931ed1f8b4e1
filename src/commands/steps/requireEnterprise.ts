import type { EntityManager } from '@mikro-orm/postgresql';
import { findEnterprise, lockEnterprise } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { Refusal } from '../../errors.ts';

/** Returns the enterprise. Throws NOT_FOUND for an unknown RUT. */
export const requireKnownEnterprise = async (em: EntityManager, rut: string): Promise<Enterprise> =>
  (await findEnterprise(em, rut)) ?? refuseUnknown(rut);

/** Returns the enterprise, locked until the open transaction ends. Throws NOT_FOUND for an unknown RUT. */
export const requireLockedEnterprise = async (em: EntityManager, rut: string): Promise<Enterprise> =>
  (await lockEnterprise(em, rut)) ?? refuseUnknown(rut);

function refuseUnknown(rut: string): never {
  throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
}
