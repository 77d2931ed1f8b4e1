import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor, AuditAction } from '../../domain/operations/audit.ts';
import { type RunKind, runAuditReason } from '../../domain/operations/run.ts';
import type { SupportOutcome } from '../../domain/operations/supportAction.ts';
import { AuditEntry, Run, RunItem } from '../entities/operations.ts';

/** The origin of an act: the API key, if any, and the network address, or `user@host` for the command line. */
export interface Origin {
  readonly keyId: string | null;
  readonly address: string;
}

/** One act, as the audit stores it. */
export interface Act {
  actor: Actor;
  action: AuditAction;
  /** Id of the changed row. */
  subject: string;
  /** The origin, if known. */
  origin?: Origin | undefined;
  accountId?: string | null | undefined;
  rut?: string | undefined;
  reason?: string | undefined;
  /** For acts of support: the id of the request. It is recorded once when requested, and once with its outcome. */
  requestId?: string;
  outcome?: SupportOutcome;
}

/** Records an act with the open transaction: it is recorded if, and only if, the act is done. */
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

/** Returns the last `limit` entries about an enterprise or an object, oldest first; `listAuditPage` has more filters. */
export const listAudit = async (
  em: EntityManager,
  about: { rut?: string; subject?: string },
  limit: number,
): Promise<AuditEntry[]> =>
  (await em.find(AuditEntry, about, { orderBy: { id: 'desc' }, limit })).toReversed();

// Acts of support. Console and command line record the request before they ask a workflow, because Temporal knows no
// logins; the workflow's entry, with the outcome, takes the requester from the request's entry.

/** An act of support as its request recorded it: the action, and the CFE or report. */
export interface RecordedAct {
  readonly requestId: string;
  /** For example `cfe.retry`. */
  readonly action: Act['action'];
  readonly subject: string;
}

/** Returns the outcome of a request for this subject, or null if it has none yet. */
export async function findRequestOutcome(
  em: EntityManager,
  { requestId, subject }: Pick<RecordedAct, 'requestId' | 'subject'>,
): Promise<SupportOutcome | null> {
  const done = await em.findOne(AuditEntry, { requestId, subject, outcome: { $ne: null } });
  return done?.outcome ?? null;
}

/** Returns whether a request was recorded before its outcome. */
export const isRequestRecorded = async (em: EntityManager, requestId: string): Promise<boolean> =>
  (await em.findOne(AuditEntry, { requestId, outcome: null })) !== null;

/**
 * Records the outcome of an act with the open transaction, under the name of its requester or as unverified. `said`:
 * text typed in the Temporal UI, kept only if no requester is known.
 */
export async function recordOutcome(
  em: EntityManager,
  act: RecordedAct & { rut: string; outcome: SupportOutcome; said: readonly (string | undefined)[] },
  now: Date,
): Promise<void> {
  const { said, ...done } = act;
  const words = said.filter(Boolean).join(': ');
  const requester = (await findRequester(em, act)) ?? {
    actor: 'unverified',
    ...(words ? { reason: words } : {}),
  };
  recordAudit(em, { ...done, ...requester }, now);
}

type Requester = Pick<Act, 'actor' | 'origin' | 'reason'>;

async function findRequester(
  em: EntityManager,
  { requestId, action, subject }: RecordedAct,
): Promise<Requester | null> {
  const own = await em.findOne(AuditEntry, { requestId, action, subject, outcome: null });
  return own ? toRequester(own, own.reason) : findRunRequester(em, { requestId, action, subject });
}

/**
 * A bulk run is recorded once, by its start; the ids of its requests contain the run and the position of the item.
 */
async function findRunRequester(
  em: EntityManager,
  { requestId, action, subject }: RecordedAct,
): Promise<Requester | null> {
  const [, runId, place] = /^(.+):(\d{1,9})$/.exec(requestId) ?? [];
  if (runId === undefined) return null;
  const started = await em.findOne(AuditEntry, { requestId: runId, action: 'run.start', outcome: null });
  const run = started && (await em.findOne(Run, { id: runId, kind: action.replace('cfe.', '') as RunKind }));
  const item = run && (await em.findOne(RunItem, { runId, place: Number(place), subject }));
  return started && item ? toRequester(started, runAuditReason(run)) : null;
}

const toRequester = ({ actor, address, keyId }: AuditEntry, reason: string | null): Requester => ({
  actor,
  ...(address === null ? {} : { origin: { address, keyId } }),
  ...(reason === null ? {} : { reason }),
});
