import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Run } from '../db/entities/operations.ts';
import { enqueue } from '../db/outbox.ts';
import type { Seen } from '../db/roles.ts';
import { findRunningRunOfWebhook, insertRun, lockRun, runMessage } from '../db/runs.ts';
import { lockWebhook } from '../db/webhooks.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { pickRunFilter, RUN_REASON_LENGTH, type RunFilter, type RunKind } from '../domain/run.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

const RANDOM_BYTES = 3;

/** What to do with what, and why. */
export interface StartRunInput {
  kind: RunKind;
  filter: RunFilter;
  reason: string;
  /** The accounts on whose behalf somebody acts; null: an operator, who acts for all. */
  seen: Seen;
  /** How many were shown to whoever decides: more are never acted on. */
  expected?: number | undefined;
}

/**
 * Starts a bulk run over everything that matches now; its id names it everywhere. Refuses a filter that matches nothing, or
 * more than was shown, abandoning without the reason for which CFEs are stuck, a second run to a webhook
 * (INVALID_INPUT all), a customer's run of another kind than redelivery (FORBIDDEN), and a webhook that is not there, or
 * somebody else's (NOT_FOUND).
 */
export async function startRun(deps: CommandDeps, input: StartRunInput): Promise<Run> {
  const { kind, reason, expected } = input;
  const filter = pickRunFilter(kind, input.filter);
  const isBlind = kind === 'abandon' && filter.stuckReason === undefined && filter.ids === undefined;
  if (isBlind) throw refusal('run.blind', 'To abandon several CFEs, say for which reason they are stuck.');
  if (reason.length > RUN_REASON_LENGTH)
    throw refusal('run.reason', `The reason of a run has at most ${RUN_REASON_LENGTH} characters.`);
  const now = deps.clock();
  const run = await deps.orm.em.fork().transactional(async (em) => {
    const accountId = await accountOf(em, { ...input, filter });
    const stored = await insertRun(
      em,
      {
        id: `${kind}-${montevideoDate(now)}-${randomBytes(RANDOM_BYTES).toString('hex')}`,
        kind,
        accountId,
        actor: deps.actor ?? 'service',
        address: deps.origin?.address ?? null,
        reason,
      },
      filter,
      now,
    );
    if (stored.total === 0) throw refusal('run.nothing', 'Nothing matches; no run was started.');
    if (expected !== undefined && stored.total > expected)
      throw refusal('run.more', `${stored.total} match by now, and ${expected} were shown: look again.`);
    const { id, filter: kept } = stored;
    const whose = { accountId, rut: kept.rut };
    audited(deps, em, { action: 'run.start', subject: id, reason, requestId: id, ...whose }, now);
    enqueue(em, runMessage(stored), now);
    return stored;
  });
  deps.outbox.scheduleDispatch();
  return run;
}

/** The account whose run it will be: the webhook's, of a customer; null, of an operator. The webhook stays locked. */
async function accountOf(em: EntityManager, { kind, filter, seen }: StartRunInput): Promise<string | null> {
  if (kind !== 'redeliver') {
    if (seen !== null) throw new Refusal('FORBIDDEN', 'Only operators act on CFEs that wait for support.');
    return null;
  }
  const id = filter.webhook;
  if (id === undefined) {
    if (seen !== null || filter.ids === undefined)
      throw refusal('run.webhook', 'Say to which webhook the deliveries are to be sent again.');
    return null;
  }
  const webhook = await lockWebhook(em, id);
  if (!webhook || (seen !== null && !seen.includes(webhook.accountId)))
    throw new Refusal('NOT_FOUND', `There is no webhook ${id}.`);
  const other = await findRunningRunOfWebhook(em, id);
  if (other !== null) throw refusal('run.under_way', `The run ${other} to this webhook is under way.`);
  return seen === null ? null : webhook.accountId;
}

/** In one of the closed codes, with the fault by which the console finds its words. */
const refusal = (code: string, message: string): Refusal =>
  new Refusal('INVALID_INPUT', message, { faults: [{ path: '', code, message }] });

/**
 * Stops a run: what it has begun is ended, nothing more is begun. One that has ended stays as it is. Refuses a run that is
 * not there, or somebody else's (NOT_FOUND).
 */
export function stopRun(
  deps: CommandDeps,
  { id, seen, reason }: { id: string; seen: Seen; reason?: string | undefined },
): Promise<Run> {
  return deps.orm.em.fork().transactional(async (em) => {
    const run = await lockRun(em, id, seen);
    if (!run) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
    if (run.state !== 'RUNNING' || run.stopAskedAt !== null) return run;
    const now = deps.clock();
    run.stopAskedAt = now;
    run.stopAskedBy = deps.actor ?? 'service';
    const { accountId } = run;
    audited(deps, em, { action: 'run.stop', subject: id, accountId, reason }, now);
    return run;
  });
}
