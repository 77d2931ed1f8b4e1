import { cfeById } from '../db/cfes.ts';
import type { Cfe } from '../db/entities/Cfe.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import type { SupportAction, SupportAnswer, SupportRequest } from '../domain/supportAction.ts';
import { Refusal } from '../errors.ts';
import { cfeWorkflowId } from '../temporal.ts';
import type { CommandDeps } from './deps.ts';

/** What a workflow said to support: its answer, or that it waits for nobody, or that it does not run. */
type Said = SupportAnswer | { outcome: 'nothing_to_do'; runs: boolean };

export interface SupportCfeDeps extends CommandDeps {
  /** Sends the update `support` to a workflow. Refuses where Temporal or its worker is away (UNAVAILABLE). */
  readonly askSupport: (workflowId: string, request: SupportRequest) => Promise<Said>;
}

/** What to ask for, and why; a dry run asks nobody. */
interface Wish {
  action: SupportAction;
  reason: string;
  dryRun: boolean;
}

/** What came of asking, and the CFE as it stands afterwards. */
export interface Supported {
  cfe: Cfe;
  outcome: Said['outcome'] | 'dry_run';
  message: string;
}

/**
 * Asks the workflow of a CFE that waits for support to act. One that waits for nobody is left alone, and its message
 * says where it stands. The audit is the workflow's: it has the same for whoever asks in the Temporal UI.
 */
export async function supportCfe(
  deps: SupportCfeDeps,
  { id, action, reason, dryRun }: Wish & { id: string },
): Promise<Supported> {
  if (dryRun) return wouldAsk(await cfeById(deps.orm.em.fork(), id), action);
  const by = (deps.actor ?? 'service').replace(/^cli:/, '');
  const said = await deps.askSupport(cfeWorkflowId(id), { action, by, reason });
  const cfe = await cfeById(deps.orm.em.fork(), id);
  const { outcome } = said;
  return { cfe, outcome, message: outcome === 'nothing_to_do' ? standingOf(cfe, said.runs) : said.message };
}

/** `supportCfe` for many, one after the other, so that the authority is not asked in a burst. */
export async function supportCfes(
  deps: SupportCfeDeps,
  { ids, ...wish }: Wish & { ids: readonly string[] },
): Promise<Supported[]> {
  const done: Supported[] = [];
  for (const id of ids) {
    try {
      done.push(await supportCfe(deps, { id, ...wish }));
    } catch (error) {
      if (!(error instanceof Refusal) || done.length === 0) throw error;
      const message = `${error.message} ${done.length} of ${ids.length} were asked before; call it again for the rest.`;
      throw new Refusal(error.code, message, { cause: error });
    }
  }
  return done;
}

const wouldAsk = (cfe: Cfe, action: SupportAction): Supported =>
  cfe.stuckReason === null
    ? { cfe, outcome: 'nothing_to_do', message: standingOf(cfe, true) }
    : { cfe, outcome: 'dry_run', message: `Would be asked for: ${action}.` };

function standingOf({ status }: Cfe, runs: boolean): string {
  if (isFinal(status)) return `Nothing to do: it has its verdict, ${status}.`;
  if (runs) return `Nothing to do: it is ${status}, waits for nobody, and goes on by itself.`;
  return `Nothing is done: it is ${status}, and its workflow does not run. \`recovery requeue\` begins it anew.`;
}
