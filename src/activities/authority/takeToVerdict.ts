/** Takes a sobre from its CFEs to their verdicts: the only file that sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '@temporalio/activity';
import {
  type CfeInSobre,
  endSobre,
  type LoadedSobre,
  loadSobre,
  markSending,
  storeOwnTicket,
} from '../../db/authority/sobres.ts';
import { Sobre } from '../../db/entities/authority.ts';
import { markStuck } from '../../db/receipts/cfes.ts';
import type { VerdictOutcome } from '../../dgi/cfeAnswers.ts';
import type { FateUnknown, SobreTicket } from '../../dgi/client.ts';
import { classifyUnclear, explainStuck, outcomeOf, type Unclear } from '../../dgi/outcomes.ts';
import type { StuckCfes, VerdictResult } from '../../domain/authority/activityResults.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import { needsSupport } from '../../domain/operations/cfeProgress.ts';
import { isFinal } from '../../domain/receipts/cfeStatus.ts';
import { type RejectionReason, rejectionCodes } from '../../domain/receipts/rejection.ts';
import { failpoint } from '../../failpoints.ts';
import type { Gate, Permit } from '../../gate/gate.ts';
import type { Activity } from '../activities.ts';
import {
  authorityUnreachable,
  isBug,
  keepReservedQuestion,
  notYet,
  pollPause,
  probeAgainIn,
  recordStepCalls,
  showPhase,
  takeReservedQuestion,
  withHeartbeat,
} from './attempt.ts';
import type { Authority, PlacedCfe, WrittenSobre } from './authority.ts';
import { prepareSobre, type WriteDeps } from './prepareSobre.ts';
import { afterMoves, storeMoves, writeMoves } from './storeMoves.ts';

export interface TakeDeps extends WriteDeps {
  authority: Authority;
  /** The rate limiter of sends and questions. */
  gate: Gate;
  /** Longest pause between two questions for a verdict, in seconds. */
  pollLongestSeconds: number;
  /** How long a reachable authority may be undecided before support is asked, in seconds. */
  patienceSeconds: number;
}

/**
 * Pauses up to this length, such as the pause after the first "not yet", pass within the attempt: a repeated attempt costs
 * the Temporal server more than a question costs us.
 */
const SHORT_MILLISECONDS = 2_000;

/** A sobre received more recently is not counted as undecided. */
const JUST_MILLISECONDS = 3_000;

const NUMBER_TAKEN: RejectionReason = {
  code: 'S08',
  message:
    'At its first send the authority had a sobre of this number already: from another system of the company, or from before the database was restored.',
  detail: null,
};

/**
 * Takes a sobre from its present state to the verdicts: signs and writes it once, sends it in its slot, after an unclear send
 * asks before sending the same bytes again, and asks until each CFE has a verdict. Ends while the sobre waits for a slot.
 */
export function createTakeToVerdict(deps: TakeDeps): Activity<'takeToVerdict'> {
  return (sobreId, reported) =>
    withHeartbeat(() =>
      recordStepCalls(deps, sobreId, () => releaseSlotOnBug({ ...deps, reported }, sobreId)),
    );
}

/** `reported`: the CFEs that the run already shows as waiting for support. */
type Taking = TakeDeps & { readonly reported: readonly string[] | undefined };

/**
 * Releases the slot after a bug, which fails every attempt: the sobre must not keep its slot from others, nor the role of the
 * prober, without which a recovery of the authority is not noticed.
 */
async function releaseSlotOnBug(deps: Taking, sobreId: string): Promise<VerdictResult> {
  try {
    return await takeSteps(deps, sobreId);
  } catch (error) {
    if (isBug(error))
      await deps.gate
        .giveUp(sobreId)
        .catch((failure: unknown) => log.warn('a slot could not be released', { error: failure }));
    throw error;
  }
}

/** The result of a step: the sobre for the next step, `reload` to read the sobre again, or the end of the activity. */
type Next = LoadedSobre | 'reload' | VerdictResult;

const isLoadedSobre = (next: Exclude<Next, string>): next is LoadedSobre => 'sobre' in next;

async function takeSteps(deps: Taking, sobreId: string): Promise<VerdictResult> {
  let next: Next = 'reload';
  for (;;) {
    const loaded: LoadedSobre = next === 'reload' ? await loadSobre(deps.orm.em.fork(), sobreId) : next;
    next = await takeStep(deps, loaded);
    if (next === 'reload' || isLoadedSobre(next)) continue;
    // A sobre that waits for support probes nothing: another becomes the prober.
    if (next.kind === 'stuck' && loaded.isProber)
      await deps.gate.leave(loaded.sobre, { dueAt: 0, isProbe: true });
    return next;
  }
}

/** Returns the CFEs in the sobre without a verdict. */
const findOpenCfes = ({ cfes }: LoadedSobre): CfeInSobre[] =>
  cfes.filter(({ isIn, status }) => isIn && !isFinal(status));

async function takeStep(deps: Taking, loaded: LoadedSobre): Promise<Next> {
  const open = findOpenCfes(loaded);
  if (open.length === 0) return finish(deps, loaded);
  switch (loaded.sobre.state) {
    case 'OPEN':
    case 'PREPARED':
    case 'SENDING': {
      // Support acts on the whole sobre: once one of its CFEs continues, all do.
      if (open.every(({ stuckReason }) => needsSupport(stuckReason))) return reportStuck(loaded, open);
      const stuck = open.filter(({ stuckReason }) => needsSupport(stuckReason));
      if (stuck.length > 0) {
        await markStuck(deps.orm.em.fork(), idsOf(stuck), null);
        return 'reload';
      }
      return loaded.sobre.state === 'OPEN' ? prepare(deps, loaded) : send(deps, loaded);
    }
    case 'RECEIVED':
      return askVerdicts(deps, loaded);
    case 'REFUSED':
    case 'DISSOLVED':
      return toEnding(loaded);
  }
}

const idsOf = (cfes: readonly CfeInSobre[]): string[] => cfes.map(({ id }) => id);
const cfeIdsOf = (cfes: readonly CfeInSobre[]): string[] => cfes.map(({ cfeId }) => cfeId);

/** Ends a sobre without open CFEs, so that it takes no slot from others and is no prober. */
async function finish(deps: TakeDeps, loaded: LoadedSobre): Promise<VerdictResult> {
  const { sobre } = loaded;
  if (loaded.isProber) await deps.gate.leave(sobre, { dueAt: 0, isProbe: true });
  if (sobre.state === 'OPEN' || sobre.state === 'PREPARED') {
    const ending = { state: 'DISSOLVED', now: deps.clock() } as const;
    await deps.orm.em.fork().transactional((em) => endSobre(em, sobre, ending));
  }
  return toEnding(loaded);
}

function toEnding({ cfes }: LoadedSobre): VerdictResult {
  const endings = cfes.map(({ cfeId, status }) => [cfeId, isFinal(status) ? status : 'LEFT'] as const);
  const rejected = cfes.flatMap(({ status, rejection }) =>
    status === 'REJECTED' ? rejectionCodes(rejection ?? []) : [],
  );
  return { kind: 'ended', endings: Object.fromEntries(endings), codes: [...new Set(rejected)] };
}

type StuckStep = Extract<VerdictResult, { kind: 'stuck' }>['step'];

/** Marks all open CFEs of the sobre that do not wait for support yet; the rows store the reason. */
async function escalate(
  deps: TakeDeps,
  { sobre }: LoadedSobre,
  open: readonly CfeInSobre[],
  { step, reason, explanation }: { step: StuckStep; reason: StuckReason; explanation: string },
): Promise<VerdictResult> {
  const left = open.filter(({ stuckReason }) => !needsSupport(stuckReason));
  await markStuckCfes(deps, sobre, left, reason);
  const stuck = [{ reason, explanation, cfeIds: cfeIdsOf(left) }, ...findStuckCfes(open)];
  return { kind: 'stuck', step, stuck, goesOn: false };
}

/**
 * Stores in the rows of CFEs why they need support. If another attempt has moved some on, the next attempt reads the
 * sobre again: a run must not wait for support that its rows do not ask for.
 */
async function markStuckCfes(
  { orm }: TakeDeps,
  sobre: Sobre,
  cfes: readonly CfeInSobre[],
  reason: StuckReason,
): Promise<void> {
  if ((await markStuck(orm.em.fork(), idsOf(cfes), reason, expectedState(sobre))) < cfes.length)
    throw notYet('Another attempt has moved it on meanwhile; it is read again.', 1_000);
}

/** Returns the state that the CFEs must still have: an attempt that was thought lost may report an old one. */
const expectedState = ({ id, state }: Sobre): { sobreId: string; status: 'PENDING' | 'RECEIVED' } => ({
  sobreId: id,
  status: state === 'RECEIVED' ? 'RECEIVED' : 'PENDING',
});

/** Returns the CFEs that wait for support already. */
const findStuckCfes = (open: readonly CfeInSobre[]): StuckCfes[] =>
  groupByReason(open.filter(({ stuckReason }) => needsSupport(stuckReason)));

/** Reports CFEs that waited for support before this attempt, which may be the first of a restarted run. */
function reportStuck({ sobre }: LoadedSobre, cfes: readonly CfeInSobre[]): VerdictResult {
  const step = sobre.state === 'OPEN' ? 'sign' : sobre.state === 'RECEIVED' ? 'ask' : 'send';
  return { kind: 'stuck', step, stuck: groupByReason(cfes), goesOn: false };
}

function groupByReason(cfes: readonly CfeInSobre[]): StuckCfes[] {
  return [...Map.groupBy(cfes, ({ stuckReason }) => stuckReason)].flatMap(([reason, each]) =>
    reason === null ? [] : [{ ...explainStuck(reason), cfeIds: cfeIdsOf(each) }],
  );
}

// Writing.

async function prepare(deps: TakeDeps, loaded: LoadedSobre): Promise<Next> {
  showPhase('signing');
  const startedAt = performance.now();
  const written = await prepareSobre(deps, loaded);
  if (written.kind === 'changed') return 'reload';
  const slotIn = loaded.slotIn === null ? null : loaded.slotIn - (performance.now() - startedAt);
  if (written.kind === 'written') return { ...loaded, slotIn };
  const { explanation } = written;
  return escalate(deps, loaded, findOpenCfes(loaded), { step: 'sign', reason: 'signing', explanation });
}

// Sending.

/** A sobre that the rate limiter let through. */
interface Sending {
  readonly loaded: LoadedSobre;
  readonly written: WrittenSobre & { readonly xml: string };
  readonly permit: Permit;
}

async function send(deps: TakeDeps, loaded: LoadedSobre): Promise<Next> {
  const { sobre, current, cfes } = loaded;
  const [first] = cfes;
  const { idemisor, xml } = sobre;
  showPhase('sending');
  if (!first || idemisor === null || xml === null) throw new Error(`sobre ${sobre.id} has no bytes to send`);
  const permit = await deps.gate.enter(loaded);
  failpoint('gate.entered');
  if (permit === 'waits') return { kind: 'waits' };
  if ('probeIn' in permit) throw probeAgainIn(permit.probeIn);
  const { environment, createdAt, sendingAt } = sobre;
  const written = { environment, createdAt, sendingAt, idemisor, xml };
  const sending: Sending = { loaded, written, permit };
  if (sobre.state === 'PREPARED') return sendNow(deps, sending, { listedAsRefused: false });
  // The result of an earlier send is unknown: the same bytes are sent again only if the authority has no sobre.
  const found = await deps.authority.findSobre(first, written, current);
  failpoint('send.found');
  switch (found.kind) {
    case 'received':
      return storeReceived(deps, sending, found);
    case 'absent':
      return sendNow(deps, sending, { listedAsRefused: false });
    case 'refused':
      // The list has no reasons: sending the same bytes again returns the reasons, or that they are a duplicate.
      return sendNow(deps, sending, { listedAsRefused: true });
    case 'repeat':
    case 'stuck':
      return handleUnclearSend(deps, sending, found);
  }
}

/** Sends in the slot. Stores the intent first, if the sobre still has the state that was read. */
async function sendNow(
  deps: TakeDeps,
  sending: Sending,
  { listedAsRefused }: { listedAsRefused: boolean },
): Promise<Next> {
  const { loaded, written, permit } = sending;
  const { sobre, current } = loaded;
  const sendingAt = deps.clock();
  if (!(await markSending(deps.orm.em.fork(), sobre, sendingAt))) {
    await deps.gate.leave(sobre, permit);
    const now = await loadSobre(deps.orm.em.fork(), sobre.id);
    if (now.sobre.state === 'SENDING') throw notYet('Another attempt is sending this sobre.', 1_000);
    return now;
  }
  failpoint('send.marked');
  // Signed before the slot, to send without delay.
  const signed = await deps.authority.signSobre(written, current);
  if (signed.kind !== 'signed') return handleUnclearSend(deps, sending, signed);
  if (!(await deps.gate.untilSlot(sobre, permit))) {
    await deps.gate.wait(sobre);
    return { kind: 'waits' };
  }
  const leaveBy = new Date(sendingAt.getTime() + DEADLINES.sendLeaves);
  const answer = await deps.authority.sendSobre(signed, { leaveBy, isProbe: permit.isProbe });
  failpoint('send.answered');
  switch (answer.kind) {
    case 'received':
      return storeReceived(deps, sending, answer);
    case 'refused':
      return storeRefused(deps, sending, answer.reasons);
    case 'duplicate':
      return handleDuplicate(deps, sending, { sendingAt, listedAsRefused });
    case 'fateUnknown': // the sobre stays SENDING, so that the next attempt asks first
    case 'repeat':
    case 'stuck':
      return handleUnclearSend(deps, sending, answer);
  }
}

/** Stores that the authority has the sobre, with its ticket. */
async function storeReceived(
  deps: TakeDeps,
  { loaded, permit }: Sending,
  ticket: SobreTicket,
): Promise<Next> {
  const { sobre } = loaded;
  const { idReceptor, token, askFrom } = ticket;
  const moves = findOpenCfes(loaded).map((cfe) => ({ cfe, to: 'RECEIVED' as const, reasons: [] }));
  const moved = await storeMoves(deps, moves, {
    sobreId: sobre.id,
    received: { idReceptor, token, askFrom },
  });
  await deps.gate.leave(sobre, permit);
  if (moved.length < moves.length) return 'reload';
  Object.assign(sobre, { state: 'RECEIVED', idReceptor, token, askFrom, receivedAt: deps.clock() });
  return {
    ...loaded,
    cfes: loaded.cfes.map((cfe) => (cfe.isIn ? { ...cfe, status: 'RECEIVED', stuckReason: null } : cfe)),
  };
}

/** Stores a refusal: the reasons are those of a single CFE; several CFEs get a sobre each, to find the one at fault. */
async function storeRefused(
  deps: TakeDeps,
  { loaded, permit }: Sending,
  reasons: readonly RejectionReason[],
): Promise<Next> {
  const { sobre, cfes } = loaded;
  const now = deps.clock();
  const expected = { id: sobre.id, state: 'SENDING' } as const;
  const isAlone = cfes.length === 1;
  const stored = await deps.orm.em.fork().transactional(async (em) => {
    const written = isAlone
      ? await writeMoves(
          deps,
          em,
          findOpenCfes(loaded).map((cfe) => ({ cfe, to: 'REJECTED', reasons })),
          { sobreId: sobre.id },
        )
      : null;
    await endSobre(em, expected, { state: 'REFUSED', refusal: reasons, apart: !isAlone, now });
    return written;
  });
  failpoint('moves.stored');
  if (stored) afterMoves(deps, stored);
  await deps.gate.leave(sobre, permit);
  deps.gatekeeper.scheduleLook();
  return 'reload';
}

/** Handles a duplicate: the reaction depends on which of our sends the authority answers. */
async function handleDuplicate(
  deps: TakeDeps,
  { loaded, permit }: Sending,
  { sendingAt, listedAsRefused }: { sendingAt: Date; listedAsRefused: boolean },
): Promise<Next> {
  const { sobre } = loaded;
  const sent = sobre.state === 'PREPARED' ? 'at the first send' : 'at a later send';
  const answer = listedAsRefused ? 'though listed as refused' : sent;
  const { reaction } = outcomeOf('duplicate', answer);
  await deps.gate.leave(sobre, permit);
  if (reaction === 'stuck') return escalateSend(deps, loaded, classifyUnclear('duplicate', answer));
  // The number belongs to another sobre, unless another attempt has sent this one meanwhile: the CFEs get new sobres.
  if (reaction === 'renumber') {
    const ending = { state: 'REFUSED', refusal: [NUMBER_TAKEN], now: deps.clock() } as const;
    const isOver = await deps.orm.em
      .fork()
      .transactional((em) => endSobre(em, { id: sobre.id, state: 'SENDING', sendingAt }, ending));
    deps.gatekeeper.scheduleLook();
    if (isOver) return 'reload';
  }
  if (await isUndecidedTooLong(deps, sobre))
    return escalateSend(deps, loaded, classifyUnclear('ask', 'undecided'));
  throw notYet(
    'The authority has this sobre already; it is asked for its receipt.',
    pauseBeforeQuestion(deps, sobre),
  );
}

/**
 * Handles a send, or the query before it, without a clear answer. While the authority is unavailable the sobre waits for a
 * slot, or retries as the prober, and does not count as undecided.
 */
async function handleUnclearSend(
  deps: TakeDeps,
  { loaded, permit }: Sending,
  answer: Unclear | FateUnknown,
): Promise<VerdictResult> {
  const { sobre } = loaded;
  const next = answer.kind === 'stuck' ? 'tryAgain' : await deps.gate.afterFailure(sobre);
  failpoint('gate.failed');
  if (next === 'tryAgain') {
    await deps.gate.leave(sobre, permit);
    return retryOrEscalate(deps, loaded, 'send', answer);
  }
  if (sobre.undecidedSince !== null) await setUndecidedSince(deps, sobre, null);
  if (next === 'waits') return { kind: 'waits' };
  throw probeAgainIn(next.probeIn);
}

const escalateSend = (deps: TakeDeps, loaded: LoadedSobre, answer: Unclear): Promise<VerdictResult> =>
  escalateAll(deps, loaded, 'send', answer);

/** Escalates all open CFEs of a sobre. Throws RangeError for an answer that is retried automatically. */
function escalateAll(
  deps: TakeDeps,
  loaded: LoadedSobre,
  step: StuckStep,
  answer: Unclear,
): Promise<VerdictResult> {
  if (answer.kind !== 'stuck') throw new RangeError(`${answer.description} is retried automatically`);
  return escalate(deps, loaded, findOpenCfes(loaded), { step, ...answer });
}

/** Retries an unclear answer, by throwing, or escalates it after our patience. */
async function retryOrEscalate(
  deps: TakeDeps,
  loaded: LoadedSobre,
  step: StuckStep,
  answer: Unclear | FateUnknown,
): Promise<VerdictResult> {
  const { sobre } = loaded;
  if (answer.kind === 'stuck') return escalateAll(deps, loaded, step, answer);
  if (answer.kind === 'repeat' && !answer.reached) {
    if (sobre.undecidedSince !== null) await setUndecidedSince(deps, sobre, null);
    throw authorityUnreachable(answer.description);
  }
  if (await isUndecidedTooLong(deps, sobre))
    return escalateAll(deps, loaded, step, classifyUnclear('ask', 'undecided'));
  const detail =
    answer.kind === 'fateUnknown'
      ? `${answer.description}; it is asked before it is sent again`
      : answer.description;
  throw authorityUnreachable(detail);
}

/**
 * Returns whether the authority answers without a result for longer than our patience. An outage and
 * support's retry restart the count.
 */
async function isUndecidedTooLong(deps: TakeDeps, sobre: Sobre): Promise<boolean> {
  const now = deps.clock();
  const since = sobre.undecidedSince ?? now;
  const tooLong = now.getTime() - since.getTime() > deps.patienceSeconds * 1_000;
  if (tooLong || sobre.undecidedSince === null) await setUndecidedSince(deps, sobre, tooLong ? null : since);
  return tooLong;
}

/** Stores since when the authority answers without a result; null restarts the count. */
async function setUndecidedSince(
  { orm }: TakeDeps,
  sobre: Sobre,
  undecidedSince: Date | null,
): Promise<void> {
  sobre.undecidedSince = undecidedSince;
  await orm.em.fork().nativeUpdate(Sobre, { id: sobre.id }, { undecidedSince });
}

// Asking.

/** Asks for the verdicts of a received sobre; throws "not yet" until each of its CFEs has one or is stuck. */
async function askVerdicts(deps: Taking, loaded: LoadedSobre): Promise<Next> {
  const open = findOpenCfes(loaded);
  const askedCfes = open.filter(({ stuckReason }) => !needsSupport(stuckReason));
  if (askedCfes.length === 0) return reportStuck(loaded, open);
  // A run does not know them after a restart or a crash of its worker; the other CFEs continue.
  const unreported = open.filter(
    (cfe) => !askedCfes.includes(cfe) && deps.reported?.includes(cfe.cfeId) === false,
  );
  if (unreported.length > 0)
    return { kind: 'stuck', step: 'ask', stuck: groupByReason(unreported), goesOn: true };
  const { sobre } = loaded;
  showPhase('asking');
  await waitUntilAskable(deps, sobre);
  const later = await deps.gate.untilQuestion(sobre.environment, takeReservedQuestion());
  if (later) {
    keepReservedQuestion(later.reserved);
    throw notYet('Others are asked about first.', later.milliseconds);
  }

  let pauseCode = '';
  const answers = new Map<CfeInSobre, VerdictOutcome>();
  for (const { isOwn, ticket, cfes } of groupQuestions(loaded, askedCfes)) {
    const answer = await deps.authority.askVerdicts(cfes.map(withPosition), ticket, loaded.current);
    failpoint('ask.answered');
    switch (answer.kind) {
      case 'answered':
        for (const [index, cfe] of cfes.entries()) {
          const outcome = answer.outcomes[index];
          if (outcome) answers.set(cfe, outcome);
        }
        break;
      case 'notYet':
        pauseCode = answer.code;
        break;
      case 'recover':
        if (isOwn) return recoverTicket(deps, loaded);
        for (const cfe of cfes) answers.set(cfe, { kind: 'notYet', code: 'code 104' });
        break;
      case 'repeat':
      case 'stuck':
        if (isOwn) return retryOrEscalate(deps, loaded, 'ask', answer);
        // The answer for an earlier sobre concerns its CFE alone and delays no other.
        for (const cfe of cfes) answers.set(cfe, answer);
        break;
    }
  }
  return storeAnswers(deps, loaded, askedCfes, { answers, pauseCode });
}

/** Groups the CFEs by ticket: the sobre's own, or the ticket of an earlier sobre of ours. */
function groupQuestions({ sobre }: LoadedSobre, askedCfes: readonly CfeInSobre[]) {
  const ownCfes = askedCfes.filter(({ ticket }) => ticket === null);
  const earlier = [...Map.groupBy(askedCfes, ({ ticket }) => ticket?.idReceptor).values()].flatMap((cfes) => {
    const ticket = cfes[0]?.ticket;
    return ticket ? [{ isOwn: false, ticket, cfes }] : [];
  });
  const { idReceptor, token } = sobre;
  return ownCfes.length > 0
    ? [{ isOwn: true, ticket: { idReceptor, token }, cfes: ownCfes }, ...earlier]
    : earlier;
}

/** Returns a CFE with its position, which is valid only in the sobre's own ticket. */
const withPosition = (cfe: CfeInSobre): PlacedCfe => (cfe.ticket === null ? cfe : { ...cfe, place: null });

/** Stores the answer for each CFE. */
async function storeAnswers(
  deps: TakeDeps,
  loaded: LoadedSobre,
  askedCfes: readonly CfeInSobre[],
  { answers, pauseCode }: { answers: ReadonlyMap<CfeInSobre, VerdictOutcome>; pauseCode: string },
): Promise<Next> {
  const { sobre } = loaded;
  const moves = [...answers].flatMap(([cfe, outcome]) =>
    outcome.kind === 'verdict' ? [{ cfe, to: outcome.status, reasons: outcome.reasons }] : [],
  );
  if (moves.length > 0) {
    const moved = await storeMoves(deps, moves, { sobreId: sobre.id });
    if (moved.length < moves.length) return 'reload';
  }
  const stuck: StuckCfes[] = [];
  let lastAnswer = pauseCode;
  for (const [cfe, outcome] of answers) {
    if (outcome.kind === 'stuck') {
      const { reason, explanation } = outcome;
      await markStuckCfes(deps, sobre, [cfe], reason);
      stuck.push({ reason, explanation, cfeIds: [cfe.cfeId] });
    } else if (outcome.kind === 'original') {
      await storeOwnTicket(deps.orm.em.fork(), { sobreId: sobre.id, cfeUuid: cfe.id }, outcome);
    }
    if (outcome.kind === 'notYet') lastAnswer ||= outcome.code;
    if (outcome.kind === 'repeat') lastAnswer ||= outcome.description;
  }
  const decided = new Map(moves.map(({ cfe, to, reasons }) => [cfe.id, { status: to, rejection: reasons }]));
  const now = { ...loaded, cfes: loaded.cfes.map((cfe) => ({ ...cfe, ...decided.get(cfe.id) })) };
  const left = askedCfes.filter((cfe) => !decided.has(cfe.id) && answers.get(cfe)?.kind !== 'stuck');
  if (left.length === 0 && stuck.length === 0) {
    // Other CFEs of the sobre may wait for support already.
    return findOpenCfes(now).length === 0 ? toEnding(now) : reportStuck(now, findOpenCfes(now));
  }
  if (stuck.length > 0) {
    const goesOn = left.length > 0;
    return { kind: 'stuck', step: 'ask', stuck: [...stuck, ...findStuckCfes(findOpenCfes(now))], goesOn };
  }
  const unreached = left.flatMap((cfe) => answers.get(cfe) ?? []).find(isUnreachable);
  if (unreached) return retryOrEscalate(deps, now, 'ask', unreached);
  if (left.some((cfe) => answers.get(cfe)?.kind === 'original'))
    throw notYet('An earlier sobre of ours has the verdict; that one is asked about.', 1);
  if (!wasJustReceived(deps, sobre) && (await isUndecidedTooLong(deps, sobre)))
    return escalate(deps, now, findOpenCfes(now), { step: 'ask', ...explainStuck('undecided') });
  const pause = pauseBeforeQuestion(deps, sobre);
  if (pause > SHORT_MILLISECONDS)
    throw notYet(describeWait(deps, sobre, { left: left.length, lastAnswer }), pause);
  await sleep(pause);
  return now;
}

/** True for the first questions, which are mostly too early: counting each would cost a statement. */
const wasJustReceived = ({ clock }: TakeDeps, { undecidedSince, receivedAt }: Sobre): boolean =>
  undecidedSince === null &&
  receivedAt !== null &&
  clock().getTime() - receivedAt.getTime() < JUST_MILLISECONDS;

/** Returns whether a question did not reach the authority. */
const isUnreachable = (outcome: VerdictOutcome): outcome is Extract<Unclear, { kind: 'repeat' }> =>
  outcome.kind === 'repeat' && !outcome.reached;

/** Describes the wait for operators, in the pending activity. */
function describeWait(
  { clock }: TakeDeps,
  { idReceptor, receivedAt }: Sobre,
  { left, lastAnswer }: { left: number; lastAnswer: string },
): string {
  const since = receivedAt ? ` since ${receivedAt.toISOString()}` : '';
  return `The authority has the sobre${since} (IdReceptor ${idReceptor}); asked at ${clock().toISOString()}, no verdict yet on ${left} of its CFEs (${lastAnswer}).`;
}

/** Returns the pause before the next question, which grows with the time since the authority has the sobre. */
function pauseBeforeQuestion({ clock, pollLongestSeconds }: TakeDeps, sobre: Sobre): number {
  const since = Math.max(
    ...[sobre.sendingAt, sobre.receivedAt, sobre.askFrom].map((moment) => moment?.getTime() ?? 0),
  );
  return pollPause(clock().getTime() - since, pollLongestSeconds);
}

/** Waits until the authority's earliest time for questions: a short wait in this attempt, a long wait until the next. */
async function waitUntilAskable({ clock }: TakeDeps, { askFrom, idReceptor }: Sobre): Promise<void> {
  const wait = (askFrom?.getTime() ?? 0) - clock().getTime();
  if (wait > SHORT_MILLISECONDS) {
    const from = askFrom ? ` from ${askFrom.toISOString()} on` : '';
    throw notYet(
      `The authority has the sobre (IdReceptor ${idReceptor}) and may be asked${from}, as it said.`,
      wait,
    );
  }
  if (wait > 0) await sleep(wait);
}

/** Takes number and token from the authority's list, if the authority does not know the sobre by ours. */
async function recoverTicket(deps: TakeDeps, loaded: LoadedSobre): Promise<VerdictResult> {
  const { sobre, cfes, current } = loaded;
  const [first] = cfes;
  const { environment, createdAt, sendingAt, idemisor } = sobre;
  if (!first || idemisor === null) throw new Error(`sobre ${sobre.id} was received without a number`);
  const found = await deps.authority.findSobre(
    first,
    { environment, createdAt, sendingAt, idemisor },
    current,
  );
  if (found.kind === 'stuck' || found.kind === 'repeat') return retryOrEscalate(deps, loaded, 'ask', found);
  if (found.kind === 'received') {
    const { idReceptor, token } = found;
    await deps.orm.em.fork().nativeUpdate(Sobre, { id: sobre.id }, { idReceptor, token });
  }
  // The authority may refuse number and token from its list, too.
  if (await isUndecidedTooLong(deps, sobre))
    return escalateAll(deps, loaded, 'ask', classifyUnclear('ask', 'undecided'));
  const pause = pauseBeforeQuestion(deps, sobre);
  if (found.kind === 'received') throw notYet('The authority gave a new number and token.', pause);
  throw notYet('The authority does not find the sobre (104); it is asked again.', pause);
}
