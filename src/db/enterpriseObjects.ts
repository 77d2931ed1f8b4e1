import type { EntityManager } from '@mikro-orm/postgresql';
import { type EnterpriseObject, enterpriseObject } from '../domain/enterpriseObject.ts';
import { Cae } from './entities/Cae.ts';
import { Certificate } from './entities/Certificate.ts';
import type { Enterprise } from './entities/Enterprise.ts';

/**
 * The enterprise objects (docs/contract.md#enterprise; without the role) of these enterprises at `now`, in their order,
 * as the open transaction sees them: two questions for however many there are.
 */
export async function enterpriseObjects(
  em: EntityManager,
  enterprises: readonly Enterprise[],
  now: Date,
): Promise<EnterpriseObject[]> {
  const production = { rut: { $in: enterprises.map(({ rut }) => rut) }, environment: 'production' as const };
  const certificates = await em.find(Certificate, { ...production, replacedAt: null });
  const caes = await em.find(Cae, production, { orderBy: { createdAt: 'asc', id: 'asc' }, exclude: ['xml'] });
  const caesOf = Map.groupBy(caes, ({ rut }) => rut);
  const certificateOf = new Map(certificates.map((certificate) => [certificate.rut, certificate]));
  return enterprises.map((enterprise) => {
    const { rut } = enterprise;
    const certificate = certificateOf.get(rut) ?? null;
    return enterpriseObject({ enterprise, certificate, caes: caesOf.get(rut) ?? [] }, now);
  });
}

/** The enterprise object of one enterprise at `now`, as the open transaction sees it. */
export async function enterpriseObjectOf(
  em: EntityManager,
  enterprise: Enterprise,
  now: Date,
): Promise<EnterpriseObject> {
  const [object] = await enterpriseObjects(em, [enterprise], now);
  if (!object) throw new Error('one enterprise gave no object');
  return object;
}
