/** The way of a sobre from its CFEs to their verdicts: the one file that sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '@temporalio/activity';
import { markStuck } from '../db/cfes.ts';
import { Sobre } from '../db/entities/authority.ts';
import {
  type CfeInSobre,
  endSobre,
  markSending,
  type SobreInHand,
  sobreInHand,
  storeOwnTicket,
} from '../db/sobres.ts';
import type { VerdictOutcome } from '../dgi/cfeAnswers.ts';
import type { FateUnknown, SobreTicket } from '../dgi/client.ts';
import { outcomeOf, stuckBy, type Unclear, unclear } from '../dgi/outcomes.ts';
import type { StuckCfes, VerdictResult } from '../domain/activityResults.ts';
import { isForSupport } from '../domain/cfeStanding.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import { codesOf, type RejectionReason } from '../domain/rejection.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { failpoint } from '../failpoints.ts';
import type { Gate, Permit } from '../gate/gate.ts';
import type { Activity } from './activities.ts';
import {
  authorityUnreachable,
  isBug,
  keepReservedQuestion,
  notYet,
  pollPause,
  probeAgainIn,
  recordAttempts,
  showPhase,
  takeReservedQuestion,
  withHeartbeat,
} from './steps/attempt.ts';
import type { Authority, PlacedCfe, WrittenSobre } from './steps/authority.ts';
import { prepareSobre, type WriteDeps } from './steps/prepareSobre.ts';
import { afterMoves, storeMoves, writeMoves } from './steps/storeMoves.ts';

export interface TakeDeps extends WriteDeps {
  authority: Authority;
  /** Says when a sobre may be sent, and when the authority may be asked. */
  gate: Gate;
  /** Longest pause between two questions for a verdict, seconds. */
  pollLongestSeconds: number;
  /** How long a reachable authority may be undecided before a person is asked to look, seconds. */
  patienceSeconds: number;
}

/**
 * Pauses of up to this long, such as the one after the first "not yet", happen within the attempt: a repeat costs the
 * Temporal server more than the question costs us.
 */
const SHORT_MILLISECONDS = 2_000;

/** So long after it was received a sobre without a verdict is nothing to count. */
const JUST_MILLISECONDS = 3_000;

const NUMBER_TAKEN: RejectionReason = {
  code: 'S08',
  message:
    'At its first send the authority had a sobre of this number already: from another system of the company, or from before the database was restored.',
  detail: null,
};

/**
 * Takes a sobre from where it stands to the verdicts on its CFEs: signs and writes it, once; sends it in its slot, and once
 * a send was begun asks before the same bytes go out again; asks for verdicts until each CFE has one. While nothing can be
 * sent it ends, to be called; what fails or is not there yet fails the attempt, and the next goes on from what is stored.
 */
export function createTakeToVerdict(deps: TakeDeps): Activity<'takeToVerdict'> {
  return (sobreId, told) =>
    withHeartbeat(() => recordAttempts(deps, sobreId, () => givingWay({ ...deps, told }, sobreId)));
}

/** With the CFEs of which the run knows that they wait for a person. */
type Taking = TakeDeps & { readonly told: readonly string[] | undefined };

/**
 * A mistake of ours fails at every attempt: the sobre must not keep its slot from others meanwhile, still less the part of
 * the prober, without which nobody learns that the authority is back. It gets in line anew at its next attempt.
 */
async function givingWay(deps: Taking, sobreId: string): Promise<VerdictResult> {
  try {
    return await take(deps, sobreId);
  } catch (error) {
    if (isBug(error))
      await deps.gate
        .giveUp(sobreId)
        .catch((failure: unknown) => log.warn('a slot could not be given up', { error: failure }));
    throw error;
  }
}

/** What follows a step: the next one, with the sobre as it stands now or to be read anew; or the end of the activity. */
type Next = SobreInHand | 'readAnew' | VerdictResult;

const isHand = (next: Exclude<Next, string>): next is SobreInHand => 'sobre' in next;

async function take(deps: Taking, sobreId: string): Promise<VerdictResult> {
  let next: Next = 'readAnew';
  for (;;) {
    const hand: SobreInHand = next === 'readAnew' ? await sobreInHand(deps.orm.em.fork(), sobreId) : next;
    next = await step(deps, hand);
    if (next === 'readAnew' || isHand(next)) continue;
    // Who waits for a person finds out about nothing: another is to be the prober.
    if (next.kind === 'stuck' && hand.isProber)
      await deps.gate.leave(hand.sobre, { dueAt: 0, isProbe: true });
    return next;
  }
}

/** The CFEs that go in the sobre and have no verdict yet. */
const openOf = ({ cfes }: SobreInHand): CfeInSobre[] =>
  cfes.filter(({ isIn, status }) => isIn && !isFinal(status));

async function step(deps: Taking, hand: SobreInHand): Promise<Next> {
  const open = openOf(hand);
  if (open.length === 0) return over(deps, hand);
  switch (hand.sobre.state) {
    case 'OPEN':
    case 'PREPARED':
    case 'SENDING': {
      // What a person has to see to concerns all of it: once one of its CFEs is to go on, they all do.
      if (open.every(({ stuckReason }) => isForSupport(stuckReason))) return stillStuck(hand, open);
      const stuck = open.filter(({ stuckReason }) => isForSupport(stuckReason));
      if (stuck.length > 0) {
        await markStuck(deps.orm.em.fork(), idsOf(stuck), null);
        return 'readAnew';
      }
      return hand.sobre.state === 'OPEN' ? write(deps, hand) : send(deps, hand);
    }
    case 'RECEIVED':
      return ask(deps, hand);
    case 'REFUSED':
    case 'DISSOLVED':
      return ended(hand);
  }
}

const idsOf = (cfes: readonly CfeInSobre[]): string[] => cfes.map(({ id }) => id);
const cfeIdsOf = (cfes: readonly CfeInSobre[]): string[] => cfes.map(({ cfeId }) => cfeId);

/** Nothing of it is left to be sent or asked about: it takes no slot from others, and is no prober. */
async function over(deps: TakeDeps, hand: SobreInHand): Promise<VerdictResult> {
  const { sobre } = hand;
  if (hand.isProber) await deps.gate.leave(sobre, { dueAt: 0, isProbe: true });
  if (sobre.state === 'OPEN' || sobre.state === 'PREPARED') {
    const ending = { state: 'DISSOLVED', now: deps.clock() } as const;
    await deps.orm.em.fork().transactional((em) => endSobre(em, sobre, ending));
  }
  return ended(hand);
}

function ended({ cfes }: SobreInHand): VerdictResult {
  const endings = cfes.map(({ cfeId, status }) => [cfeId, isFinal(status) ? status : 'LEFT'] as const);
  const rejected = cfes.flatMap(({ status, rejection }) =>
    status === 'REJECTED' ? codesOf(rejection ?? []) : [],
  );
  return { kind: 'ended', endings: Object.fromEntries(endings), codes: [...new Set(rejected)] };
}

type StuckStep = Extract<VerdictResult, { kind: 'stuck' }>['step'];

/** Leaves CFEs to a person, all that are left of the sobre but those that wait for one already; their rows say why. */
async function leaveToSupport(
  deps: TakeDeps,
  { sobre }: SobreInHand,
  open: readonly CfeInSobre[],
  { step, reason, explanation }: { step: StuckStep; reason: StuckReason; explanation: string },
): Promise<VerdictResult> {
  const left = open.filter(({ stuckReason }) => !isForSupport(stuckReason));
  await noteStuck(deps, sobre, left, reason);
  const stuck = [{ reason, explanation, cfeIds: cfeIdsOf(left) }, ...stuckBefore(open)];
  return { kind: 'stuck', step, stuck, goesOn: false };
}

/**
 * The rows of CFEs of a sobre say why they wait for a person. Where some have moved on meanwhile, by an attempt that was
 * thought lost, the next attempt looks anew: a run that waited for a person of whom the rows know nothing would wait for ever.
 */
async function noteStuck(
  { orm }: TakeDeps,
  sobre: Sobre,
  cfes: readonly CfeInSobre[],
  reason: StuckReason,
): Promise<void> {
  if ((await markStuck(orm.em.fork(), idsOf(cfes), reason, seenIn(sobre))) < cfes.length)
    throw notYet('Another attempt has taken it on meanwhile; it is looked at anew.', 1_000);
}

/** As the CFEs of a sobre stand while it is taken to its verdicts: what an attempt reports that was thought lost may be old. */
const seenIn = ({ id, state }: Sobre): { sobreId: string; status: 'PENDING' | 'RECEIVED' } => ({
  sobreId: id,
  status: state === 'RECEIVED' ? 'RECEIVED' : 'PENDING',
});

/** Those that wait for a person since before. */
const stuckBefore = (open: readonly CfeInSobre[]): StuckCfes[] =>
  groupsOf(open.filter(({ stuckReason }) => isForSupport(stuckReason)));

/** What waits for a person since before this attempt, which may be the first of a run that was started anew. */
function stillStuck({ sobre }: SobreInHand, cfes: readonly CfeInSobre[]): VerdictResult {
  const step = sobre.state === 'OPEN' ? 'sign' : sobre.state === 'RECEIVED' ? 'ask' : 'send';
  return { kind: 'stuck', step, stuck: groupsOf(cfes), goesOn: false };
}

function groupsOf(cfes: readonly CfeInSobre[]): StuckCfes[] {
  return [...Map.groupBy(cfes, ({ stuckReason }) => stuckReason)].flatMap(([reason, each]) =>
    reason === null ? [] : [{ ...stuckBy(reason), cfeIds: cfeIdsOf(each) }],
  );
}

// Writing.

async function write(deps: TakeDeps, hand: SobreInHand): Promise<Next> {
  showPhase('signing');
  const began = performance.now();
  const written = await prepareSobre(deps, hand);
  if (written.kind === 'changed') return 'readAnew';
  const slotIn = hand.slotIn === null ? null : hand.slotIn - (performance.now() - began);
  if (written.kind === 'written') return { ...hand, slotIn };
  const { explanation } = written;
  return leaveToSupport(deps, hand, openOf(hand), { step: 'sign', reason: 'signing', explanation });
}

// Sending.

/** A sobre that the gate let through. */
interface Sending {
  readonly hand: SobreInHand;
  readonly written: WrittenSobre & { readonly xml: string };
  readonly permit: Permit;
}

async function send(deps: TakeDeps, hand: SobreInHand): Promise<Next> {
  const { sobre, current, cfes } = hand;
  const [first] = cfes;
  const { idemisor, xml } = sobre;
  showPhase('sending');
  if (!first || idemisor === null || xml === null) throw new Error(`sobre ${sobre.id} has no bytes to send`);
  const permit = await deps.gate.enter(hand);
  failpoint('gate.entered');
  if (permit === 'waits') return { kind: 'waits' };
  if ('probeIn' in permit) throw probeAgainIn(permit.probeIn);
  const { environment, createdAt, sendingAt } = sobre;
  const written = { environment, createdAt, sendingAt, idemisor, xml };
  const sending: Sending = { hand, written, permit };
  if (sobre.state === 'PREPARED') return sendNow(deps, sending, { listedAsRefused: false });
  // A send was begun earlier and nobody knows how it ended: the authority is asked; the same bytes go out if not found.
  const found = await deps.authority.findSobre(first, written, current);
  failpoint('send.found');
  switch (found.kind) {
    case 'received':
      return received(deps, sending, found);
    case 'absent':
      return sendNow(deps, sending, { listedAsRefused: false });
    case 'refused':
      // Its records hold no reasons: sending the same bytes again brings them, unless they are called a duplicate.
      return sendNow(deps, sending, { listedAsRefused: true });
    case 'repeat':
    case 'stuck':
      return unclearSend(deps, sending, found);
  }
}

/** Sends in the slot. The intent is stored before, provided that the sobre stands as it was read. */
async function sendNow(
  deps: TakeDeps,
  sending: Sending,
  { listedAsRefused }: { listedAsRefused: boolean },
): Promise<Next> {
  const { hand, written, permit } = sending;
  const { sobre, current } = hand;
  const sendingAt = deps.clock();
  if (!(await markSending(deps.orm.em.fork(), sobre, sendingAt))) {
    await deps.gate.leave(sobre, permit);
    const now = await sobreInHand(deps.orm.em.fork(), sobre.id);
    if (now.sobre.state === 'SENDING') throw notYet('Another attempt has this sobre in hand.', 1_000);
    return now;
  }
  failpoint('send.marked');
  // Signed first: what goes out in its slot is ready to go.
  const signed = await deps.authority.signSobre(written, current);
  if (signed.kind !== 'signed') return unclearSend(deps, sending, signed);
  if (!(await deps.gate.untilSlot(sobre, permit))) {
    await deps.gate.wait(sobre);
    return { kind: 'waits' };
  }
  const leaveBy = new Date(sendingAt.getTime() + DEADLINES.sendLeaves);
  const answer = await deps.authority.sendSobre(signed, { leaveBy, isProbe: permit.isProbe });
  failpoint('send.answered');
  switch (answer.kind) {
    case 'received':
      return received(deps, sending, answer);
    case 'refused':
      return refused(deps, sending, answer.reasons);
    case 'duplicate':
      return duplicate(deps, sending, { sendingAt, listedAsRefused });
    case 'fateUnknown': // the sobre stays SENDING, so that the next attempt asks first
    case 'repeat':
    case 'stuck':
      return unclearSend(deps, sending, answer);
  }
}

/** Stores that the authority has the sobre, with what it gave for asking about it. */
async function received(deps: TakeDeps, { hand, permit }: Sending, ticket: SobreTicket): Promise<Next> {
  const { sobre } = hand;
  const { idReceptor, token, askFrom } = ticket;
  const moves = openOf(hand).map((cfe) => ({ cfe, to: 'RECEIVED' as const, reasons: [] }));
  const moved = await storeMoves(deps, moves, {
    sobreId: sobre.id,
    received: { idReceptor, token, askFrom },
  });
  await deps.gate.leave(sobre, permit);
  if (moved.length < moves.length) return 'readAnew';
  Object.assign(sobre, { state: 'RECEIVED', idReceptor, token, askFrom, receivedAt: deps.clock() });
  return {
    ...hand,
    cfes: hand.cfes.map((cfe) => (cfe.isIn ? { ...cfe, status: 'RECEIVED', stuckReason: null } : cfe)),
  };
}

/**
 * The sobre is refused as a whole. With one CFE the reasons are that CFE's; of several nobody knows whose they are, so each
 * goes on in a sobre to itself.
 */
async function refused(
  deps: TakeDeps,
  { hand, permit }: Sending,
  reasons: readonly RejectionReason[],
): Promise<Next> {
  const { sobre, cfes } = hand;
  const now = deps.clock();
  const was = { id: sobre.id, state: 'SENDING' } as const;
  const isAlone = cfes.length === 1;
  const stored = await deps.orm.em.fork().transactional(async (em) => {
    const written = isAlone
      ? await writeMoves(
          deps,
          em,
          openOf(hand).map((cfe) => ({ cfe, to: 'REJECTED', reasons })),
          { sobreId: sobre.id },
        )
      : null;
    await endSobre(em, was, { state: 'REFUSED', refusal: reasons, apart: !isAlone, now });
    return written;
  });
  failpoint('moves.stored');
  if (stored) afterMoves(deps, stored);
  await deps.gate.leave(sobre, permit);
  deps.gatekeeper.scheduleLook();
  return 'readAnew';
}

/** The authority calls the sobre a duplicate: what follows depends on which of our sends it is answering. */
async function duplicate(
  deps: TakeDeps,
  { hand, permit }: Sending,
  { sendingAt, listedAsRefused }: { sendingAt: Date; listedAsRefused: boolean },
): Promise<Next> {
  const { sobre } = hand;
  const sent = sobre.state === 'PREPARED' ? 'at the first send' : 'at a later send';
  const answer = listedAsRefused ? 'though listed as refused' : sent;
  const { reaction } = outcomeOf('duplicate', answer);
  await deps.gate.leave(sobre, permit);
  if (reaction === 'stuck') return stuckSend(deps, hand, unclear('duplicate', answer));
  // Its number belongs to another, unless another attempt has sent it meanwhile: the CFEs go out in new ones.
  if (reaction === 'renumber') {
    const ending = { state: 'REFUSED', refusal: [NUMBER_TAKEN], now: deps.clock() } as const;
    const isOver = await deps.orm.em
      .fork()
      .transactional((em) => endSobre(em, { id: sobre.id, state: 'SENDING', sendingAt }, ending));
    deps.gatekeeper.scheduleLook();
    if (isOver) return 'readAnew';
  }
  if (await undecidedForTooLong(deps, sobre)) return stuckSend(deps, hand, unclear('ask', 'undecided'));
  throw notYet('The authority has this sobre already; it is asked for its receipt.', pauseOf(deps, sobre));
}

/**
 * A send, or the question before it, of which nothing came. While the authority is away the sobre waits at the gate, or
 * tries again as the prober; nothing then counts as being undecided, error pages neither.
 */
async function unclearSend(
  deps: TakeDeps,
  { hand, permit }: Sending,
  answer: Unclear | FateUnknown,
): Promise<VerdictResult> {
  const { sobre } = hand;
  const next = answer.kind === 'stuck' ? 'tryAgain' : await deps.gate.afterFailure(sobre);
  failpoint('gate.failed');
  if (next === 'tryAgain') {
    await deps.gate.leave(sobre, permit);
    return repeatOrLeave(deps, hand, 'send', answer);
  }
  if (sobre.undecidedSince !== null) await countUndecided(deps, sobre, null);
  if (next === 'waits') return { kind: 'waits' };
  throw probeAgainIn(next.probeIn);
}

const stuckSend = (deps: TakeDeps, hand: SobreInHand, answer: Unclear): Promise<VerdictResult> =>
  leaveAll(deps, hand, 'send', answer);

/** Leaves all of a sobre to a person. Throws for an answer that goes on by itself. */
function leaveAll(
  deps: TakeDeps,
  hand: SobreInHand,
  step: StuckStep,
  answer: Unclear,
): Promise<VerdictResult> {
  if (answer.kind !== 'stuck') throw new RangeError(`${answer.what} goes on by itself`);
  return leaveToSupport(deps, hand, openOf(hand), { step, ...answer });
}

/** What becomes of an answer of which nothing comes: the step is tried again by itself, or left to a person. */
async function repeatOrLeave(
  deps: TakeDeps,
  hand: SobreInHand,
  step: StuckStep,
  answer: Unclear | FateUnknown,
): Promise<VerdictResult> {
  const { sobre } = hand;
  if (answer.kind === 'stuck') return leaveAll(deps, hand, step, answer);
  if (answer.kind === 'repeat' && !answer.reached) {
    if (sobre.undecidedSince !== null) await countUndecided(deps, sobre, null);
    throw authorityUnreachable(answer.what);
  }
  if (await undecidedForTooLong(deps, sobre)) return leaveAll(deps, hand, step, unclear('ask', 'undecided'));
  const what =
    answer.kind === 'fateUnknown' ? `${answer.what}; it is asked before it is sent again` : answer.what;
  throw authorityUnreachable(what);
}

/**
 * Whether the authority has answered, and nothing came of it, for longer than our patience. Counted while it can be
 * reached: an outage starts the count anew, and so does support's retry.
 */
async function undecidedForTooLong(deps: TakeDeps, sobre: Sobre): Promise<boolean> {
  const now = deps.clock();
  const since = sobre.undecidedSince ?? now;
  const tooLong = now.getTime() - since.getTime() > deps.patienceSeconds * 1_000;
  if (tooLong || sobre.undecidedSince === null) await countUndecided(deps, sobre, tooLong ? null : since);
  return tooLong;
}

/** Sets since when the authority answers and nothing comes of it; null starts the count anew. */
async function countUndecided({ orm }: TakeDeps, sobre: Sobre, undecidedSince: Date | null): Promise<void> {
  sobre.undecidedSince = undecidedSince;
  await orm.em.fork().nativeUpdate(Sobre, { id: sobre.id }, { undecidedSince });
}

// Asking.

/** Asks for the verdicts of a sobre that the authority has; fails "not yet" until each of its CFEs has one, or is stuck. */
async function ask(deps: Taking, hand: SobreInHand): Promise<Next> {
  const open = openOf(hand);
  const asked = open.filter(({ stuckReason }) => !isForSupport(stuckReason));
  if (asked.length === 0) return stillStuck(hand, open);
  // A run that was started anew, and one whose worker died before it could tell, learns of them while the others go on.
  const untold = open.filter((cfe) => !asked.includes(cfe) && deps.told?.includes(cfe.cfeId) === false);
  if (untold.length > 0) return { kind: 'stuck', step: 'ask', stuck: groupsOf(untold), goesOn: true };
  const { sobre } = hand;
  showPhase('asking');
  await untilMayBeAsked(deps, sobre);
  const later = await deps.gate.untilQuestion(sobre.environment, takeReservedQuestion());
  if (later) {
    keepReservedQuestion(later.reserved);
    throw notYet('Others are asked about first.', later.milliseconds);
  }

  let pauseCode = '';
  const said = new Map<CfeInSobre, VerdictOutcome>();
  for (const { isOwn, ticket, cfes } of questionsOf(hand, asked)) {
    const answer = await deps.authority.askVerdicts(cfes.map(placed), ticket, hand.current);
    failpoint('ask.answered');
    switch (answer.kind) {
      case 'answered':
        for (const [index, cfe] of cfes.entries()) {
          const outcome = answer.outcomes[index];
          if (outcome) said.set(cfe, outcome);
        }
        break;
      case 'notYet':
        pauseCode = answer.code;
        break;
      case 'recover':
        if (isOwn) return recoverTicket(deps, hand);
        for (const cfe of cfes) said.set(cfe, { kind: 'notYet', code: 'code 104' });
        break;
      case 'repeat':
      case 'stuck':
        if (isOwn) return repeatOrLeave(deps, hand, 'ask', answer);
        // What an earlier sobre came to is said of its CFE alone, and holds up no other.
        for (const cfe of cfes) said.set(cfe, answer);
        break;
    }
  }
  return afterAnswers(deps, hand, asked, { said, pauseCode });
}

/** What is asked, and about which CFEs: with what the sobre has, and with what an earlier one of ours has. */
function questionsOf({ sobre }: SobreInHand, asked: readonly CfeInSobre[]) {
  const own = asked.filter(({ ticket }) => ticket === null);
  const earlier = [...Map.groupBy(asked, ({ ticket }) => ticket?.idReceptor).values()].flatMap((cfes) => {
    const ticket = cfes[0]?.ticket;
    return ticket ? [{ isOwn: false, ticket, cfes }] : [];
  });
  const { idReceptor, token } = sobre;
  return own.length > 0 ? [{ isOwn: true, ticket: { idReceptor, token }, cfes: own }, ...earlier] : earlier;
}

/** Its place counts in this sobre alone. */
const placed = (cfe: CfeInSobre): PlacedCfe => (cfe.ticket === null ? cfe : { ...cfe, place: null });

/** Stores what was said of each CFE. */
async function afterAnswers(
  deps: TakeDeps,
  hand: SobreInHand,
  asked: readonly CfeInSobre[],
  { said, pauseCode }: { said: ReadonlyMap<CfeInSobre, VerdictOutcome>; pauseCode: string },
): Promise<Next> {
  const { sobre } = hand;
  const moves = [...said].flatMap(([cfe, outcome]) =>
    outcome.kind === 'verdict' ? [{ cfe, to: outcome.status, reasons: outcome.reasons }] : [],
  );
  if (moves.length > 0) {
    const moved = await storeMoves(deps, moves, { sobreId: sobre.id });
    if (moved.length < moves.length) return 'readAnew';
  }
  const stuck: StuckCfes[] = [];
  let what = pauseCode;
  for (const [cfe, outcome] of said) {
    if (outcome.kind === 'stuck') {
      const { reason, explanation } = outcome;
      await noteStuck(deps, sobre, [cfe], reason);
      stuck.push({ reason, explanation, cfeIds: [cfe.cfeId] });
    } else if (outcome.kind === 'original') {
      await storeOwnTicket(deps.orm.em.fork(), { sobreId: sobre.id, cfeUuid: cfe.id }, outcome);
    }
    if (outcome.kind === 'notYet') what ||= outcome.code;
    if (outcome.kind === 'repeat') what ||= outcome.what;
  }
  const decided = new Map(moves.map(({ cfe, to, reasons }) => [cfe.id, { status: to, rejection: reasons }]));
  const now = { ...hand, cfes: hand.cfes.map((cfe) => ({ ...cfe, ...decided.get(cfe.id) })) };
  const left = asked.filter((cfe) => !decided.has(cfe.id) && said.get(cfe)?.kind !== 'stuck');
  if (left.length === 0 && stuck.length === 0) {
    // Others of the sobre may wait for a person since before.
    return openOf(now).length === 0 ? ended(now) : stillStuck(now, openOf(now));
  }
  if (stuck.length > 0) {
    const goesOn = left.length > 0;
    return { kind: 'stuck', step: 'ask', stuck: [...stuck, ...stuckBefore(openOf(now))], goesOn };
  }
  const away = left.flatMap((cfe) => said.get(cfe) ?? []).find(isAway);
  if (away) return repeatOrLeave(deps, now, 'ask', away);
  if (left.some((cfe) => said.get(cfe)?.kind === 'original'))
    throw notYet('The verdict stands with an earlier sobre of ours; that one is asked about.', 1);
  if (!hasJustComeIn(deps, sobre) && (await undecidedForTooLong(deps, sobre)))
    return leaveToSupport(deps, now, openOf(now), { step: 'ask', ...stuckBy('undecided') });
  const pause = pauseOf(deps, sobre);
  if (pause > SHORT_MILLISECONDS) throw notYet(noVerdictYet(deps, sobre, { left: left.length, what }), pause);
  await sleep(pause);
  return now;
}

/** The first questions mostly come too early: they cost no statement that counts them. */
const hasJustComeIn = ({ clock }: TakeDeps, { undecidedSince, receivedAt }: Sobre): boolean =>
  undecidedSince === null &&
  receivedAt !== null &&
  clock().getTime() - receivedAt.getTime() < JUST_MILLISECONDS;

/** A question that did not reach the authority. */
const isAway = (outcome: VerdictOutcome): outcome is Extract<Unclear, { kind: 'repeat' }> =>
  outcome.kind === 'repeat' && !outcome.reached;

/** For the pending activity, by which operators see where the sobre stands. */
function noVerdictYet(
  { clock }: TakeDeps,
  { idReceptor, receivedAt }: Sobre,
  { left, what }: { left: number; what: string },
): string {
  const since = receivedAt ? ` since ${receivedAt.toISOString()}` : '';
  return `The authority has the sobre${since} (IdReceptor ${idReceptor}); asked at ${clock().toISOString()}, no verdict yet on ${left} of its CFEs (${what}).`;
}

/** The pause before the next question, by how long the authority has had the sobre. */
function pauseOf({ clock, pollLongestSeconds }: TakeDeps, sobre: Sobre): number {
  const since = Math.max(
    ...[sobre.sendingAt, sobre.receivedAt, sobre.askFrom].map((one) => one?.getTime() ?? 0),
  );
  return pollPause(clock().getTime() - since, pollLongestSeconds);
}

/** The authority said from when on it may be asked: a short wait is spent here, a long one, whole, until the next attempt. */
async function untilMayBeAsked({ clock }: TakeDeps, { askFrom, idReceptor }: Sobre): Promise<void> {
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

/** The authority does not know the sobre by the number and token we hold: its list gives the right ones. */
async function recoverTicket(deps: TakeDeps, hand: SobreInHand): Promise<VerdictResult> {
  const { sobre, cfes, current } = hand;
  const [first] = cfes;
  const { environment, createdAt, sendingAt, idemisor } = sobre;
  if (!first || idemisor === null) throw new Error(`sobre ${sobre.id} was received without a number`);
  const found = await deps.authority.findSobre(
    first,
    { environment, createdAt, sendingAt, idemisor },
    current,
  );
  if (found.kind === 'stuck' || found.kind === 'repeat') return repeatOrLeave(deps, hand, 'ask', found);
  if (found.kind === 'received') {
    const { idReceptor, token } = found;
    await deps.orm.em.fork().nativeUpdate(Sobre, { id: sobre.id }, { idReceptor, token });
  }
  // Those from the list may be refused as well, each time.
  if (await undecidedForTooLong(deps, sobre)) return leaveAll(deps, hand, 'ask', unclear('ask', 'undecided'));
  const pause = pauseOf(deps, sobre);
  if (found.kind === 'received') throw notYet('The authority gave number and token anew.', pause);
  throw notYet('The authority does not find the sobre (104); it is asked again.', pause);
}
