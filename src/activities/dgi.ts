import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { activityInfo } from '@temporalio/activity';
import { Cfe, type RejectionReason } from '../db/entities/Cfe.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import { recordEvent } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import { sobreUnderWay } from '../db/sobres.ts';
import type { SobreTicket } from '../dgi/client.ts';
import type { Unsettled } from '../dgi/outcomes.ts';
import { canBecome, type FinalStatus, isFinal } from '../domain/cfeStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { cfeUpdated } from '../domain/webhookEvents.ts';
import type { Authority } from './authority.ts';
import { notYet, pollPause, type Stuck, unreachable } from './failures.ts';
import { whileBeating } from './heartbeat.ts';
import { prepareSobre } from './prepareSobre.ts';
import { settleCfe } from './settleCfe.ts';

export interface DgiDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { dispatchSoon(): void };
  authority: Authority;
  /** The authority's own RUT, to which sobres are addressed. */
  authorityRut: Readonly<Record<Environment, string>>;
  /** Longest pause between two questions for a verdict, seconds. */
  pollLongestSeconds: number;
  /** How long a reachable authority may be undecided before a person is asked to look, seconds. */
  patienceSeconds: number;
}

export type Submitted = { status: 'RECEIVED' } | { status: FinalStatus };

/** Activities that speak with the authority. */
export const createDgiActivities = (deps: DgiDeps) => ({
  /**
   * Brings a signed CFE to the authority: the sobre is stored before it is sent, and once a send was begun the
   * authority is asked before the same bytes go out again.
   */
  submitCfe: (cfeId: string): Promise<Submitted | Stuck> => whileBeating(() => submit(deps, cfeId)),

  /** Asks for the verdict on a CFE that the authority has; fails "not yet" until there is one, then stores it. */
  awaitVerdict: (cfeId: string): Promise<{ status: FinalStatus } | Stuck> =>
    whileBeating(() => ask(deps, cfeId)),
});

export type DgiActivities = ReturnType<typeof createDgiActivities>;

const ORIGINAL_REJECTED: RejectionReason = {
  code: 'reference.rejected',
  message:
    'The CFE that this note corrects was rejected; the note was never sent and its number is to be annulled.',
  detail: null,
};
const REFUSED_WITHOUT_REASONS =
  'The authority lists the sobre as refused but gives no reasons. Ask the authority for them; then retry.';
const UNDECIDED =
  'The authority answers, but has not settled this CFE for longer than CFE_PATIENCE. Ask the authority what became of it; then retry.';

async function submit(deps: DgiDeps, cfeId: string): Promise<Submitted | Stuck> {
  const em = deps.orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { id: cfeId });
  if (isFinal(cfe.status)) return { status: cfe.status };
  if (cfe.status === 'RECEIVED') return { status: 'RECEIVED' };
  if (await originalWasRejected(em, cfe)) {
    await settleCfe(deps, cfeId, 'REJECTED', [ORIGINAL_REJECTED]);
    return { status: 'REJECTED' };
  }
  const sobre = await prepareSobre(deps, cfe);
  return sobre.state === 'PREPARED' ? send(deps, cfe, sobre) : askThenSend(deps, cfe, sobre);
}

async function ask(deps: DgiDeps, cfeId: string): Promise<{ status: FinalStatus } | Stuck> {
  const em = deps.orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { id: cfeId });
  if (isFinal(cfe.status)) return { status: cfe.status };
  const sobre = await sobreUnderWay(em, cfeId);
  if (!sobre) throw new Error(`CFE ${cfeId} is RECEIVED without a sobre to ask about`);

  const pause = pollPause(activityInfo().attempt, deps.pollLongestSeconds);
  const wait = (sobre.askFrom?.getTime() ?? 0) - deps.clock().getTime();
  if (wait > 0) throw notYet('The authority said when to ask first.', Math.min(wait, 60_000));

  const answer = await deps.authority.askVerdict(cfe, sobre);
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

async function originalWasRejected(em: EntityManager, { referenceId }: Cfe): Promise<boolean> {
  if (referenceId === null) return false;
  const original = await em.findOneOrFail(Cfe, { id: referenceId });
  return original.status === 'REJECTED';
}

/** A send was begun earlier and nobody knows how it ended: the authority is asked; the same bytes go out if not found. */
async function askThenSend(deps: DgiDeps, cfe: Cfe, sobre: Sobre): Promise<Submitted | Stuck> {
  const answer = await deps.authority.findSobre(cfe, sobre);
  switch (answer.kind) {
    case 'received':
      return received(deps, cfe, sobre, answer);
    case 'absent':
      return send(deps, cfe, sobre);
    case 'refused':
      // Its records hold no reasons: sending the same bytes again brings them, unless they are called a duplicate.
      return send(deps, cfe, sobre, { listedAsRefused: true });
    case 'repeat':
    case 'stuck':
      return unsettledStep(deps, sobre, answer);
  }
}

async function send(
  deps: DgiDeps,
  cfe: Cfe,
  sobre: Sobre,
  { listedAsRefused } = { listedAsRefused: false },
): Promise<Submitted | Stuck> {
  const em = deps.orm.em.fork();
  await em.nativeUpdate(Sobre, { id: sobre.id }, { state: 'SENDING', sendingAt: deps.clock() });
  const answer = await deps.authority.sendSobre(cfe, sobre);
  switch (answer.kind) {
    case 'received':
      return received(deps, cfe, sobre, answer);
    case 'refused':
      await em.nativeUpdate(Sobre, { id: sobre.id }, { state: 'REFUSED', refusal: [...answer.reasons] });
      await settleCfe(deps, cfe.id, 'REJECTED', [...answer.reasons]);
      return { status: 'REJECTED' };
    case 'duplicate':
      if (listedAsRefused) return stuck(em, cfe.id, 'sobre.refused_without_reasons', REFUSED_WITHOUT_REASONS);
      throw notYet(
        'The authority has this sobre already; it is asked for its receipt.',
        pollPause(activityInfo().attempt, deps.pollLongestSeconds),
      );
    case 'repeat':
    case 'stuck':
      return unsettledStep(deps, sobre, answer);
  }
}

/** Stores that the authority has the sobre, with what it gave for asking about it. */
async function received(deps: DgiDeps, cfe: Cfe, sobre: Sobre, ticket: SobreTicket): Promise<Submitted> {
  await deps.orm.em.fork().transactional(async (em) => {
    const row = await em.findOneOrFail(Cfe, { id: cfe.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const { idReceptor, token, askFrom } = ticket;
    await em.nativeUpdate(
      Sobre,
      { id: sobre.id },
      { state: 'RECEIVED', idReceptor, token, askFrom, receivedAt: sobre.receivedAt ?? deps.clock() },
    );
    row.stuckReason = null;
    const from = row.status;
    if (!canBecome(from, 'RECEIVED')) return;
    row.status = 'RECEIVED';
    await recordEvent(em, row, cfeUpdated(row, from), deps.clock());
  });
  deps.outbox.dispatchSoon();
  return { status: 'RECEIVED' };
}

/**
 * Whether the authority has answered without settling anything for longer than our patience. Counted while it can be
 * reached: an outage starts the count anew, and so does support's retry.
 */
async function undecidedForTooLong(deps: DgiDeps, { id, undecidedSince }: Sobre): Promise<boolean> {
  const now = deps.clock();
  const since = undecidedSince ?? now;
  const tooLong = now.getTime() - since.getTime() > deps.patienceSeconds * 1_000;
  if (tooLong || undecidedSince === null) await countUndecided(deps, id, tooLong ? null : since);
  return tooLong;
}

async function countUndecided({ orm }: DgiDeps, sobreId: string, undecidedSince: Date | null): Promise<void> {
  await orm.em.fork().nativeUpdate(Sobre, { id: sobreId }, { undecidedSince });
}

/** The authority does not know the sobre by the number and token we hold: its list gives the right ones. */
async function recoverTicket(deps: DgiDeps, cfe: Cfe, sobre: Sobre, pause: number): Promise<Stuck> {
  const em = deps.orm.em.fork();
  const found = await deps.authority.findSobre(cfe, sobre);
  if (found.kind === 'received') {
    const { idReceptor, token } = found;
    await em.nativeUpdate(Sobre, { id: sobre.id }, { idReceptor, token });
    throw notYet('The authority gave number and token anew.', pause);
  }
  if (found.kind === 'stuck' || found.kind === 'repeat') return unsettledStep(deps, sobre, found);
  if (await undecidedForTooLong(deps, sobre)) return stuck(em, cfe.id, 'undecided', UNDECIDED);
  throw notYet('The authority does not find the sobre (104); it is asked again.', pause);
}

/** What becomes of an answer that settles nothing: the step is tried again by itself, or left to a person. */
async function unsettledStep(deps: DgiDeps, sobre: Sobre, answer: Unsettled): Promise<Stuck> {
  const em = deps.orm.em.fork();
  if (answer.kind === 'stuck') return stuck(em, sobre.cfeId, answer.reason, answer.explanation);
  if (!answer.reached && sobre.undecidedSince !== null) await countUndecided(deps, sobre.id, null);
  if (answer.reached && (await undecidedForTooLong(deps, sobre)))
    return stuck(em, sobre.cfeId, 'undecided', UNDECIDED);
  throw unreachable(activityInfo().attempt, answer.what);
}

async function stuck(em: EntityManager, cfeId: string, reason: string, explanation: string): Promise<Stuck> {
  await em.nativeUpdate(Cfe, { id: cfeId }, { stuckReason: reason });
  return { stuck: reason, explanation };
}
