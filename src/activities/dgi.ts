import { activityInfo, sleep } from '@temporalio/activity';
import { markStuck } from '../db/cfes.ts';
import { Cfe } from '../db/entities/Cfe.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import { sobreUnderWay } from '../db/sobres.ts';
import { type FinalStatus, isFinal } from '../domain/cfeStatus.ts';
import { failpoint } from '../failpoints.ts';
import { notYet, pollPause, type Stuck } from './failures.ts';
import { whileBeating } from './heartbeat.ts';
import { settleCfe } from './settleCfe.ts';
import { type SubmitDeps, type Submitted, submit, type Waits } from './submit.ts';
import { stuck, UNDECIDED, undecidedForTooLong, unsettledStep } from './undecided.ts';

/** Activities that speak with the authority. */
export const createDgiActivities = (deps: SubmitDeps) => ({
  /**
   * Brings a signed CFE to the authority: the sobre is stored before it is sent, and once a send was begun the
   * authority is asked before the same bytes go out again. Ends with WAITS where the authority is away or others are
   * before it: then it is taken again once its turn has come.
   */
  submitCfe: (cfeId: string): Promise<Submitted | Waits | Stuck> => whileBeating(() => submit(deps, cfeId)),

  /** Asks for the verdict on a CFE that the authority has; fails "not yet" until there is one, then stores it. */
  awaitVerdict: (cfeId: string): Promise<{ status: FinalStatus } | Stuck> =>
    whileBeating(() => ask(deps, cfeId)),
});

export type DgiActivities = ReturnType<typeof createDgiActivities>;

/**
 * Waits no longer than this, as the one after the first "not yet", are spent within the attempt: a repeat costs the
 * Temporal server more than the question costs us.
 */
const SHORT_MILLISECONDS = 2_000;

async function ask(deps: SubmitDeps, cfeId: string): Promise<{ status: FinalStatus } | Stuck> {
  const em = deps.orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { id: cfeId });
  if (isFinal(cfe.status)) return { status: cfe.status };
  if (cfe.stuckReason !== null) await markStuck(em, cfeId, null);
  const sobre = await sobreUnderWay(em, cfeId);
  if (!sobre) throw new Error(`CFE ${cfeId} is RECEIVED without a sobre to ask about`);

  const { attempt } = activityInfo();
  const wait = (sobre.askFrom?.getTime() ?? 0) - deps.clock().getTime();
  if (wait > SHORT_MILLISECONDS) {
    throw notYet('The authority said when to ask first.', Math.min(wait, 60_000));
  }
  if (wait > 0) await sleep(wait);

  let answer = await deps.authority.askVerdict(cfe, sobre);
  if (answer.kind === 'notYet' && attempt === 1) {
    await sleep(pollPause(1, deps.pollLongestSeconds));
    answer = await deps.authority.askVerdict(cfe, sobre);
  }
  failpoint('await.answered');
  const pause = pollPause(attempt + 1, deps.pollLongestSeconds);
  switch (answer.kind) {
    case 'verdict':
      await settleCfe(deps, cfeId, answer.status, answer.reasons);
      return { status: answer.status };
    case 'original':
      await em.nativeUpdate(Sobre, { id: sobre.id }, { idReceptor: answer.idReceptor, token: answer.token });
      throw notYet('The verdict stands with an earlier sobre of ours; that one is asked about.', 1);
    case 'recover':
      return recoverTicket(deps, cfe, sobre, pause);
    case 'notYet':
      if (await undecidedForTooLong(deps, sobre)) return stuck(em, cfeId, 'undecided', UNDECIDED);
      throw notYet(`No verdict yet (${answer.code}).`, pause);
    case 'repeat':
    case 'stuck':
      return unsettledStep(deps, sobre, answer);
  }
}

/** The authority does not know the sobre by the number and token we hold: its list gives the right ones. */
async function recoverTicket(deps: SubmitDeps, cfe: Cfe, sobre: Sobre, pause: number): Promise<Stuck> {
  const em = deps.orm.em.fork();
  const found = await deps.authority.findSobre(cfe, sobre);
  if (found.kind === 'stuck' || found.kind === 'repeat') return unsettledStep(deps, sobre, found);
  if (found.kind === 'received') {
    const { idReceptor, token } = found;
    await em.nativeUpdate(Sobre, { id: sobre.id }, { idReceptor, token });
  }
  // Those from the list may be refused as well, each time.
  if (await undecidedForTooLong(deps, sobre)) return stuck(em, cfe.id, 'undecided', UNDECIDED);
  if (found.kind === 'received') throw notYet('The authority gave number and token anew.', pause);
  throw notYet('The authority does not find the sobre (104); it is asked again.', pause);
}
