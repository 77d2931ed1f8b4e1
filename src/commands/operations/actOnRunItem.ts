import type { Run, RunItem } from '../../db/entities/operations.ts';
import { findRequestOutcome } from '../../db/operations/audit.ts';
import { startRunItem, storeRunOutcome } from '../../db/operations/runs.ts';
import { shareTransaction } from '../../db/orm.ts';
import { requireCfe } from '../../db/receipts/cfes.ts';
import { isUndelivered, lockDelivery } from '../../db/webhooks/deliveries.ts';
import { needsSupport } from '../../domain/operations/cfeProgress.ts';
import { type ItemResult, runAuditReason } from '../../domain/operations/run.ts';
import type { SupportAction } from '../../domain/operations/supportAction.ts';
import type { RefusalReason } from '../../domain/operations/supportRefusal.ts';
import { Refusal } from '../../errors.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { redeliver } from '../webhooks/redeliver.ts';
import { askCfeRun, explainNothingToDo, type SupportCfeDeps } from './supportCfe.ts';

export type ActOnRunItemDeps = Pick<CommandDeps, 'orm' | 'clock' | 'outbox'> &
  Pick<SupportCfeDeps, 'askSupport'>;

/**
 * Attempts for each CFE whose workflow does not answer, so that one broken workflow does not delay the run.
 */
const MOST_ATTEMPTS = 3;

const DONE_BEFORE = 'Already done before the worker stopped.';
const STUCK_OTHERWISE = 'Left alone: it is now stuck for another reason.';

/**
 * Does the action of a bulk run for one item and stores the result; repeated after a crash, it finds the
 * action already done. Throws when the database or Temporal is unavailable; a workflow that does not answer
 * is retried later, then counted as refused.
 */
export async function actOnRunItem(deps: ActOnRunItemDeps, run: Run, item: RunItem): Promise<void> {
  if (run.kind === 'redeliver') await redeliverItem(deps, run, item);
  else await supportItem(deps, run, item, run.kind);
}

async function supportItem(
  deps: ActOnRunItemDeps,
  run: Run,
  item: RunItem,
  action: SupportAction,
): Promise<void> {
  const result = await requestSupport(deps, run, item, action);
  if (result) await storeRunOutcome(deps.orm.em.fork(), item, result, deps.clock());
}

/** Returns the result of the support action; null when it must be retried later. */
async function requestSupport(
  deps: ActOnRunItemDeps,
  run: Run,
  item: RunItem,
  action: SupportAction,
): Promise<ItemResult | null> {
  const em = deps.orm.em.fork();
  const requestId = `${run.id}:${item.place}`;
  const findOutcomeBefore = async (): Promise<ItemResult | null> => {
    const outcome = await findRequestOutcome(deps.orm.em.fork(), { requestId, subject: item.subject });
    return outcome && { outcome, message: DONE_BEFORE };
  };
  const before = await findOutcomeBefore();
  if (before) return before;
  const cfe = await requireCfe(em, item.subject);
  if (!needsSupport(cfe.stuckReason))
    return { outcome: 'nothing_to_do', message: explainNothingToDo(cfe, true) };
  if (cfe.stuckReason !== item.was) return { outcome: 'nothing_to_do', message: STUCK_OTHERWISE };
  const attempts = await startRunItem(em, item);
  try {
    const answer = await askCfeRun(deps, cfe, { action, requestId });
    if (answer.outcome !== 'nothing_to_do') {
      const { outcome, message, why } = answer;
      return { outcome, message, why };
    }
    const current = await requireCfe(deps.orm.em.fork(), item.subject);
    return (
      (await findOutcomeBefore()) ?? {
        outcome: 'nothing_to_do',
        message: explainNothingToDo(current, answer.runs),
      }
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'UNAVAILABLE' && attempts < MOST_ATTEMPTS) return null;
    return { outcome: 'refused', message: error.message, why: refusalCodeOf(error) };
  }
}

/** Restarts the delivery and stores the item's result, in one transaction. */
async function redeliverItem(deps: ActOnRunItemDeps, run: Run, item: RunItem): Promise<void> {
  const { actor, address } = run;
  const origin = address === null ? {} : { origin: { keyId: null, address } };
  try {
    await deps.orm.em.fork().transactional(async (em) => {
      const isFirst = await storeRunOutcome(em, item, REDELIVERED, deps.clock());
      if (!isFirst) return;
      const delivery = await lockDelivery(em, item.subject);
      if (!delivery || !isUndelivered(delivery))
        throw new NotNeeded(delivery ? `It is now ${delivery.status}.` : 'It is no longer kept.');
      const shared = { ...deps, actor, ...origin, orm: shareTransaction(em), outbox: NO_DISPATCH };
      await redeliver(shared, { deliveryId: item.subject, reason: runAuditReason(run) });
    });
  } catch (error) {
    if (!(error instanceof NotNeeded) && !(error instanceof Refusal)) throw error;
    const { message } = error;
    const result: ItemResult =
      error instanceof Refusal
        ? { outcome: 'refused', message, why: refusalCodeOf(error) }
        : { outcome: 'nothing_to_do', message };
    await storeRunOutcome(deps.orm.em.fork(), item, result, deps.clock());
  }
}

/** Returns the code of a refusal that a run item may meet; undefined when the message alone explains it. */
function refusalCodeOf({ code, faults }: Refusal): RefusalReason | undefined {
  if (code === 'UNAVAILABLE') return { code: 'not_reached' };
  return faults?.some((fault) => fault.code === 'delivery.webhook_removed')
    ? { code: 'webhook_removed' }
    : undefined;
}

const REDELIVERED: ItemResult = { outcome: 'redelivered', message: 'It is being sent again now.' };
/** The activity dispatches after each batch. */
const NO_DISPATCH = { scheduleDispatch: (): void => undefined };
class NotNeeded extends Error {}
