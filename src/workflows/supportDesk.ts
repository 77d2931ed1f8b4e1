import {
  ApplicationFailure,
  CancellationScope,
  condition,
  currentUpdateInfo,
  getCurrentDetails,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Stuck, SupportResult } from '../domain/activityResults.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { type SupportAnswer, type SupportRequest, supportRequestFault } from '../domain/supportAction.ts';
import { NeedsSupportAttribute, StuckReasonAttribute, stepFails, stepGoesOn, support } from './common.ts';

/** A step as support reads of it. */
export interface Step {
  /** What it tries, in words. */
  tries: string;
  /** What support may do when it is stuck: each action, with when it fits. */
  actions: Readonly<Partial<Record<SupportRequest['action'], string>>>;
  /** Whether what was done for one of the things that wait at it lets all of them go on. */
  isOfAll?: boolean;
}

/** The one thing of a run that has no more. */
const THE_ONE = '';

/** Things that wait for one reason. */
interface StuckThings extends Omit<Stuck, 'kind'> {
  /** The cfe_ids of CFEs; THE_ONE where a run is about one thing. */
  readonly ids: readonly string[];
}

/** For whom a desk is. */
interface Desk {
  /** What waits, in words: `CFE`. */
  readonly thing: string;
  /** The verb of the command line that does what the update does. */
  readonly command: string;
  /** Does what support asks for; `requestId`, the update's id, is the same at every repeat of one request. */
  readonly act: (
    request: Omit<SupportRequest, 'cfe_id'> & { cfe_id: string; requestId: string },
  ) => Promise<SupportResult>;
}

/** Something that waits for a person: at which step, and why. */
interface Waiting {
  readonly step: Step;
  readonly why: Omit<Stuck, 'kind'>;
}

/**
 * The place where the things of a run wait for a person. Register it before the first await. The update `support` does what
 * it is asked for and answers what came of it; unless that is a refusal the thing waits no longer, and the step that is
 * taken next finds what was changed. A run ends only once every update has its answer, so that none is cut off.
 */
export function supportDesk({ thing, command, act }: Desk) {
  const board = waitingThings(command);
  const requests = takeRequests(board, { thing, act });
  const desk = {
    /** The next step is about to be taken; `details` tell so where nothing waits for a person. */
    takenUp(details: string): void {
      board.helped.clear();
      setCurrentDetails(board.details() ?? details);
    },

    /** The things that wait for a person. */
    waiting: (): string[] => [...board.waiting.keys()],

    /** Takes a step, of which the signals say whether it keeps failing by a mistake of ours. */
    during: ownFaults(board),

    /** Things wait for a person at a step, beside others or, with `isAll`, no others; what was known of them before stays. */
    open(step: Step, stuck: readonly StuckThings[], { isAll }: { isAll: boolean }): void {
      const ids = new Set(stuck.flatMap((group) => group.ids));
      if (isAll) board.remove((id) => !ids.has(id));
      for (const { ids: alike, ...why } of stuck) for (const id of alike) board.add(id, { step, why });
      board.tell();
      setCurrentDetails(detailsOf(board.waiting, command));
    },

    /** Nothing waits for a person any more; resolves once every update has its answer. */
    async close(): Promise<void> {
      board.remove(() => true);
      board.tell();
      await requests.settled();
    },

    untilHelped: (): Promise<void> => condition(() => board.helped.size > 0),

    /** Every update has its answer. */
    settled: requests.settled,

    /** Repeats a step of a run that is about one thing until that is no longer stuck. */
    async untilDone<T extends { kind: string }>(step: Step, take: () => Promise<T | Stuck>): Promise<T> {
      for (;;) {
        const result = await desk.during(step, take);
        if (!isStuck(result)) return result;
        const { reason, explanation } = result;
        board.helped.clear();
        desk.open(step, [{ ids: [THE_ONE], reason, explanation }], { isAll: true });
        await desk.untilHelped();
        await desk.settled();
        setCurrentDetails(`Goes on after support: ${step.tries}.`);
      }
    },
  };
  return desk;
}

/** The things of a run that wait for a person, and what shows them. */
function waitingThings(command: string) {
  const waiting = new Map<string, Waiting>();
  /** Those for which something was done since the last step was taken up. */
  const helped = new Set<string>();
  const signs = createSigns();
  let fails = false;
  const board = {
    waiting: waiting as ReadonlyMap<string, Waiting>,
    helped,
    isFailing: (): boolean => fails,

    /** The details of the run where something waits. */
    details: (): string | null => (waiting.size > 0 ? detailsOf(waiting, command) : null),

    /** One for which something was done meanwhile is not added by what was known before. */
    add(id: string, found: Waiting): void {
      if (!helped.has(id) && waiting.get(id)?.why.reason !== found.why.reason) waiting.set(id, found);
    },

    remove(which: (id: string, it: Waiting) => boolean): string[] {
      const removed = [...waiting].flatMap(([id, it]) => (which(id, it) ? [id] : []));
      for (const id of removed) waiting.delete(id);
      return removed;
    },

    /** Shows what there is now. */
    tell(): void {
      const [first] = waiting.values();
      const reason = first?.why.reason ?? (fails ? OWN_FAULT : null);
      signs.show(reason, waiting.size > 0 ? summaryOf(waiting) : OWN_FAULT_SUMMARY);
    },

    /** Whether the step that is taken keeps failing by a mistake of ours; false where that was known. */
    setFailing(isSo: boolean): boolean {
      if (fails === isSo) return false;
      fails = isSo;
      board.tell();
      return true;
    },
  };
  return board;
}

type Board = ReturnType<typeof waitingThings>;

/** What shows that a run needs a person: the list of runs, and a timer, which is seen in its timeline. */
function createSigns() {
  // A run that was continued as new has what it told before.
  let told: StuckReason | null =
    (workflowInfo().typedSearchAttributes.get(StuckReasonAttribute) as StuckReason | undefined) ?? null;
  let timed: string | null = null;
  let endTimer = (): void => {};
  return {
    show(reason: StuckReason | null, summary: string): void {
      if (reason !== told) {
        told = reason;
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: reason !== null },
          { key: StuckReasonAttribute, value: reason },
        ]);
      }
      const shown = reason && summary;
      if (shown === timed) return;
      timed = shown;
      endTimer();
      if (shown !== null) endTimer = startTimer(shown);
    },
  };
}

/** Takes the update `support`, for one thing at a time. */
function takeRequests(board: Board, { thing, act }: Pick<Desk, 'thing' | 'act'>) {
  const served = new Set<string>();
  /** Whom a request is for; where one thing alone waits it need not be named. */
  const idOf = ({ cfe_id }: SupportRequest): string => {
    const [only] = board.waiting.keys();
    return cfe_id ?? (board.waiting.size === 1 ? (only ?? THE_ONE) : THE_ONE);
  };

  async function serve(request: SupportRequest): Promise<SupportAnswer> {
    const requestId = currentUpdateInfo()?.id;
    if (requestId === undefined) throw new TypeError('the handler of an update has no id of the update');
    const id = idOf(request);
    const step = board.waiting.get(id)?.step;
    served.add(id);
    try {
      const { kind: outcome, ...said } = await act({ ...request, cfe_id: id, requestId });
      const answer = { outcome, ...said };
      const details = board.details();
      if (outcome === 'refused') {
        if (details !== null) setCurrentDetails(`${details}\n\n${lastRefusal(request, answer)}`);
        return answer;
      }
      board.helped.add(id);
      const others = board.remove(
        (one, its) => one === id || (its.step === step && its.step.isOfAll === true),
      );
      for (const one of others) board.helped.add(one);
      board.tell();
      return answer;
    } finally {
      served.delete(id);
    }
  }

  // What is accepted is done, whoever cancels the run meanwhile, or has before.
  setHandler(support, (request) => CancellationScope.nonCancellable(() => serve(request)), {
    description:
      'While NeedsSupport is true: {"action":"retry"}; action is retry, settle or abandon, as the details of the run say; with "cfe_id" where more than one CFE waits. The audit has what is asked here as unverified.',
    validator: (request) => {
      const fault = supportRequestFault(request);
      if (fault !== undefined) throw refusal('InvalidInput', fault);
      if (request.cfe_id === undefined && board.waiting.size > 1)
        throw refusal('InvalidInput', 'cfe_id: say which of the CFEs that wait.');
      const id = idOf(request);
      if (served.has(id))
        throw refusal('UnderWay', `Another action of support is under way on this ${thing}.`);
      if (!board.waiting.has(id)) throw refusal('NothingToDo', nothingToDo(thing, board.isFailing()));
    },
  });
  return { settled: (): Promise<void> => condition(() => served.size === 0) };
}

/** Shows of a step that is being taken that it keeps failing by a mistake of ours, as the signals say; it is tried again all the same. */
function ownFaults(board: Board) {
  let taken: Step | null = null;
  function failing(isSo: boolean): void {
    if (taken === null || !board.setFailing(isSo)) return;
    // By the time that it goes on, the details may say more: that it waits for a slot, say.
    if (isSo) setCurrentDetails(failingDetails(taken));
    else if (getCurrentDetails() === failingDetails(taken))
      setCurrentDetails(board.details() ?? `Goes on: ${taken.tries}.`);
  }
  setHandler(stepFails, () => failing(true));
  setHandler(stepGoesOn, () => failing(false));
  return async <T>(step: Step, take: () => Promise<T>): Promise<T> => {
    taken = step;
    const result = await take();
    failing(false);
    taken = null;
    return result;
  };
}

/** The wait for a person may well last; the timer ends with it. */
const LONG_MILLISECONDS = 365 * 86_400_000;

/** Starts a timer that says why the run waits; answers what ends it. */
function startTimer(summary: string): () => void {
  const shown = new CancellationScope();
  shown.run(() => sleep(LONG_MILLISECONDS, { summary })).catch(ignoreCancellation);
  return () => shown.cancel();
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}

/** In one line: who waits for a person, and why. */
function summaryOf(waiting: ReadonlyMap<string, { why: Pick<Stuck, 'reason'> }>): string {
  const reasons = new Set([...waiting.values()].map(({ why }) => why.reason));
  const [id, ...others] = [...waiting.keys()].filter((one) => one !== THE_ONE);
  const who = id === undefined ? '' : `${id}${others.length > 0 ? ` and ${others.length} more` : ''}: `;
  return `Waits for support: ${who}${[...reasons].join(', ')}`;
}

const nothingToDo = (thing: string, isFailing: boolean): string =>
  isFailing
    ? `A step of this ${thing} fails by a mistake of ours, and is tried again by itself; tell the developers.`
    : `This ${thing} does not wait for support; it goes on by itself.`;

/** The reason of a step that keeps failing by a mistake of ours. */
const OWN_FAULT: StuckReason = 'internal';
const OWN_FAULT_SUMMARY = 'Our own code fails, and is tried again by itself; nothing for support';

const failingDetails = ({ tries }: Step): string =>
  [
    '### Our own code fails',
    `**Reason:** \`${OWN_FAULT}\``,
    `**Tried:** ${tries}`,
    'For an hour now, by a mistake of ours; the pending activity names the kind of the error, and the log of the worker has the whole. It is tried again by itself: deploy a version that mends it, and the run goes on. Support has nothing to do.',
  ].join('\n\n');

const isStuck = (result: { kind: string }): result is Stuck => result.kind === 'stuck';

const refusal = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

/** Ids of CFEs that are written out where many wait for one reason. */
const MOST_SHOWN = 20;

/** The details of the run, in Markdown: why things wait, and what may be done, ready to be copied. */
function detailsOf(
  waiting: ReadonlyMap<string, { step: Step; why: Omit<Stuck, 'kind'> }>,
  command: string,
): string {
  const alike = Map.groupBy(waiting, ([, { step, why }]) => `${step.tries} ${why.reason}`);
  const groups = [...alike.values()].flatMap((each) => {
    const [first] = each;
    return first
      ? [
          groupDetails(
            each.map(([id]) => id),
            first[1],
            command,
          ),
        ]
      : [];
  });
  return [
    '### Waiting for support',
    ...groups.flat(),
    'Temporal knows no logins: the audit has an update that is sent from here as unverified. `"by"` and `"reason"` may be added, and stay in the history of the run.',
  ].join('\n\n');
}

function groupDetails(
  ids: readonly string[],
  { step, why }: { step: Step; why: Omit<Stuck, 'kind'> },
  command: string,
): string[] {
  const named = ids.filter((id) => id !== THE_ONE);
  const more = named.length > MOST_SHOWN ? ` and ${named.length - MOST_SHOWN} more` : '';
  const actions = Object.entries(step.actions).map(
    ([action, when]) =>
      `- ${when}:\n\n  \`\`\`json\n  ${JSON.stringify(named[0] === undefined ? { action } : { cfe_id: named[0], action })}\n  \`\`\``,
  );
  return [
    ...(named.length > 0 ? [`**CFEs:** ${named.slice(0, MOST_SHOWN).join(', ')}${more}`] : []),
    `**Reason:** \`${why.reason}\``,
    `**Tried:** ${step.tries}`,
    `**What came of it:** ${why.explanation}`,
    `**What may be done:** in the console, by \`${command}\` on the command line, or by the update \`support\` with one of these inputs.`,
    ...actions,
  ];
}

const lastRefusal = ({ action }: SupportRequest, { message }: SupportAnswer): string =>
  `**Last asked for:** \`${action}\`, refused: ${message}`;
