import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { outcomeOfRequest, recordAudit } from '../db/audit.ts';
import { Cfe, type RejectionReason } from '../db/entities/Cfe.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import type { SobreTicket } from '../dgi/client.ts';
import type { Unsettled } from '../dgi/outcomes.ts';
import { type FinalStatus, isFinal } from '../domain/cfeStatus.ts';
import type { SupportAnswer, SupportOutcome, SupportRequest } from '../domain/supportAction.ts';
import { failpoint } from '../failpoints.ts';
import type { Authority } from './authority.ts';
import { whileBeating } from './heartbeat.ts';
import { type SettleDeps, settleLocked, tellSettled, type Verdict } from './settleCfe.ts';
import { storeReceived } from './storeReceived.ts';

export interface SupportDeps extends SettleDeps {
  authority: Authority;
}

/** A support update that the workflow of a stuck CFE accepted. */
export interface SupportAct extends SupportRequest {
  cfeId: string;
  /** Of the update: what it asks for is done, and audited, once. */
  requestId: string;
}

/** Activities that do what support asks for. */
export const createSupportActivities = (deps: SupportDeps) => ({
  /**
   * Does what support asks of a stuck CFE and writes into the audit who asked, why, and what came of it, in one
   * transaction. Unless it is refused the stuck step is to be taken again: it finds what was stored here.
   */
  supportCfe: (act: SupportAct): Promise<SupportAnswer> => whileBeating(() => support(deps, act)),
});

export type SupportActivities = ReturnType<typeof createSupportActivities>;

/**
 * A sobre that the authority does not find may still be on its way into its records: so long after the last send it
 * counts as not there (docs/decisions/0017). Far longer than a send may take to leave (beginSend.ts) and be answered.
 */
const LIST_MAY_LAG_MILLISECONDS = 600_000;
/** Stuck for these reasons, the number may be there from a sobre that is not ours. */
const NUMBER_OF_OTHERS = ['duplicate.not_ours', 'verdict.other_cfe'];
/** Stuck for these reasons, the last send was answered, and nothing of it was kept. */
const REFUSED_AT_THE_LAST_SEND = ['sobre.unknown_refusal', 'sobre.refused_without_reasons'];

const GIVEN_UP: RejectionReason = {
  code: 'abandoned',
  message: 'Given up by support: the tax authority does not have this CFE. Its number is to be annulled.',
  detail: null,
};
const GIVEN_UP_TO_OTHERS: readonly RejectionReason[] = [
  {
    code: 'abandoned',
    message: 'Given up by support: the tax authority has its number from another system of the company.',
    detail: null,
  },
  { code: 'duplicate.not_ours', message: 'The number must not be annulled.', detail: null },
];

/** What the authority has of a CFE, as far as it can be asked. */
type Known =
  /** By our own records, and the authority does not say otherwise. */
  | { kind: 'neverSent' }
  | ({ kind: 'received' } & SobreTicket)
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  | { kind: 'undecided' }
  /** The number is there, from a sobre that is not ours. */
  | { kind: 'others' }
  /** It refused the sobre, and does not have the number. */
  | { kind: 'refused' }
  /** It has neither the sobre nor the number. */
  | { kind: 'absent' }
  | Unsettled;

interface Done {
  answer: SupportAnswer;
  verdict?: Verdict | null;
}

async function support(deps: SupportDeps, act: SupportAct): Promise<SupportAnswer> {
  if (act.action === 'retry') return record(deps, act, async () => retried);
  const em = deps.orm.em.fork();
  const cfe = await em.findOneOrFail(Cfe, { id: act.cfeId });
  const sobres = await sobresOf(em, act.cfeId);
  const askedAt = deps.clock();
  const known = await whatItHas(deps.authority, cfe, sobres);
  return record(deps, act, async (open, locked, now) => {
    if (isFinal(locked.status)) return settledAlready(locked.status);
    const present = await sobresOf(open, act.cfeId);
    if (act.action === 'settle') return settle(open, locked, { known, present, now });
    // Whatever moved it on meanwhile, an attempt that was thought lost perhaps, may have brought it there.
    if (stateOf(present) !== stateOf(sobres))
      return refused('It moved on while the authority was asked: ask again.');
    const obstacle = whyItMayBeThere(known, { locked, sobres, askedAt });
    return obstacle === null ? abandon(open, locked, { known, now }) : refused(obstacle);
  });
}

/** Runs `work` with the CFE locked, and writes the audit with it; a request that was done before is not done again. */
async function record(
  deps: SupportDeps,
  { cfeId, requestId, action, by, reason }: SupportAct,
  work: (em: EntityManager, locked: Cfe, now: Date) => Promise<Done>,
): Promise<SupportAnswer> {
  const { answer, verdict = null } = await deps.orm.em.fork().transactional(async (em): Promise<Done> => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const before = await outcomeOfRequest(em, requestId);
    if (before) return { answer: { outcome: before, message: TOLD_LATE } };
    const now = deps.clock();
    const done = await work(em, cfe, now);
    const { outcome } = done.answer;
    if (outcome !== 'refused') cfe.stuckReason = null;
    const { rut } = cfe;
    recordAudit(
      em,
      { actor: `support:${by}`, action: `cfe.${action}`, subject: cfeId, rut, reason, outcome, requestId },
      now,
    );
    failpoint('support.written');
    return done;
  });
  failpoint('support.stored');
  tellSettled(deps, verdict);
  return answer;
}

const UNKNOWN_SOBRE =
  'The authority has it, by a sobre that is not known here: was the database restored? See docs/backup.md; then retry.';
const TOLD_LATE =
  'The worker that did this was lost before it could tell more; `cfe show` says where the CFE stands.';
const outcome = (what: SupportOutcome, message: string): Done => ({ answer: { outcome: what, message } });
const refused = (message: string): Done => outcome('refused', message);
const retried = outcome('retried', 'The step that was stuck is tried again now, with what is there now.');
const settledAlready = (status: FinalStatus): Done => outcome('settled', `It has its verdict: ${status}.`);

/** All sobres that were made for the CFE, the last one first. */
const sobresOf = (em: EntityManager, cfeId: string): Promise<Sobre[]> =>
  em.find(Sobre, { cfeId }, { orderBy: { createdAt: 'desc', id: 'desc' } });

/** What a send, or its answer, would change. */
const stateOf = (sobres: readonly Sobre[]): string =>
  JSON.stringify(sobres.map(({ id, state, sendingAt }) => [id, state, sendingAt]));

/** Asks the authority about a CFE by every way there is; sends nothing. */
async function whatItHas(authority: Authority, cfe: Cfe, sobres: readonly Sobre[]): Promise<Known> {
  if (sobres.every(({ sendingAt }) => sendingAt === null)) {
    // Another system of the company may have used the number, or we ourselves, before our database was restored.
    const receipt = await authority.findReceipt(cfe);
    return receipt.kind === 'received' || receipt.kind === 'others' ? receipt : { kind: 'neverSent' };
  }
  const underWay = sobres.find(({ state }) => state === 'SENDING' || state === 'RECEIVED');
  if (underWay?.state === 'RECEIVED') return verdictOn(authority, cfe, underWay);
  const listed = underWay ? await authority.findSobre(cfe, underWay) : ({ kind: 'refused' } as const);
  if (listed.kind !== 'refused' && listed.kind !== 'absent') return listed;
  const receipt = await authority.findReceipt(cfe);
  return receipt.kind === 'absent' ? { kind: listed.kind } : receipt;
}

/** The authority signed for the sobre: it counts as there, whatever a list may say. */
async function verdictOn(authority: Authority, cfe: Cfe, sobre: Sobre): Promise<Known> {
  const answer = await authority.askVerdict(cfe, sobre);
  switch (answer.kind) {
    case 'original':
      return { ...answer, kind: 'received', askFrom: null };
    case 'notYet':
      return { kind: 'undecided' };
    case 'recover': {
      const found = await authority.findSobre(cfe, sobre);
      return found.kind === 'absent' || found.kind === 'refused'
        ? { kind: 'repeat', what: 'it signed for the sobre and does not find it now', reached: true }
        : found;
    }
    case 'stuck': {
      if (!NUMBER_OF_OTHERS.includes(answer.reason)) return answer;
      const receipt = await authority.findReceipt(cfe);
      const isSame = receipt.kind === 'received' && receipt.idReceptor === sobre.idReceptor;
      // Our sobre was taken for an older one of its number, from before the database was restored.
      if (isSame && answer.reason === 'verdict.other_cfe') return { kind: 'others' };
      // The very sobre that was asked about says no more than it said.
      return receipt.kind === 'absent' || isSame ? answer : receipt;
    }
    case 'verdict':
    case 'repeat':
      return answer;
  }
}

/** Stores what the authority has, so that the CFE goes on from there; what it does not have is told. */
async function settle(
  em: EntityManager,
  cfe: Cfe,
  { known, present, now }: { known: Known; present: readonly Sobre[]; now: Date },
): Promise<Done> {
  const underWay = present.find(({ state }) => state !== 'REFUSED');
  switch (known.kind) {
    case 'verdict': {
      const verdict = await settleLocked(em, cfe, known, now);
      return { ...outcome('settled', `The authority has decided: ${known.status}.`), verdict };
    }
    case 'received':
      if (!underWay) return refused(UNKNOWN_SOBRE);
      await storeReceived(em, cfe, underWay, known, now);
      return outcome('settled', 'The authority has it; it is asked for its verdict now.');
    case 'undecided':
      return outcome('settled', 'The authority has it and has not decided; it is asked again by itself.');
    case 'neverSent':
    case 'others':
    case 'refused':
    case 'absent':
    case 'repeat':
    case 'stuck':
      return refused(wordsOn(known));
  }
}

async function abandon(
  em: EntityManager,
  cfe: Cfe,
  { known, now }: { known: Known; now: Date },
): Promise<Done> {
  const isOfOthers = known.kind === 'others';
  const reasons = isOfOthers ? GIVEN_UP_TO_OTHERS : [GIVEN_UP];
  const verdict = await settleLocked(em, cfe, { status: 'REJECTED', reasons }, now);
  const after = isOfOthers
    ? 'must not be annulled: it is another system’s'
    : 'is to be annulled at the authority';
  return { ...outcome('abandoned', `The CFE is given up and ends REJECTED. Its number ${after}.`), verdict };
}

/** Why the CFE may not be abandoned; null while the authority surely does not have it (docs/decisions/0017). */
function whyItMayBeThere(
  known: Known,
  { locked, sobres, askedAt }: { locked: Cfe; sobres: readonly Sobre[]; askedAt: Date },
): string | null {
  switch (known.kind) {
    case 'neverSent':
    case 'others':
      return null;
    case 'refused':
      if (REFUSED_AT_THE_LAST_SEND.includes(locked.stuckReason ?? '')) return null;
      return mayLag(sobres, askedAt);
    case 'absent':
      return mayLag(sobres, askedAt);
    case 'received':
    case 'verdict':
    case 'undecided':
      return 'The authority has it, so that it cannot be abandoned: settle by asking.';
    case 'repeat':
    case 'stuck':
      return wordsOn(known);
  }
}

function mayLag(sobres: readonly Sobre[], askedAt: Date): string | null {
  const lastSent = Math.max(...sobres.map(({ sendingAt }) => sendingAt?.getTime() ?? 0));
  const from = lastSent + LIST_MAY_LAG_MILLISECONDS;
  if (askedAt.getTime() >= from) return null;
  return `The authority does not find it, but was sent it a moment ago and may find it yet: ask again from ${new Date(from).toISOString()} on.`;
}

function wordsOn(known: Exclude<Known, { kind: 'received' | 'verdict' | 'undecided' }>): string {
  switch (known.kind) {
    case 'neverSent':
      return 'It was never sent, so that there is nothing to ask about: retry, or abandon it.';
    case 'others':
      return 'The authority has its number from a sobre that is not ours. Find out who used it; then abandon the CFE and issue it anew.';
    case 'refused':
      return 'The authority refused the sobre and does not have the number: retry, or abandon it.';
    case 'absent':
      return 'The authority has neither the sobre nor the number: retry, or abandon it.';
    case 'repeat':
      return `The authority gave no answer to go by (${known.what}); nothing was changed. Ask again later.`;
    case 'stuck':
      return known.explanation;
  }
}
