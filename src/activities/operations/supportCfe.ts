import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import {
  endSobre,
  type LoadedSobre,
  listSobresOfCfe,
  loadSobre,
  lockSobre,
  type SobreOfCfe,
  storeOwnTicket,
} from '../../db/authority/sobres.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import { isNumberUndecided } from '../../db/numbers/numbers.ts';
import { findRequestOutcome, recordOutcome } from '../../db/operations/audit.ts';
import { findCfe } from '../../db/receipts/cfes.ts';
import type { SupportResult } from '../../domain/authority/activityResults.ts';
import { parseCfeId } from '../../domain/receipts/cfeId.ts';
import { type FinalStatus, isFinal } from '../../domain/receipts/cfeStatus.ts';
import { ABANDONED, ABANDONED_TO_OTHERS } from '../../domain/receipts/rejection.ts';
import { failpoint } from '../../failpoints.ts';
import { refusalOf } from '../../words/refusals.ts';
import type { Activity, SobreSupportAct, SupportAct } from '../activities.ts';
import { recordStepCalls, withHeartbeat } from '../authority/attempt.ts';
import { type Authority, toAskedCfe } from '../authority/authority.ts';
import { type AuthorityRecord, askForRecord } from '../authority/authorityRecord.ts';
import { settleRejected } from '../authority/settleRejected.ts';
import { afterMoves, type MoveDeps, writeMoves } from '../authority/storeMoves.ts';
import { describeObstacle, findAbandonObstacle, type Obstacle } from './abandonment.ts';

export interface SupportDeps extends MoveDeps {
  authority: Authority;
}

type Stored = Awaited<ReturnType<typeof writeMoves>>;

/** The result of an action, and the moves that it stored, if any. */
type ActionResult = SupportResult & { stored?: Stored };

const refused = (obstacle: Obstacle): ActionResult => ({ kind: 'refused', ...obstacle });
const alreadyDecided = (status: FinalStatus): ActionResult => ({
  kind: 'settled',
  message: `It has its verdict: ${status}.`,
});
const RETRIED: ActionResult = {
  kind: 'retried',
  message: 'The stuck step is retried now, with the present data.',
};
const RESULT_LOST =
  'The worker that did this crashed before it could report more; `cfe show` has the present state of the CFE.';

/**
 * Executes an action of support on a stuck CFE and audits result and author, in one transaction. Unless refused, the stuck
 * step is repeated and reads the rows stored here.
 */
export function createSupportCfe(deps: SupportDeps): Activity<'supportCfe'> {
  return (act) =>
    withHeartbeat(async () => {
      const cfe = await findCfeOfAct(deps.orm.em.fork(), act);
      return recordStepCalls(deps, cfe.id, () => support(deps, act, cfe));
    });
}

/** Returns the CFE of an action: by its UUID, or by its cfe_id at the enterprise of the sobre. */
async function findCfeOfAct(em: EntityManager, act: SupportAct | SobreSupportAct): Promise<Cfe> {
  if ('cfeUuid' in act) return em.findOneOrFail(Cfe, { id: act.cfeUuid });
  const { sobre } = await loadSobre(em, act.sobreId);
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
  if (act.action === 'retry') return runAudited(deps, act, cfe, async () => RETRIED);
  const em = deps.orm.em.fork();
  if (await isNumberUndecided(em, cfe.id)) return supportRejected(deps, act, cfe);
  const sobres = await listSobresOfCfe(em, cfe.id);
  const loaded = cfe.sobreId === null ? null : await loadSobre(em, cfe.sobreId);
  const askedAt = deps.clock();
  const record = await askForRecord(deps.authority, toRecordedCfe(cfe, loaded), sobres);
  return runAudited(deps, act, cfe, async (open, locked) => {
    if (isFinal(locked.status)) return alreadyDecided(locked.status);
    const present = await listSobresOfCfe(open, locked.id);
    if (act.action === 'settle') return settle(deps, open, locked, { record, present });
    // An attempt that was thought lost may have sent the CFE meanwhile.
    if (fingerprint(present) !== fingerprint(sobres)) return refused(refusalOf('moved_on'));
    const obstacle = findAbandonObstacle(record, { cfe: locked, sobres, askedAt });
    return obstacle === null ? abandon(deps, open, locked, record) : refused(obstacle);
  });
}

/** Returns a CFE with its position in its sobre and the ticket for queries. */
function toRecordedCfe(cfe: Cfe, loaded: LoadedSobre | null) {
  const inSobre = loaded?.cfes.find(({ id }) => id === cfe.id);
  const ownTicket = inSobre?.ticket ?? null;
  const { idReceptor = null, token = null } = ownTicket ?? loaded?.sobre ?? {};
  const place = ownTicket ? null : (inSobre?.place ?? null);
  return { ...toAskedCfe(cfe), place, ticket: { idReceptor, token } };
}

/** Asks whether the authority has accepted a CFE rejected for E06 alone since; `abandon` annuls its number otherwise. */
async function supportRejected(
  deps: SupportDeps,
  act: SupportAct | SobreSupportAct,
  cfe: Cfe,
): Promise<SupportResult> {
  const state = await deps.authority.findState(toAskedCfe(cfe));
  return runAudited(deps, act, cfe, async (em, locked): Promise<ActionResult> => {
    if (state.kind === 'repeat' || state.kind === 'stuck') return refused(describeObstacle(state));
    const settled = await settleRejected(deps, em, locked, { state, annul: act.action === 'abandon' });
    switch (settled.kind) {
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
 * Runs `work` and writes the audit with the CFE and its sobre locked; a repeated request is not executed again.
 * The sobre is locked first, in the order of every caller that ends one.
 */
async function runAudited(
  deps: SupportDeps,
  { requestId, action, by, reason }: SupportAct | SobreSupportAct,
  { id: subject, sobreId }: Cfe,
  work: (em: EntityManager, locked: Cfe) => Promise<ActionResult>,
): Promise<SupportResult> {
  const { stored, ...result } = await deps.orm.em.fork().transactional(async (em): Promise<ActionResult> => {
    if (sobreId !== null) await lockSobre(em, sobreId);
    const cfe = await em.findOneOrFail(Cfe, { id: subject }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const before = await findRequestOutcome(em, { requestId, subject });
    if (before) return { kind: before, message: RESULT_LOST };
    const done = await work(em, cfe);
    const outcome = done.kind;
    if (outcome !== 'refused') await em.nativeUpdate(Cfe, { id: subject }, { stuckReason: null });
    const { rut } = cfe;
    await recordOutcome(
      em,
      { action: `cfe.${action}`, subject, rut, requestId, outcome, said: [by, reason] },
      deps.clock(),
    );
    failpoint('support.written');
    return done;
  });
  failpoint('support.stored');
  if (stored) afterMoves(deps, stored);
  return result;
}

/** Returns a text that changes with any send of the sobres and its answer. */
const fingerprint = (sobres: readonly SobreOfCfe[]): string =>
  JSON.stringify(sobres.map(({ id, state, sendingAt }) => [id, state, sendingAt]));

/** Stores the authority's record, from which the CFE continues; refuses if the authority does not have the CFE. */
async function settle(
  deps: SupportDeps,
  em: EntityManager,
  cfe: Cfe,
  { record, present }: { record: AuthorityRecord; present: readonly SobreOfCfe[] },
): Promise<ActionResult> {
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
      // The ticket of another sobre concerns this CFE alone, not the others of this sobre.
      const isOther = record.idemisor !== undefined && record.idemisor !== String(current.idemisor);
      if (isOther && current.size > 1) return refused(refusalOf('unknown_sobre'));
      const { cfes } = await loadSobre(em, current.id);
      const waiting = cfes.filter(({ isIn, status }) => isIn && status === 'PENDING');
      const moves = waiting.map((inSobre) => ({ cfe: inSobre, to: 'RECEIVED' as const, reasons: [] }));
      const { idReceptor, token, askFrom } = record;
      const received = { idReceptor, token, askFrom };
      const stored = await writeMoves(deps, em, moves, { sobreId: current.id, received });
      if (isOther) await storeOwnTicket(em, { sobreId: current.id, cfeUuid: cfe.id }, record);
      return { kind: 'settled', message: 'The authority has it; it is asked for its verdict now.', stored };
    }
    case 'undecided':
      return {
        kind: 'settled',
        message: 'The authority has it and has not decided; it is asked again automatically.',
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

/** Ends the CFE as REJECTED. Dissolves its sobre, which the authority does not have; the other CFEs get the next sobre. */
async function abandon(
  deps: SupportDeps,
  em: EntityManager,
  cfe: Cfe,
  record: AuthorityRecord,
): Promise<ActionResult> {
  const isOfOthers = record.kind === 'others';
  const reasons = isOfOthers ? ABANDONED_TO_OTHERS : ABANDONED;
  const stored = await writeMoves(deps, em, [{ cfe, to: 'REJECTED', reasons }], { sobreId: null });
  if (cfe.sobreId !== null) {
    const state = await lockSobre(em, cfe.sobreId);
    if (state !== 'RECEIVED')
      await endSobre(em, { id: cfe.sobreId, state }, { state: 'DISSOLVED', now: deps.clock() });
  }
  const fate = isOfOthers
    ? 'must not be annulled: it belongs to another system'
    : 'is to be annulled at the authority';
  return {
    kind: 'abandoned',
    message: `The CFE is given up and ends REJECTED. Its number ${fate}.`,
    stored,
  };
}
