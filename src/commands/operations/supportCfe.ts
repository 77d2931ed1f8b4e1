import { randomUUID } from 'node:crypto';
import type { Cfe } from '../../db/entities/receipts.ts';
import { isNumberUndecided } from '../../db/numbers/numbers.ts';
import { isRequestRecorded } from '../../db/operations/audit.ts';
import { requireCfe } from '../../db/receipts/cfes.ts';
import { needsSupport } from '../../domain/operations/cfeProgress.ts';
import type { SupportAction, SupportAnswer, SupportAsk } from '../../domain/operations/supportAction.ts';
import type { RefusalReason } from '../../domain/operations/supportRefusal.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { isFinal } from '../../domain/receipts/cfeStatus.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** A workflow's answer to support: what it did, or that it is not stuck or not running. */
type WorkflowAnswer = SupportAnswer | { outcome: 'nothing_to_do'; runs: boolean };

export interface SupportCfeDeps extends CommandDeps {
  /**
   * Sends the update `support` to a workflow, which executes a request id once. Throws UNAVAILABLE when Temporal or the
   * worker is unavailable.
   */
  readonly askSupport: (workflowId: string, ask: SupportAsk) => Promise<WorkflowAnswer>;
  /** Queries the authority about a CFE rejected for E06 alone. Throws UNAVAILABLE when Temporal is unavailable. */
  readonly askRejected: (
    cfe: Pick<Cfe, 'id' | 'rut' | 'type' | 'sequence'>,
    ask: SupportAsk,
  ) => Promise<SupportAnswer>;
}

/** A support request; a dry run sends no request. */
interface SupportRequest {
  action: SupportAction;
  reason: string;
  dryRun: boolean;
  /** A request id acts once; a new one when omitted. */
  requestId?: string;
}

/** The outcome of a support request, and the CFE afterwards. */
export interface SupportedCfe {
  cfe: Cfe;
  outcome: WorkflowAnswer['outcome'] | 'dry_run';
  message: string;
  /** The code of a refusal. */
  why?: RefusalReason | undefined;
}

/**
 * Asks the workflow of a stuck CFE to act; for a CFE that is not stuck, returns a message with the reason. For a CFE rejected
 * for E06 alone, `settle` checks whether the authority has accepted it since, and `abandon` annuls its number if not. The
 * request is audited first; the workflow adds the outcome.
 */
export async function supportCfe(
  deps: SupportCfeDeps,
  { id, action, reason, dryRun, requestId = randomUUID() }: SupportRequest & { id: string },
): Promise<SupportedCfe> {
  const em = deps.orm.em.fork();
  const stuck = await requireCfe(em, id);
  const isUndecided = action !== 'retry' && (await isNumberUndecided(em, id));
  if (dryRun) return describeDryRun(stuck, { action, isUndecided });
  const { rut } = stuck;
  await auditSupportRequest(deps, { action: `cfe.${action}`, subject: id, rut, reason, requestId });
  const answer = isUndecided
    ? await deps.askRejected(stuck, { action, requestId })
    : await askCfeRun(deps, stuck, { action, requestId });
  const cfe = await requireCfe(deps.orm.em.fork(), id);
  if (answer.outcome === 'nothing_to_do')
    return { cfe, outcome: answer.outcome, message: explainNothingToDo(cfe, answer.runs) };
  const { outcome, message, why } = answer;
  return { cfe, outcome, message, why };
}

/** Asks the workflow of a CFE; a CFE that waits for a sobre has no workflow and needs no support. */
export async function askCfeRun(
  { askSupport }: Pick<SupportCfeDeps, 'askSupport'>,
  cfe: Pick<Cfe, 'sobreId' | 'workflowId' | 'type' | 'sequence'>,
  ask: Omit<SupportAsk, 'cfeId'>,
): Promise<WorkflowAnswer> {
  if (cfe.sobreId === null || cfe.workflowId === null) return { outcome: 'nothing_to_do', runs: true };
  return askSupport(cfe.workflowId, { ...ask, cfeId: formatCfeId(cfe) });
}

/** Audits a support request before it is made, once per request id. */
export async function auditSupportRequest(
  deps: Pick<CommandDeps, 'orm' | 'actor' | 'origin' | 'clock'>,
  ask: { action: `${'cfe' | 'report'}.${SupportAction}`; requestId: string } & Record<
    'subject' | 'rut' | 'reason',
    string
  >,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    if (!(await isRequestRecorded(em, ask.requestId))) auditAct(deps, em, ask, deps.clock());
  });
}

/** Runs `supportCfe` one CFE at a time, to spare the authority a burst of queries. */
export async function supportCfes(
  deps: SupportCfeDeps,
  { ids, ...request }: Omit<SupportRequest, 'requestId'> & { ids: readonly string[] },
): Promise<SupportedCfe[]> {
  const supported: SupportedCfe[] = [];
  for (const id of ids) {
    try {
      supported.push(await supportCfe(deps, { id, ...request }));
    } catch (error) {
      if (!(error instanceof Refusal) || supported.length === 0) throw error;
      const message = `${error.message} ${supported.length} of ${ids.length} were done before; run it again for the rest.`;
      throw new Refusal(error.code, message, { cause: error });
    }
  }
  return supported;
}

const describeDryRun = (
  cfe: Cfe,
  { action, isUndecided }: { action: SupportAction; isUndecided: boolean },
): SupportedCfe =>
  !needsSupport(cfe.stuckReason) && !isUndecided
    ? { cfe, outcome: 'nothing_to_do', message: explainNothingToDo(cfe, true) }
    : { cfe, outcome: 'dry_run', message: `Would be done: ${action}.` };

/** Explains why support can do nothing for a CFE. */
export function explainNothingToDo({ status, stuckReason }: Cfe, runs: boolean): string {
  if (isFinal(status)) return `Nothing to do: it has its verdict, ${status}.`;
  if (runs && stuckReason === 'internal')
    return 'Nothing to do for support: a step fails because of a bug and is retried automatically; notify the developers.';
  if (runs) return `Nothing to do: it is ${status}, is not stuck, and continues automatically.`;
  return `Nothing was done: it is ${status}, and its workflow is not running. \`recovery requeue\` restarts it.`;
}
