import type { EntityManager } from '@mikro-orm/postgresql';
import type { ReadyFacts } from '../domain/enterpriseStatus.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { currentCertificate } from './certificates.ts';
import { Cae } from './entities/Cae.ts';
import type { Enterprise } from './entities/Enterprise.ts';

/** Which of the facts hold at `now` that together make an enterprise READY (docs/contract.md#becoming-ready). */
export async function readyFacts(em: EntityManager, enterprise: Enterprise, now: Date): Promise<ReadyFacts> {
  const { rut, permissions, planId, scheduledReadyDate } = enterprise;
  const certificate = await currentCertificate(em, rut, 'production');
  const caesInForce = await em.count(Cae, {
    rut,
    environment: 'production',
    expirationDate: { $gte: montevideoDate(now) },
  });
  return {
    prodPermission: permissions.includes('PROD'),
    validCertificate: certificate !== null && certificate.notBefore <= now && now <= certificate.notAfter,
    plan: planId !== null,
    okCae: caesInForce > 0,
    dateCome: scheduledReadyDate !== null && scheduledReadyDate <= now,
  };
}
