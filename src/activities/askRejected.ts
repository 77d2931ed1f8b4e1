import { LockMode } from '@mikro-orm/postgresql';
import { Cfe } from '../db/entities/receipts.ts';
import { undecidedNumbers } from '../db/numbers.ts';
import type { Orm } from '../db/orm.ts';
import type { RejectedResult } from '../domain/activityResults.ts';
import { isPastAcceptance } from '../domain/rejection.ts';
import { LEAST_UUID } from '../domain/uuid.ts';
import type { Activity } from './activities.ts';
import type { Authority } from './steps/authority.ts';
import { notingAttempts } from './steps/noteAttempts.ts';
import { settleRejected } from './steps/settleRejected.ts';
import type { VerdictDeps } from './steps/storeVerdict.ts';
import { whileBeating } from './steps/whileBeating.ts';

/** CFEs looked up at a time. */
const PAGE = 100;

interface AskRejectedDeps extends VerdictDeps {
  orm: Orm;
  authority: Authority;
  /** CFEs looked up at a time; 100 unless told. */
  page?: number;
}

/**
 * Asks the authority about every CFE that it rejected for E06 alone and whose number is undecided: one that it has accepted
 * since becomes ACCEPTED, one that it has not accepted for 60 days has its number annulled. Where it gives no answer, the
 * next day's run asks again. Its repeat asks about those that are still undecided.
 */
export function createAskRejected(deps: AskRejectedDeps): Activity<'askRejected'> {
  return () => whileBeating(() => askAll(deps));
}

async function askAll(deps: AskRejectedDeps): Promise<RejectedResult> {
  const { orm, page = PAGE } = deps;
  const counts = { accepted: 0, annulled: 0, undecided: 0, unanswered: 0 };
  let after: string | undefined = LEAST_UUID;
  while (after !== undefined) {
    const cfes = await undecidedNumbers(orm.em.fork(), { after, limit: page });
    for (const cfe of cfes) {
      const what = await notingAttempts(deps, cfe.id, () => askAbout(deps, cfe));
      if (what !== 'decided') counts[what] += 1;
    }
    after = cfes.length < page ? undefined : cfes.at(-1)?.id;
  }
  return { kind: 'asked', ...counts };
}

/** Asks about one; `decided` where somebody else did meanwhile. */
async function askAbout(
  deps: AskRejectedDeps,
  cfe: Cfe,
): Promise<Exclude<keyof RejectedResult, 'kind'> | 'decided'> {
  const held = await deps.authority.findState(cfe);
  if (held.kind === 'repeat' || held.kind === 'stuck') return 'unanswered';
  const what = await deps.orm.em.fork().transactional(async (em) => {
    const locked = await em.findOneOrFail(Cfe, { id: cfe.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const now = deps.clock();
    const annul = isPastAcceptance(locked, now);
    return settleRejected(em, locked, held, { annul, now, sandboxMails: deps.sandboxMails ?? [] });
  });
  if (what === 'accepted') deps.outbox.dispatchSoon();
  return what === 'others' ? 'undecided' : what;
}
