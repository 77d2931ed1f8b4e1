import { randomUUID } from 'node:crypto';
import { isRequestRecorded } from '../db/audit.ts';
import { requireCfe } from '../db/cfes.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import { isNumberUndecided } from '../db/numbers.ts';
import { formatCfeId } from '../domain/cfeId.ts';
import { needsSupport } from '../domain/cfeProgress.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import type { SupportAction, SupportAnswer, SupportAsk } from '../domain/supportAction.ts';
import type { RefusalReason } from '../domain/supportRefusal.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** What a workflow answers to support: what it did, or that it is not stuck, or that it does not run. */
type WorkflowAnswer = SupportAnswer | { outcome: 'nothing_to_do'; runs: boolean };

export interface SupportCfeDeps extends CommandDeps {
  /** Sends the update `support` to a workflow; a request id is done once. Refuses where Temporal or its worker is away (UNAVAILABLE). */
  readonly askSupport: (workflowId: string, ask: SupportAsk) => Promise<WorkflowAnswer>;
  /** Has the authority asked about a CFE that it rejected for E06 alone. Refuses where Temporal is away (UNAVAILABLE). */
  readonly askRejected: (
    cfe: Pick<Cfe, 'id' | 'rut' | 'type' | 'sequence'>,
    ask: SupportAsk,
  ) => Promise<SupportAnswer>;
}

/** What to ask for, and why; a dry run asks for nothing. */
interface Wish {
  action: SupportAction;
  reason: string;
  dryRun: boolean;
  /** The id of the request: the same one acts once. A new one where it is left out. */
  requestId?: string;
}

/** The outcome of asking, and the CFE afterwards. */
export interface Supported {
  cfe: Cfe;
  outcome: WorkflowAnswer['outcome'] | 'dry_run';
  message: string;
  /** Of what was refused, as a code. */
  why?: RefusalReason | undefined;
}

/**
 * Asks the workflow of a stuck CFE to act. One that is not stuck is left alone, and its message says why; of one that was
 * rejected for E06 alone the authority is asked whether it has accepted it since (settle), and its number is annulled
 * where it has not (abandon). Who asks and why is in the audit before the workflow is asked; the workflow adds the outcome.
 */
export async function supportCfe(
  deps: SupportCfeDeps,
  { id, action, reason, dryRun, requestId = randomUUID() }: Wish & { id: string },
): Promise<Supported> {
  const em = deps.orm.em.fork();
  const stuck = await requireCfe(em, id);
  const isUndecided = action !== 'retry' && (await isNumberUndecided(em, id));
  if (dryRun) return wouldAsk(stuck, { action, isUndecided });
  const { rut } = stuck;
  await recordAsk(deps, { action: `cfe.${action}`, subject: id, rut, reason, requestId });
  const answer = isUndecided
    ? await deps.askRejected(stuck, { action, requestId })
    : await askRunOf(deps, stuck, { action, requestId });
  const cfe = await requireCfe(deps.orm.em.fork(), id);
  if (answer.outcome === 'nothing_to_do')
    return { cfe, outcome: answer.outcome, message: standingOf(cfe, answer.runs) };
  const { outcome, message, why } = answer;
  return { cfe, outcome, message, why };
}

/** Asks the run of a CFE; one that waits to be put into a sobre has none, and needs nobody. */
export async function askRunOf(
  { askSupport }: Pick<SupportCfeDeps, 'askSupport'>,
  cfe: Pick<Cfe, 'sobreId' | 'workflowId' | 'type' | 'sequence'>,
  ask: Omit<SupportAsk, 'cfeId'>,
): Promise<WorkflowAnswer> {
  if (cfe.sobreId === null || cfe.workflowId === null) return { outcome: 'nothing_to_do', runs: true };
  return askSupport(cfe.workflowId, { ...ask, cfeId: formatCfeId(cfe) });
}

/** Writes into the audit who asks for an act of support, and why, before it is asked for; once for each request id. */
export async function recordAsk(
  deps: Pick<CommandDeps, 'orm' | 'actor' | 'origin' | 'clock'>,
  ask: { action: `${'cfe' | 'report'}.${SupportAction}`; requestId: string } & Record<
    'subject' | 'rut' | 'reason',
    string
  >,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    if (!(await isRequestRecorded(em, ask.requestId))) audited(deps, em, ask, deps.clock());
  });
}

/** `supportCfe` for many, one after the other, so that the authority is not asked in a burst. */
export async function supportCfes(
  deps: SupportCfeDeps,
  { ids, ...wish }: Omit<Wish, 'requestId'> & { ids: readonly string[] },
): Promise<Supported[]> {
  const done: Supported[] = [];
  for (const id of ids) {
    try {
      done.push(await supportCfe(deps, { id, ...wish }));
    } catch (error) {
      if (!(error instanceof Refusal) || done.length === 0) throw error;
      const message = `${error.message} ${done.length} of ${ids.length} were done before; run it again for the rest.`;
      throw new Refusal(error.code, message, { cause: error });
    }
  }
  return done;
}

const wouldAsk = (
  cfe: Cfe,
  { action, isUndecided }: { action: SupportAction; isUndecided: boolean },
): Supported =>
  !needsSupport(cfe.stuckReason) && !isUndecided
    ? { cfe, outcome: 'nothing_to_do', message: standingOf(cfe, true) }
    : { cfe, outcome: 'dry_run', message: `Would be done: ${action}.` };

/** Why support can do nothing for a CFE. */
export function standingOf({ status, stuckReason }: Cfe, runs: boolean): string {
  if (isFinal(status)) return `Nothing to do: it has its verdict, ${status}.`;
  if (runs && stuckReason === 'internal')
    return 'Nothing to do for support: a step fails by a mistake of ours, and is tried again by itself; tell the developers.';
  if (runs) return `Nothing to do: it is ${status}, is not stuck, and goes on by itself.`;
  return `Nothing was done: it is ${status}, and its workflow does not run. \`recovery requeue\` starts it again.`;
}
