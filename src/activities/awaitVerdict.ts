import { activityInfo, sleep } from '@temporalio/activity';
import { cfeInHand } from '../db/cfeInHand.ts';
import { Sobre } from '../db/entities/authority.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import type { Stuck, VerdictResult } from '../domain/activityResults.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import { failpoint } from '../failpoints.ts';
import type { Activity } from './activities.ts';
import type { Authority } from './steps/authority.ts';
import { decided } from './steps/decided.ts';
import { notYet, pollPause } from './steps/failures.ts';
import { notingAttempts } from './steps/noteAttempts.ts';
import { storeVerdict, type VerdictDeps } from './steps/storeVerdict.ts';
import { takenUp } from './steps/takenUp.ts';
import { leaveUndecided, repeatOrLeave, type UndecidedDeps, undecidedForTooLong } from './steps/undecided.ts';
import { whileBeating } from './steps/whileBeating.ts';

export interface AwaitDeps extends VerdictDeps, UndecidedDeps {
  authority: Authority;
  /** Longest pause between two questions for a verdict, seconds. */
  pollLongestSeconds: number;
}

/**
 * Pauses of up to this long, such as the one after the first "not yet", happen within the attempt: a repeat costs the
 * Temporal server more than the question costs us.
 */
const SHORT_MILLISECONDS = 2_000;

/** Asks for the verdict on a CFE that the authority has; fails "not yet" until there is one, then stores it. */
export function createAwaitVerdict(deps: AwaitDeps): Activity<'awaitVerdict'> {
  return (cfeUuid) => whileBeating(() => notingAttempts(deps, cfeUuid, () => ask(deps, cfeUuid)));
}

async function ask(deps: AwaitDeps, cfeUuid: string): Promise<VerdictResult> {
  const em = deps.orm.em.fork();
  const { cfe, sobre, current } = await cfeInHand(em, cfeUuid);
  if (isFinal(cfe.status)) return decided(cfe.status, cfe.rejection);
  await takenUp(em, cfe);
  if (!sobre) throw new Error(`CFE ${cfeUuid} is RECEIVED without a sobre to ask about`);
  const { attempt } = activityInfo();
  await untilMayBeAsked(deps, sobre);

  let answer = await deps.authority.askVerdict(cfe, sobre, current);
  if (answer.kind === 'notYet' && attempt === 1) {
    await sleep(pollPause(1, deps.pollLongestSeconds));
    answer = await deps.authority.askVerdict(cfe, sobre, current);
  }
  failpoint('await.answered');
  const pause = pollPause(attempt + 1, deps.pollLongestSeconds);
  switch (answer.kind) {
    case 'verdict':
      await storeVerdict(deps, cfeUuid, answer);
      return decided(answer.status, answer.reasons);
    case 'original':
      await em.nativeUpdate(Sobre, { id: sobre.id }, { idReceptor: answer.idReceptor, token: answer.token });
      throw notYet('The verdict stands with an earlier sobre of ours; that one is asked about.', 1);
    case 'recover':
      return recoverTicket(deps, cfe, sobre, pause);
    case 'notYet':
      if (await undecidedForTooLong(deps, sobre)) return leaveUndecided(deps, sobre);
      throw notYet(`No verdict yet (${answer.code}).`, pause);
    case 'repeat':
    case 'stuck':
      return repeatOrLeave(deps, sobre, answer);
  }
}

/** The authority said from when on it may be asked: a short wait is spent here, a long one until the next attempt. */
async function untilMayBeAsked({ clock }: AwaitDeps, { askFrom }: Sobre): Promise<void> {
  const wait = (askFrom?.getTime() ?? 0) - clock().getTime();
  if (wait > SHORT_MILLISECONDS)
    throw notYet('The authority said when to ask first.', Math.min(wait, 60_000));
  if (wait > 0) await sleep(wait);
}

/** The authority does not know the sobre by the number and token we hold: its list gives the right ones. */
async function recoverTicket(deps: AwaitDeps, cfe: Cfe, sobre: Sobre, pause: number): Promise<Stuck> {
  const found = await deps.authority.findSobre(cfe, sobre);
  if (found.kind === 'stuck' || found.kind === 'repeat') return repeatOrLeave(deps, sobre, found);
  if (found.kind === 'received') {
    const { idReceptor, token } = found;
    await deps.orm.em.fork().nativeUpdate(Sobre, { id: sobre.id }, { idReceptor, token });
  }
  // Those from the list may be refused as well, each time.
  if (await undecidedForTooLong(deps, sobre)) return leaveUndecided(deps, sobre);
  if (found.kind === 'received') throw notYet('The authority gave number and token anew.', pause);
  throw notYet('The authority does not find the sobre (104); it is asked again.', pause);
}
