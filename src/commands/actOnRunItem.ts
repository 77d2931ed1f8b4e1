import { findRequestOutcome } from '../db/audit.ts';
import { requireCfe } from '../db/cfes.ts';
import { isUndelivered, lockDelivery } from '../db/deliveries.ts';
import type { Run, RunItem } from '../db/entities/operations.ts';
import { shareTransaction } from '../db/orm.ts';
import { startRunItem, storeRunOutcome } from '../db/runs.ts';
import { needsSupport } from '../domain/cfeProgress.ts';
import { type ItemResult, runAuditReason } from '../domain/run.ts';
import type { SupportAction } from '../domain/supportAction.ts';
import type { RefusalReason } from '../domain/supportRefusal.ts';
import { Refusal } from '../errors.ts';
import { redeliver } from './redeliver.ts';
import type { CommandDeps } from './steps/deps.ts';
import { askRunOf, type SupportCfeDeps, standingOf } from './supportCfe.ts';

export type ActOnRunItemDeps = Pick<CommandDeps, 'orm' | 'clock' | 'outbox'> &
  Pick<SupportCfeDeps, 'askSupport'>;

/** A workflow that takes no question so often is set aside, so that one broken run holds up no other. */
const MOST_ATTEMPTS = 3;

const DONE_BEFORE = 'It was done before the worker was lost.';
const OTHERWISE_STUCK = 'Left alone: it waits for another reason by now.';

/**
 * Does for one thing what its run was started for, and stores what became of it. Repeated after a crash it finds what was
 * done. Throws where the database or Temporal is away; a workflow that takes no question is left for later, and then counts
 * as refused.
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
  const result = await askFor(deps, run, item, action);
  if (result) await storeRunOutcome(deps.orm.em.fork(), item, result, deps.clock());
}

/** What came of asking; null where it is to be asked again. */
async function askFor(
  deps: ActOnRunItemDeps,
  run: Run,
  item: RunItem,
  action: SupportAction,
): Promise<ItemResult | null> {
  const em = deps.orm.em.fork();
  const requestId = `${run.id}:${item.place}`;
  const doneBefore = async (): Promise<ItemResult | null> => {
    const outcome = await findRequestOutcome(deps.orm.em.fork(), { requestId, subject: item.subject });
    return outcome && { outcome, message: DONE_BEFORE };
  };
  const before = await doneBefore();
  if (before) return before;
  const cfe = await requireCfe(em, item.subject);
  if (!needsSupport(cfe.stuckReason)) return { outcome: 'nothing_to_do', message: standingOf(cfe, true) };
  if (cfe.stuckReason !== item.was) return { outcome: 'nothing_to_do', message: OTHERWISE_STUCK };
  const attempts = await startRunItem(em, item);
  try {
    const answer = await askRunOf(deps, cfe, { action, requestId });
    if (answer.outcome !== 'nothing_to_do') {
      const { outcome, message, why } = answer;
      return { outcome, message, why };
    }
    const now = await requireCfe(deps.orm.em.fork(), item.subject);
    return (await doneBefore()) ?? { outcome: 'nothing_to_do', message: standingOf(now, answer.runs) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'UNAVAILABLE' && attempts < MOST_ATTEMPTS) return null;
    return { outcome: 'refused', message: error.message, why: whyOf(error) };
  }
}

/** The delivery is begun again, and its outcome stored, in one transaction: neither without the other. */
async function redeliverItem(deps: ActOnRunItemDeps, run: Run, item: RunItem): Promise<void> {
  const { actor, address } = run;
  const origin = address === null ? {} : { origin: { keyId: null, address } };
  try {
    await deps.orm.em.fork().transactional(async (em) => {
      const isFirst = await storeRunOutcome(em, item, REDELIVERED, deps.clock());
      if (!isFirst) return;
      const delivery = await lockDelivery(em, item.subject);
      if (!delivery || !isUndelivered(delivery))
        throw new NotNeeded(delivery ? `It is ${delivery.status} by now.` : 'It is kept no longer.');
      const own = { ...deps, actor, ...origin, orm: shareTransaction(em), outbox: QUIET };
      await redeliver(own, { deliveryId: item.subject, reason: runAuditReason(run) });
    });
  } catch (error) {
    if (!(error instanceof NotNeeded) && !(error instanceof Refusal)) throw error;
    const { message } = error;
    const result: ItemResult =
      error instanceof Refusal
        ? { outcome: 'refused', message, why: whyOf(error) }
        : { outcome: 'nothing_to_do', message };
    await storeRunOutcome(deps.orm.em.fork(), item, result, deps.clock());
  }
}

/** The code of a refusal that a thing of a run may meet; none where it is told by its words alone. */
function whyOf({ code, faults }: Refusal): RefusalReason | undefined {
  if (code === 'UNAVAILABLE') return { code: 'not_reached' };
  return faults?.some((fault) => fault.code === 'delivery.webhook_removed')
    ? { code: 'webhook_removed' }
    : undefined;
}

const REDELIVERED: ItemResult = { outcome: 'redelivered', message: 'It is sent again, at once.' };
/** The activity dispatches after each batch. */
const QUIET = { scheduleDispatch: (): void => undefined };
class NotNeeded extends Error {}
