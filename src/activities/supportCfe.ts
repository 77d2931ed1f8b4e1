import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { outcomeOfRequest, recordOutcome } from '../db/audit.ts';
import { findCfe } from '../db/cfes.ts';
import { Cfe } from '../db/entities/receipts.ts';
import { isNumberUndecided } from '../db/numbers.ts';
import {
  endSobre,
  lockSobre,
  type SobreInHand,
  type SobreOfCfe,
  sobreInHand,
  sobresOf,
  storeOwnTicket,
} from '../db/sobres.ts';
import type { SupportResult } from '../domain/activityResults.ts';
import { parseCfeId } from '../domain/cfeId.ts';
import { type FinalStatus, isFinal } from '../domain/cfeStatus.ts';
import { ABANDONED, ABANDONED_TO_OTHERS } from '../domain/rejection.ts';
import { refusalOf } from '../domain/words/refusals.ts';
import { failpoint } from '../failpoints.ts';
import type { Activity, SobreSupportAct, SupportAct } from './activities.ts';
import { describeObstacle, findAbandonObstacle, type Obstacle } from './steps/abandonment.ts';
import { recordAttempts, withHeartbeat } from './steps/attempt.ts';
import { type Authority, toAskedCfe } from './steps/authority.ts';
import { type AuthorityRecord, askForRecord } from './steps/authorityRecord.ts';
import { settleRejected } from './steps/settleRejected.ts';
import { afterMoves, type MoveDeps, writeMoves } from './steps/storeMoves.ts';

export interface SupportDeps extends MoveDeps {
  authority: Authority;
}

type Stored = Awaited<ReturnType<typeof writeMoves>>;

/** What an act came to, and the moves that it stored, if any. */
type Done = SupportResult & { stored?: Stored };

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
  return (act) =>
    withHeartbeat(async () => {
      const cfe = await cfeOf(deps.orm.em.fork(), act);
      return recordAttempts(deps, cfe.id, () => support(deps, act, cfe));
    });
}

/** The CFE of an act: by its UUID, or by its cfe_id among those of the sobre. */
async function cfeOf(em: EntityManager, act: SupportAct | SobreSupportAct): Promise<Cfe> {
  if ('cfeUuid' in act) return em.findOneOrFail(Cfe, { id: act.cfeUuid });
  const { sobre } = await sobreInHand(em, act.sobreId);
  const parts = parseCfeId(act.cfe_id);
  const cfe = parts && (await findCfe(em, { rut: sobre.rut, environment: sobre.environment, ...parts }));
  if (!cfe) throw new RangeError(`there is no CFE ${act.cfe_id}`);
  return cfe;
}

async function support(
  deps: SupportDeps,
  act: SupportAct | SobreSupportAct,
  cfe: Cfe,
): Promise<SupportResult> {
  if (act.action === 'retry') return audited(deps, act, cfe, async () => RETRIED);
  const em = deps.orm.em.fork();
  if (await isNumberUndecided(em, cfe.id)) return supportRejected(deps, act, cfe);
  const sobres = await sobresOf(em, cfe.id);
  const hand = cfe.sobreId === null ? null : await sobreInHand(em, cfe.sobreId);
  const askedAt = deps.clock();
  const record = await askForRecord(deps.authority, recorded(cfe, hand), sobres);
  return audited(deps, act, cfe, async (open, locked) => {
    if (isFinal(locked.status)) return decidedAlready(locked.status);
    const present = await sobresOf(open, locked.id);
    if (act.action === 'settle') return settle(deps, open, locked, { record, present });
    // Whatever moved it on meanwhile, an attempt that was thought lost perhaps, may have brought it there.
    if (stateOf(present) !== stateOf(sobres)) return refused(refusalOf('moved_on'));
    const obstacle = findAbandonObstacle(record, { cfe: locked, sobres, askedAt });
    return obstacle === null ? abandon(deps, open, locked, record) : refused(obstacle);
  });
}

/** A CFE with its place in the sobre that it goes in, and what it is asked about with. */
function recorded(cfe: Cfe, hand: SobreInHand | null) {
  const here = hand?.cfes.find(({ id }) => id === cfe.id);
  const own = here?.ticket ?? null;
  const { idReceptor = null, token = null } = own ?? hand?.sobre ?? {};
  return { ...toAskedCfe(cfe), place: own ? null : (here?.place ?? null), ticket: { idReceptor, token } };
}

/** Of a CFE that was rejected for E06 alone: the authority is asked whether it has accepted it; given up, its number is annulled. */
async function supportRejected(
  deps: SupportDeps,
  act: SupportAct | SobreSupportAct,
  cfe: Cfe,
): Promise<SupportResult> {
  const held = await deps.authority.findState(toAskedCfe(cfe));
  return audited(deps, act, cfe, async (em, locked): Promise<Done> => {
    if (held.kind === 'repeat' || held.kind === 'stuck') return refused(describeObstacle(held));
    const settled = await settleRejected(deps, em, locked, { held, annul: act.action === 'abandon' });
    switch (settled.what) {
      case 'accepted':
        return { kind: 'settled', message: 'The authority has accepted it since.', stored: settled.stored };
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

/**
 * Runs `work` with the CFE and its sobre locked, and writes the audit with it; a request that was done before is not done
 * again. The sobre first, as whoever ends one locks it before its CFEs.
 */
async function audited(
  deps: SupportDeps,
  { requestId, action, by, reason }: SupportAct | SobreSupportAct,
  { id: subject, sobreId }: Cfe,
  work: (em: EntityManager, locked: Cfe) => Promise<Done>,
): Promise<SupportResult> {
  const { stored, ...result } = await deps.orm.em.fork().transactional(async (em): Promise<Done> => {
    if (sobreId !== null) await lockSobre(em, sobreId);
    const cfe = await em.findOneOrFail(Cfe, { id: subject }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const before = await outcomeOfRequest(em, { requestId, subject });
    if (before) return { kind: before, message: TOLD_LATE };
    const done = await work(em, cfe);
    const outcome = done.kind;
    if (outcome !== 'refused') await em.nativeUpdate(Cfe, { id: subject }, { stuckReason: null });
    const { rut } = cfe;
    const said = [by, reason];
    await recordOutcome(
      em,
      { action: `cfe.${action}`, subject, rut, requestId, outcome, said },
      deps.clock(),
    );
    failpoint('support.written');
    return done;
  });
  failpoint('support.stored');
  if (stored) afterMoves(deps, stored);
  return result;
}

/** What a send, or its answer, would change. */
const stateOf = (sobres: readonly SobreOfCfe[]): string =>
  JSON.stringify(sobres.map(({ id, state, sendingAt }) => [id, state, sendingAt]));

/** Stores what the authority has, so that the CFE goes on from there; what it does not have is told. */
async function settle(
  deps: SupportDeps,
  em: EntityManager,
  cfe: Cfe,
  { record, present }: { record: AuthorityRecord; present: readonly SobreOfCfe[] },
): Promise<Done> {
  switch (record.kind) {
    case 'verdict': {
      const move = { cfe, to: record.status, reasons: record.reasons };
      const stored = await writeMoves(deps, em, [move], { sobreId: null });
      return { kind: 'settled', message: `The authority has decided: ${record.status}.`, stored };
    }
    case 'original': {
      if (cfe.sobreId !== null) await storeOwnTicket(em, { sobreId: cfe.sobreId, cfeUuid: cfe.id }, record);
      return {
        kind: 'settled',
        message: 'An earlier sobre of ours brought it; that one is asked about now.',
      };
    }
    case 'received': {
      const current = present.find(({ id, idemisor }) => id === cfe.sobreId && idemisor !== null);
      if (!current) return refused(refusalOf('unknown_sobre'));
      // Another sobre that brought this one says nothing of those beside it.
      const isOther = record.idemisor !== undefined && record.idemisor !== String(current.idemisor);
      if (isOther && current.size > 1) return refused(refusalOf('unknown_sobre'));
      const { cfes } = await sobreInHand(em, current.id);
      const waiting = cfes.filter(({ isIn, status }) => isIn && status === 'PENDING');
      const moves = waiting.map((one) => ({ cfe: one, to: 'RECEIVED' as const, reasons: [] }));
      const { idReceptor, token, askFrom } = record;
      const received = { idReceptor, token, askFrom };
      const stored = await writeMoves(deps, em, moves, { sobreId: current.id, received });
      if (isOther) await storeOwnTicket(em, { sobreId: current.id, cfeUuid: cfe.id }, record);
      return { kind: 'settled', message: 'The authority has it; it is asked for its verdict now.', stored };
    }
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
      return refused(describeObstacle(record));
  }
}

/** The CFE ends REJECTED. Its sobre, which the authority does not have, goes no more: others of it go on in the next. */
async function abandon(
  deps: SupportDeps,
  em: EntityManager,
  cfe: Cfe,
  record: AuthorityRecord,
): Promise<Done> {
  const isOfOthers = record.kind === 'others';
  const reasons = isOfOthers ? ABANDONED_TO_OTHERS : ABANDONED;
  const stored = await writeMoves(deps, em, [{ cfe, to: 'REJECTED', reasons }], { sobreId: null });
  if (cfe.sobreId !== null) {
    const state = await lockSobre(em, cfe.sobreId);
    if (state !== 'RECEIVED')
      await endSobre(em, { id: cfe.sobreId, state }, { state: 'DISSOLVED', now: deps.clock() });
  }
  const after = isOfOthers
    ? 'must not be annulled: it belongs to another system'
    : 'is to be annulled at the authority';
  return {
    kind: 'abandoned',
    message: `The CFE is given up and ends REJECTED. Its number ${after}.`,
    stored,
  };
}
