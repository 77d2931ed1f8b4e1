import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, type AuditAction, actorsOf } from '../domain/audit.ts';
import { auditReason, type RunKind } from '../domain/run.ts';
import type { SupportOutcome } from '../domain/supportAction.ts';
import { AuditEntry, Run, RunItem } from './entities/operations.ts';

/** From where somebody acts: which API key, if one, and which network address; at the command line `user@host`. */
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
  /** Where somebody is known to act from. */
  origin?: Origin | undefined;
  accountId?: string | null | undefined;
  rut?: string | undefined;
  reason?: string | undefined;
  /** Of an act of support: the id of the request, which is recorded once when it is asked for, and once with its outcome. */
  requestId?: string;
  outcome?: SupportOutcome;
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

// Acts of support. Console and command line write a row of their own before they ask a workflow, since Temporal knows
// no logins; the workflow's row, with the outcome, takes from there who it was.

/** The act of a request: what was asked of which CFE or report. */
export interface RecordedAct {
  readonly requestId: string;
  /** `cfe.retry`, say. */
  readonly action: Act['action'];
  readonly subject: string;
}

/** The outcome of a request on that subject, or null where it was not done yet. */
export async function findRequestOutcome(
  em: EntityManager,
  { requestId, subject }: Pick<RecordedAct, 'requestId' | 'subject'>,
): Promise<SupportOutcome | null> {
  const done = await em.findOne(AuditEntry, { requestId, subject, outcome: { $ne: null } });
  return done?.outcome ?? null;
}

/** Whether a request was recorded as asked for. */
export const isRequestRecorded = async (em: EntityManager, requestId: string): Promise<boolean> =>
  (await em.findOne(AuditEntry, { requestId, outcome: null })) !== null;

/**
 * Writes the outcome of an act into the audit with the open transaction: in the name of who asked for this very act, or
 * as unverified. `said`: what was typed in the Temporal UI; it is kept only where nobody else is known to have asked.
 */
export async function recordOutcome(
  em: EntityManager,
  act: RecordedAct & { rut: string; outcome: SupportOutcome; said: readonly (string | undefined)[] },
  now: Date,
): Promise<void> {
  const { said, ...done } = act;
  const words = said.filter(Boolean).join(': ');
  const asked = (await whoAsked(em, act)) ?? { actor: 'unverified', ...(words ? { reason: words } : {}) };
  recordAudit(em, { ...done, ...asked }, now);
}

type Asked = Pick<Act, 'actor' | 'origin' | 'reason'>;

async function whoAsked(
  em: EntityManager,
  { requestId, action, subject }: RecordedAct,
): Promise<Asked | null> {
  const own = await em.findOne(AuditEntry, { requestId, action, subject, outcome: null });
  return own ? askedBy(own, own.reason) : whoStartedTheRun(em, { requestId, action, subject });
}

/** A bulk run is asked for once, by the row of its start; its requests are named by the run and the place of the CFE in it. */
async function whoStartedTheRun(
  em: EntityManager,
  { requestId, action, subject }: RecordedAct,
): Promise<Asked | null> {
  const [, runId, place] = /^(.+):(\d{1,9})$/.exec(requestId) ?? [];
  if (runId === undefined) return null;
  const started = await em.findOne(AuditEntry, { requestId: runId, action: 'run.start', outcome: null });
  const run = started && (await em.findOne(Run, { id: runId, kind: action.replace('cfe.', '') as RunKind }));
  const item = run && (await em.findOne(RunItem, { runId, place: Number(place), subject }));
  return started && item ? askedBy(started, auditReason(run)) : null;
}

const askedBy = ({ actor, address, keyId }: AuditEntry, reason: string | null): Asked => ({
  actor,
  ...(address === null ? {} : { origin: { address, keyId } }),
  ...(reason === null ? {} : { reason }),
});
