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
import type { Stuck, SupportResult } from '../domain/authority/activityResults.ts';
import type { StuckReason } from '../domain/authority/stuckReason.ts';
import {
  type SupportAnswer,
  type SupportRequest,
  supportRequestFault,
} from '../domain/operations/supportAction.ts';
import { NeedsSupportAttribute, StuckReasonAttribute, stepFails, stepGoesOn, support } from './common.ts';

/** A step in the words for support. */
export interface Step {
  /** The purpose of the step, in words. */
  tries: string;
  /** The actions of support when the step is stuck, each with its condition. */
  actions: Readonly<Partial<Record<SupportRequest['action'], string>>>;
  /** Whether an action on one waiting item lets all items of the step continue. */
  appliesToAll?: boolean;
}

/** The id of the only item of a run. */
const ONLY_ITEM = '';

/** Items that wait for the same reason. */
interface StuckItems extends Omit<Stuck, 'kind'> {
  /** The cfe_ids of CFEs; ONLY_ITEM if the run has only one item. */
  readonly ids: readonly string[];
}

/** The run that a desk serves. */
interface Desk {
  /** The kind of item, in words: `CFE`. */
  readonly subject: string;
  /** The command with the effect of the update. */
  readonly command: string;
  /** Executes a request; `requestId`, the update's id, is the same at every repeat of one request. */
  readonly act: (
    request: Omit<SupportRequest, 'cfe_id'> & { cfe_id: string; requestId: string },
  ) => Promise<SupportResult>;
}

/** An item that waits for support: at which step, and why. */
interface Waiting {
  readonly step: Step;
  readonly why: Omit<Stuck, 'kind'>;
}

/**
 * Keeps the items of a run that wait for support; must be called before the first await. The update `support` executes a
 * request; unless refused, its item waits no longer, and the next step reads the changed rows.
 */
export function createSupportDesk({ subject, command, act }: Desk) {
  const board = createBoard(command);
  const requests = handleRequests(board, { subject, act });
  const desk = {
    /** Starts the next step; `details` are shown if no item waits for support. */
    showStep(details: string): void {
      board.handled.clear();
      setCurrentDetails(board.details() ?? details);
    },

    /** The ids of the items that wait for support. */
    waiting: (): string[] => [...board.waiting.keys()],

    /** Runs a step while signals report whether it fails by a bug. */
    runStep: createStepRunner(board),

    /**
     * Adds items that wait for support at a step, to the others or, with `isAll`, in place of the others;
     * known items keep their reason.
     */
    addStuck(step: Step, stuck: readonly StuckItems[], { isAll }: { isAll: boolean }): void {
      const stuckIds = new Set(stuck.flatMap((group) => group.ids));
      if (isAll) board.remove((id) => !stuckIds.has(id));
      for (const { ids, ...why } of stuck) for (const id of ids) board.add(id, { step, why });
      board.show();
      setCurrentDetails(detailsOf(board.waiting, command));
    },

    /** Removes all items; resolves once every update has its answer. */
    async close(): Promise<void> {
      board.remove(() => true);
      board.show();
      await requests.untilAnswered();
    },

    untilHandled: (): Promise<void> => condition(() => board.handled.size > 0),

    /** Resolves once every update has its answer. */
    untilAnswered: requests.untilAnswered,

    /** Repeats a step of a run with only one item until the step is no longer stuck. */
    async retryUntilDone<T extends { kind: string }>(step: Step, take: () => Promise<T | Stuck>): Promise<T> {
      for (;;) {
        const result = await desk.runStep(step, take);
        if (!isStuck(result)) return result;
        const { reason, explanation } = result;
        board.handled.clear();
        desk.addStuck(step, [{ ids: [ONLY_ITEM], reason, explanation }], { isAll: true });
        await desk.untilHandled();
        await desk.untilAnswered();
        setCurrentDetails(`Continues after support: ${step.tries}.`);
      }
    },
  };
  return desk;
}

/** The items of a run that wait for support, and their display. */
function createBoard(command: string) {
  const waiting = new Map<string, Waiting>();
  /** The items that support acted on since the last step started. */
  const handled = new Set<string>();
  const indicators = createIndicators();
  let fails = false;
  const board = {
    waiting: waiting as ReadonlyMap<string, Waiting>,
    handled,
    isFailing: (): boolean => fails,

    /** The details of the run if an item waits, else null. */
    details: (): string | null => (waiting.size > 0 ? detailsOf(waiting, command) : null),

    /** Ignores a result from before support acted on the item. */
    add(id: string, item: Waiting): void {
      if (!handled.has(id) && waiting.get(id)?.why.reason !== item.why.reason) waiting.set(id, item);
    },

    remove(matches: (id: string, item: Waiting) => boolean): string[] {
      const removed = [...waiting].flatMap(([id, item]) => (matches(id, item) ? [id] : []));
      for (const id of removed) waiting.delete(id);
      return removed;
    },

    /** Shows the present state. */
    show(): void {
      const [first] = waiting.values();
      const reason = first?.why.reason ?? (fails ? BUG_REASON : null);
      indicators.show(reason, waiting.size > 0 ? summaryOf(waiting) : BUG_SUMMARY);
    },

    /** Records whether the running step fails by a bug; returns false if nothing changed. */
    setFailing(isFailing: boolean): boolean {
      if (fails === isFailing) return false;
      fails = isFailing;
      board.show();
      return true;
    },
  };
  return board;
}

type Board = ReturnType<typeof createBoard>;

/** Creates the indicators of support: search attributes in the list of runs, and a timer in the timeline. */
function createIndicators() {
  // A run that was continued as new inherits the attributes.
  let shownReason: StuckReason | null =
    (workflowInfo().typedSearchAttributes.get(StuckReasonAttribute) as StuckReason | undefined) ?? null;
  let timerSummary: string | null = null;
  let endTimer = (): void => {};
  return {
    show(reason: StuckReason | null, summary: string): void {
      if (reason !== shownReason) {
        shownReason = reason;
        upsertSearchAttributes([
          { key: NeedsSupportAttribute, value: reason !== null },
          { key: StuckReasonAttribute, value: reason },
        ]);
      }
      const shownSummary = reason && summary;
      if (shownSummary === timerSummary) return;
      timerSummary = shownSummary;
      endTimer();
      if (shownSummary !== null) endTimer = startTimer(shownSummary);
    },
  };
}

/** Handles the update `support`, one at a time for each item. */
function handleRequests(board: Board, { subject, act }: Pick<Desk, 'subject' | 'act'>) {
  const underWay = new Set<string>();
  /** Returns the item of a request; a single waiting item need not be named. */
  const idOf = ({ cfe_id }: SupportRequest): string => {
    const [only] = board.waiting.keys();
    return cfe_id ?? (board.waiting.size === 1 ? (only ?? ONLY_ITEM) : ONLY_ITEM);
  };

  async function execute(request: SupportRequest): Promise<SupportAnswer> {
    const requestId = currentUpdateInfo()?.id;
    if (requestId === undefined) throw new TypeError('the handler of an update has no id of the update');
    const id = idOf(request);
    const step = board.waiting.get(id)?.step;
    underWay.add(id);
    try {
      const { kind: outcome, ...result } = await act({ ...request, cfe_id: id, requestId });
      const answer = { outcome, ...result };
      const details = board.details();
      if (outcome === 'refused') {
        if (details !== null) setCurrentDetails(`${details}\n\n${lastRefusal(request, answer)}`);
        return answer;
      }
      board.handled.add(id);
      const removed = board.remove(
        (otherId, other) => otherId === id || (other.step === step && other.step.appliesToAll === true),
      );
      for (const removedId of removed) board.handled.add(removedId);
      board.show();
      return answer;
    } finally {
      underWay.delete(id);
    }
  }

  // An accepted request is executed even if the run is cancelled before or meanwhile.
  setHandler(support, (request) => CancellationScope.nonCancellable(() => execute(request)), {
    description:
      'While NeedsSupport is true: {"action":"retry"}; action is retry, settle or abandon, as the details of the run say; with "cfe_id" if more than one CFE waits. The audit marks requests from here as unverified.',
    validator: (request) => {
      const fault = supportRequestFault(request);
      if (fault !== undefined) throw refusal('InvalidInput', fault);
      if (request.cfe_id === undefined && board.waiting.size > 1)
        throw refusal('InvalidInput', 'cfe_id: say which of the waiting CFEs.');
      const id = idOf(request);
      if (underWay.has(id))
        throw refusal('UnderWay', `Another action of support is in progress on this ${subject}.`);
      if (!board.waiting.has(id))
        throw refusal('NothingToDo', describeNothingToDo(subject, board.isFailing()));
    },
  });
  return { untilAnswered: (): Promise<void> => condition(() => underWay.size === 0) };
}

/** Runs steps, and shows by the signals that the running step fails by a bug; a failing step is still retried. */
function createStepRunner(board: Board) {
  let running: Step | null = null;
  function showFailing(isFailing: boolean): void {
    if (running === null || !board.setFailing(isFailing)) return;
    // Meanwhile the details may say more, such as the wait for a slot.
    if (isFailing) setCurrentDetails(failingDetails(running));
    else if (getCurrentDetails() === failingDetails(running))
      setCurrentDetails(board.details() ?? `Continues: ${running.tries}.`);
  }
  setHandler(stepFails, () => showFailing(true));
  setHandler(stepGoesOn, () => showFailing(false));
  return async <T>(step: Step, take: () => Promise<T>): Promise<T> => {
    running = step;
    const result = await take();
    showFailing(false);
    running = null;
    return result;
  };
}

/** Longer than any wait for support, which ends the timer. */
const LONG_MILLISECONDS = 365 * 86_400_000;

/** Starts a timer that shows why the run waits; returns the function that ends it. */
function startTimer(summary: string): () => void {
  const scope = new CancellationScope();
  scope.run(() => sleep(LONG_MILLISECONDS, { summary })).catch(ignoreCancellation);
  return () => scope.cancel();
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}

/** Describes the waiting items in one line. */
function summaryOf(waiting: ReadonlyMap<string, { why: Pick<Stuck, 'reason'> }>): string {
  const reasons = new Set([...waiting.values()].map(({ why }) => why.reason));
  const [id, ...others] = [...waiting.keys()].filter((key) => key !== ONLY_ITEM);
  const subject = id === undefined ? '' : `${id}${others.length > 0 ? ` and ${others.length} more` : ''}: `;
  return `Waits for support: ${subject}${[...reasons].join(', ')}`;
}

const describeNothingToDo = (subject: string, isFailing: boolean): string =>
  isFailing
    ? `A step of this ${subject} fails by a bug of ours and is retried automatically; notify the developers.`
    : `This ${subject} does not wait for support; it continues automatically.`;

/** The reason of a step that fails by a bug. */
const BUG_REASON: StuckReason = 'internal';
const BUG_SUMMARY = 'Our own code fails and is retried automatically; nothing for support';

const failingDetails = ({ tries }: Step): string =>
  [
    '### Our own code fails',
    `**Reason:** \`${BUG_REASON}\``,
    `**Tried:** ${tries}`,
    'For an hour now, by a bug of ours; the pending activity names the type of the error, and the log of the worker has all of it. It is retried automatically: deploy a version that fixes it, and the run continues. Support has nothing to do.',
  ].join('\n\n');

const isStuck = (result: { kind: string }): result is Stuck => result.kind === 'stuck';

const refusal = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

/** The most ids that are listed for one reason. */
const MOST_SHOWN = 20;

/** Returns the details of the run in Markdown: why items wait, and the options, ready to be copied. */
function detailsOf(
  waiting: ReadonlyMap<string, { step: Step; why: Omit<Stuck, 'kind'> }>,
  command: string,
): string {
  const groups = Map.groupBy(waiting, ([, { step, why }]) => `${step.tries} ${why.reason}`);
  const details = [...groups.values()].flatMap((items) => {
    const ids = items.map(([id]) => id);
    return items[0] ? groupDetails(ids, items[0][1], command) : [];
  });
  return [
    '### Waiting for support',
    ...details,
    'Temporal does not know our logins: the audit marks an update from here as unverified. `"by"` and `"reason"` may be added, and stay in the history of the run.',
  ].join('\n\n');
}

function groupDetails(
  ids: readonly string[],
  { step, why }: { step: Step; why: Omit<Stuck, 'kind'> },
  command: string,
): string[] {
  const cfeIds = ids.filter((id) => id !== ONLY_ITEM);
  const more = cfeIds.length > MOST_SHOWN ? ` and ${cfeIds.length - MOST_SHOWN} more` : '';
  const actions = Object.entries(step.actions).map(
    ([action, when]) =>
      `- ${when}:\n\n  \`\`\`json\n  ${JSON.stringify(cfeIds[0] === undefined ? { action } : { cfe_id: cfeIds[0], action })}\n  \`\`\``,
  );
  return [
    ...(cfeIds.length > 0 ? [`**CFEs:** ${cfeIds.slice(0, MOST_SHOWN).join(', ')}${more}`] : []),
    `**Reason:** \`${why.reason}\``,
    `**Tried:** ${step.tries}`,
    `**Result:** ${why.explanation}`,
    `**Options:** in the console, by \`${command}\` on the command line, or by the update \`support\` with one of these inputs.`,
    ...actions,
  ];
}

const lastRefusal = ({ action }: SupportRequest, { message }: SupportAnswer): string =>
  `**Last asked for:** \`${action}\`, refused: ${message}`;
