import type { EntityManager } from '@mikro-orm/postgresql';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { recordEnterpriseChanges } from '../../db/webhooks/events.ts';
import type { AuditAction } from '../../domain/operations/audit.ts';
import { auditAct } from './auditAct.ts';
import type { CommandDeps } from './deps.ts';
import { requireLockedEnterprise } from './requireEnterprise.ts';
import { requireEnterpriseRole } from './requireEnterpriseRole.ts';

/**
 * Runs `change` and audits it in one transaction that locks the enterprise, then triggers the outbox. Records
 * `enterprise.updated` when the enterprise object changed. Throws NOT_FOUND for an unknown RUT.
 */
export async function changeEnterprise<T>(
  deps: CommandDeps,
  rut: string,
  act: { action: AuditAction; reason?: string },
  change: (em: EntityManager, enterprise: Enterprise, now: Date) => T | Promise<T>,
): Promise<T> {
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const enterprise = await requireLockedEnterprise(em, rut);
    await requireEnterpriseRole(deps, em, rut);
    const now = deps.clock();
    const result = await recordEnterpriseChanges(em, enterprise, now, () => change(em, enterprise, now));
    auditAct(deps, em, { ...act, subject: rut, rut }, now);
    return result;
  });
  deps.outbox.scheduleDispatch();
  return result;
}
