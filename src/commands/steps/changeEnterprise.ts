import type { EntityManager } from '@mikro-orm/postgresql';
import { lockEnterprise } from '../../db/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { recordEnterpriseChanges } from '../../db/events.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { Refusal } from '../../errors.ts';
import { audited } from './audited.ts';
import type { CommandDeps } from './deps.ts';
import { requireStanding } from './standing.ts';

/**
 * Runs `change` in one transaction that holds the enterprise's lock, then lets the outbox go. Where the enterprise
 * object is another afterwards, `enterprise.updated` is recorded with it; `act` goes into the audit. Refuses a RUT that
 * is not registered (NOT_FOUND).
 */
export async function changeEnterprise<T>(
  deps: CommandDeps,
  rut: string,
  act: { action: AuditAction; reason?: string },
  change: (em: EntityManager, enterprise: Enterprise, now: Date) => T | Promise<T>,
): Promise<T> {
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const enterprise = await lockEnterprise(em, rut);
    if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    await requireStanding(deps, em, rut);
    const now = deps.clock();
    const result = await recordEnterpriseChanges(em, enterprise, now, () => change(em, enterprise, now));
    audited(deps, em, { ...act, subject: rut, rut }, now);
    return result;
  });
  deps.outbox.scheduleDispatch();
  return result;
}
