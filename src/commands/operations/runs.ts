import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Run } from '../../db/entities/operations.ts';
import { findRunningRunOfWebhook, insertRun, lockRun, runMessage } from '../../db/operations/runs.ts';
import { enqueue } from '../../db/outbox.ts';
import type { ViewerAccounts } from '../../db/people/roles.ts';
import { lockWebhook } from '../../db/webhooks/webhooks.ts';
import {
  pickRunFilter,
  RUN_REASON_LENGTH,
  type RunFilter,
  type RunKind,
} from '../../domain/operations/run.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

const RANDOM_BYTES = 3;

export interface StartRunInput {
  kind: RunKind;
  filter: RunFilter;
  reason: string;
  /** The accounts of the person who acts; null for an operator, who acts for all. */
  accounts: ViewerAccounts;
  /** The number of matches that was shown to the person, who approved no more than these. */
  expected?: number | undefined;
}

/**
 * Starts a bulk run over all items that match now. Throws INVALID_INPUT for a filter that matches nothing or more than was
 * shown, for abandoning without a stuck reason, and for a second run to a webhook; FORBIDDEN for a customer's run other
 * than redelivery; NOT_FOUND for an unknown webhook or another account's.
 */
export async function startRun(deps: CommandDeps, input: StartRunInput): Promise<Run> {
  const { kind, reason, expected } = input;
  const filter = pickRunFilter(kind, input.filter);
  const isBlind = kind === 'abandon' && filter.stuckReason === undefined && filter.ids === undefined;
  if (isBlind)
    throw refusal('run.blind', 'To abandon several CFEs, give the reason for which they are stuck.');
  if (reason.length > RUN_REASON_LENGTH)
    throw refusal('run.reason', `The reason of a run has at most ${RUN_REASON_LENGTH} characters.`);
  const now = deps.clock();
  const run = await deps.orm.em.fork().transactional(async (em) => {
    const accountId = await accountOfRun(em, { ...input, filter });
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
      throw refusal('run.more', `${stored.total} match now, but ${expected} were shown: check again.`);
    const { id, filter: kept } = stored;
    const whose = { accountId, rut: kept.rut };
    auditAct(deps, em, { action: 'run.start', subject: id, reason, requestId: id, ...whose }, now);
    enqueue(em, runMessage(stored), now);
    return stored;
  });
  deps.outbox.scheduleDispatch();
  return run;
}

/**
 * Returns the account of the run: the webhook's for a customer, null for an operator. The webhook stays
 * locked.
 */
async function accountOfRun(
  em: EntityManager,
  { kind, filter, accounts }: StartRunInput,
): Promise<string | null> {
  if (kind !== 'redeliver') {
    if (accounts !== null)
      throw new Refusal('FORBIDDEN', 'Only operators act on CFEs that wait for support.');
    return null;
  }
  const id = filter.webhook;
  if (id === undefined) {
    if (accounts !== null || filter.ids === undefined)
      throw refusal('run.webhook', 'Name the webhook to which the deliveries are to be sent again.');
    return null;
  }
  const webhook = await lockWebhook(em, id);
  if (!webhook || (accounts !== null && !accounts.includes(webhook.accountId)))
    throw new Refusal('NOT_FOUND', `There is no webhook ${id}.`);
  const running = await findRunningRunOfWebhook(em, id);
  if (running !== null)
    throw refusal('run.under_way', `The run ${running} to this webhook is still running.`);
  return accounts === null ? null : webhook.accountId;
}

/** Refuses with a fault code, by which the console finds its own wording. */
const refusal = (code: string, message: string): Refusal =>
  new Refusal('INVALID_INPUT', message, { faults: [{ path: '', code, message }] });

/**
 * Stops a run after its started items; leaves an ended run unchanged. Throws NOT_FOUND for an unknown run or another
 * account's.
 */
export function stopRun(
  deps: CommandDeps,
  { id, accounts, reason }: { id: string; accounts: ViewerAccounts; reason?: string | undefined },
): Promise<Run> {
  return deps.orm.em.fork().transactional(async (em) => {
    const run = await lockRun(em, id, accounts);
    if (!run) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
    if (run.state !== 'RUNNING' || run.stopAskedAt !== null) return run;
    const now = deps.clock();
    run.stopAskedAt = now;
    run.stopAskedBy = deps.actor ?? 'service';
    const { accountId } = run;
    auditAct(deps, em, { action: 'run.stop', subject: id, accountId, reason }, now);
    return run;
  });
}
