import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { outcomeOfRequest, recordOutcome } from '../db/audit.ts';
import { Sobre } from '../db/entities/authority.ts';
import { Cfe } from '../db/entities/receipts.ts';
import type { VerdictMails } from '../db/mails.ts';
import { isNumberUndecided } from '../db/numbers.ts';
import type { SupportResult } from '../domain/activityResults.ts';
import { type FinalStatus, isFinal } from '../domain/cfeStatus.ts';
import { ABANDONED, ABANDONED_TO_OTHERS } from '../domain/rejection.ts';
import { refusalOf } from '../domain/words/refusals.ts';
import { failpoint } from '../failpoints.ts';
import type { Activity, SupportAct } from './activities.ts';
import { type Obstacle, whatSupportMayDo, whyNotAbandoned } from './steps/abandonment.ts';
import type { Authority } from './steps/authority.ts';
import { type AuthorityRecord, askForRecord } from './steps/authorityRecord.ts';
import { notingAttempts } from './steps/noteAttempts.ts';
import { settleRejected } from './steps/settleRejected.ts';
import { storeReceived } from './steps/storeReceived.ts';
import {
  afterVerdict,
  type StoredVerdict,
  storeVerdictOfLocked,
  type VerdictDeps,
} from './steps/storeVerdict.ts';
import { whileBeating } from './steps/whileBeating.ts';

export interface SupportDeps extends VerdictDeps {
  authority: Authority;
}

/** What an act came to, and the verdict that it stored, if any. */
type Done = SupportResult & { verdict?: StoredVerdict | null };

const refused = (obstacle: Obstacle): Done => ({ kind: 'refused', ...obstacle });
const decidedAlready = (status: FinalStatus): Done => ({
  kind: 'settled',
  message: `It has its verdict: ${status}.`,
});
const RETRIED: Done = {
  kind: 'retried',
  message: 'The step that was stuck is tried again now, with what is there now.',
};
const TOLD_LATE =
  'The worker that did this was lost before it could tell more; `cfe show` says where the CFE stands.';

/**
 * Does what support asks of a stuck CFE, and writes into the audit what came of it and who asked, in one transaction.
 * Unless it is refused the stuck step is to be taken again: it finds what was stored here.
 */
export function createSupportCfe(deps: SupportDeps): Activity<'supportCfe'> {
  return (act) => whileBeating(() => notingAttempts(deps, act.cfeUuid, () => support(deps, act)));
}

async function support(deps: SupportDeps, act: SupportAct): Promise<SupportResult> {
  if (act.action === 'retry') return audited(deps, act, async () => RETRIED);
  const em = deps.orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { id: act.cfeUuid });
  if (await isNumberUndecided(em, cfe.id)) return supportRejected(deps, act, cfe);
  const sobres = await sobresOf(em, cfe);
  const askedAt = deps.clock();
  const record = await askForRecord(deps.authority, cfe, sobres);
  return audited(deps, act, async (open, locked, now) => {
    if (isFinal(locked.status)) return decidedAlready(locked.status);
    const present = await sobresOf(open, locked);
    const mails = { now, sandboxMails: deps.sandboxMails ?? [] };
    if (act.action === 'settle') return settle(open, locked, { record, present, ...mails });
    // Whatever moved it on meanwhile, an attempt that was thought lost perhaps, may have brought it there.
    if (stateOf(present) !== stateOf(sobres)) return refused(refusalOf('moved_on'));
    const obstacle = whyNotAbandoned(record, { cfe: locked, sobres, askedAt });
    return obstacle === null ? abandon(open, locked, { record, ...mails }) : refused(obstacle);
  });
}

/** Of a CFE that was rejected for E06 alone: the authority is asked whether it has accepted it; given up, its number is annulled. */
async function supportRejected(deps: SupportDeps, act: SupportAct, cfe: Cfe): Promise<SupportResult> {
  const held = await deps.authority.findState(cfe);
  return audited(deps, act, async (em, locked, now): Promise<Done> => {
    if (held.kind === 'repeat' || held.kind === 'stuck') return refused(whatSupportMayDo(held));
    const annul = act.action === 'abandon';
    const what = await settleRejected(em, locked, held, {
      annul,
      now,
      sandboxMails: deps.sandboxMails ?? [],
    });
    switch (what) {
      case 'accepted':
        return { kind: 'settled', message: 'The authority has accepted it since.' };
      case 'annulled':
        return { kind: 'abandoned', message: 'It stays REJECTED, and its number is annulled.' };
      case 'undecided':
        return refused(refusalOf('not_accepted'));
      case 'others':
        return refused(refusalOf('accepted_for_others'));
      case 'decided':
        return refused(refusalOf('decided_meanwhile'));
    }
  });
}

/** Runs `work` with the CFE locked, and writes the audit with it; a request that was done before is not done again. */
async function audited(
  deps: SupportDeps,
  { cfeUuid: subject, requestId, action, by, reason }: SupportAct,
  work: (em: EntityManager, locked: Cfe, now: Date) => Promise<Done>,
): Promise<SupportResult> {
  const { verdict, ...result } = await deps.orm.em.fork().transactional(async (em): Promise<Done> => {
    const cfe = await em.findOneOrFail(Cfe, { id: subject }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const before = await outcomeOfRequest(em, { requestId, subject });
    if (before) return { kind: before, message: TOLD_LATE };
    const now = deps.clock();
    const done = await work(em, cfe, now);
    const outcome = done.kind;
    if (outcome !== 'refused') cfe.stuckReason = null;
    const { rut } = cfe;
    const said = [by, reason];
    await recordOutcome(em, { action: `cfe.${action}`, subject, rut, requestId, outcome, said }, now);
    failpoint('support.written');
    return done;
  });
  failpoint('support.stored');
  afterVerdict(deps, verdict ?? null);
  return result;
}

/** All sobres that were made for the CFE, the last one first. */
const sobresOf = (em: EntityManager, { id }: Cfe): Promise<Sobre[]> =>
  em.find(Sobre, { cfeUuid: id }, { orderBy: { createdAt: 'desc', id: 'desc' } });

/** What a send, or its answer, would change. */
const stateOf = (sobres: readonly Sobre[]): string =>
  JSON.stringify(sobres.map(({ id, state, sendingAt }) => [id, state, sendingAt]));

/** Stores what the authority has, so that the CFE goes on from there; what it does not have is told. */
async function settle(
  em: EntityManager,
  cfe: Cfe,
  { record, present, ...mails }: { record: AuthorityRecord; present: readonly Sobre[] } & VerdictMails,
): Promise<Done> {
  const underWay = present.find(({ state }) => state !== 'REFUSED');
  switch (record.kind) {
    case 'verdict': {
      const verdict = await storeVerdictOfLocked(em, cfe, record, mails);
      return { kind: 'settled', message: `The authority has decided: ${record.status}.`, verdict };
    }
    case 'received':
      if (!underWay) return refused(refusalOf('unknown_sobre'));
      await storeReceived(em, cfe, underWay, record, mails.now);
      return { kind: 'settled', message: 'The authority has it; it is asked for its verdict now.' };
    case 'undecided':
      return {
        kind: 'settled',
        message: 'The authority has it and has not decided; it is asked again by itself.',
      };
    case 'neverSent':
    case 'others':
    case 'refused':
    case 'absent':
    case 'repeat':
    case 'stuck':
      return refused(whatSupportMayDo(record));
  }
}

async function abandon(
  em: EntityManager,
  cfe: Cfe,
  { record, ...mails }: { record: AuthorityRecord } & VerdictMails,
): Promise<Done> {
  const isOfOthers = record.kind === 'others';
  const reasons = isOfOthers ? ABANDONED_TO_OTHERS : ABANDONED;
  const verdict = await storeVerdictOfLocked(em, cfe, { status: 'REJECTED', reasons }, mails);
  const after = isOfOthers
    ? 'must not be annulled: it belongs to another system'
    : 'is to be annulled at the authority';
  return {
    kind: 'abandoned',
    message: `The CFE is given up and ends REJECTED. Its number ${after}.`,
    verdict,
  };
}
