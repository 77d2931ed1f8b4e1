import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, type AuditAction, actorsOf } from '../domain/audit.ts';
import type { SupportOutcome } from '../domain/supportAction.ts';
import { AuditEntry } from './entities/AuditEntry.ts';

/** From where somebody came over HTTP: which API key, null in the console, and which network address. */
export interface Origin {
  readonly keyId: string | null;
  readonly address: string;
}

/** One act, as the audit keeps it. */
export interface Act {
  actor: Actor;
  action: AuditAction;
  /** Id of the thing that was changed. */
  subject: string;
  /** Of an act over HTTP. */
  origin?: Origin | undefined;
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
    keyId: act.origin?.keyId ?? null,
    address: act.origin?.address ?? null,
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

/** Which entries to list: every condition that is given must hold. */
export interface AuditFilter {
  rut?: string | undefined;
  subject?: string | undefined;
  person?: string | undefined;
  since?: Date | undefined;
  /** Only entries older than this one. */
  before?: number | undefined;
}

/** The last `limit` entries of the audit, the oldest of them first. */
export async function listAudit(
  em: EntityManager,
  { rut, subject, person, since, before }: AuditFilter,
  limit: number,
): Promise<AuditEntry[]> {
  const newestFirst = await em.find(
    AuditEntry,
    {
      ...(rut === undefined ? {} : { rut }),
      ...(subject === undefined ? {} : { subject }),
      ...(person === undefined ? {} : { actor: { $in: actorsOf(person) } }),
      ...(since === undefined ? {} : { at: { $gte: since } }),
      ...(before === undefined ? {} : { id: { $lt: BigInt(before) } }),
    },
    { orderBy: { id: 'desc' }, limit },
  );
  return newestFirst.toReversed();
}
