import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor, AuditAction } from '../domain/audit.ts';
import type { SupportOutcome } from '../domain/supportAction.ts';
import { AuditEntry } from './entities/AuditEntry.ts';

/** One act, as the audit keeps it. */
export interface Act {
  actor: Actor;
  action: AuditAction;
  /** Id of the thing that was changed. */
  subject: string;
  accountId?: string;
  rut?: string;
  reason?: string;
  /** Of an act of support: its outcome, and the id of the request, which is recorded once. */
  outcome?: SupportOutcome;
  requestId?: string;
}

/** Writes an act into the audit with the open transaction: it is recorded if, and only if, the act is done. */
export function recordAudit(em: EntityManager, act: Act, now: Date): void {
  em.create(AuditEntry, {
    at: now,
    actor: act.actor,
    action: act.action,
    subject: act.subject,
    accountId: act.accountId ?? null,
    rut: act.rut ?? null,
    reason: act.reason ?? null,
    outcome: act.outcome ?? null,
    requestId: act.requestId ?? null,
  });
}

/** What came of the act of support that a request asked for, or null where it was not done yet. */
export async function outcomeOfRequest(em: EntityManager, requestId: string): Promise<SupportOutcome | null> {
  return (await em.findOne(AuditEntry, { requestId }))?.outcome ?? null;
}

/** The audit, oldest first: all, that of an enterprise, or that since a moment. */
export function listAudit(
  em: EntityManager,
  { rut, since }: { rut?: string | undefined; since?: Date | undefined } = {},
): Promise<AuditEntry[]> {
  return em.find(
    AuditEntry,
    { ...(rut === undefined ? {} : { rut }), ...(since === undefined ? {} : { at: { $gte: since } }) },
    { orderBy: { id: 'asc' } },
  );
}
