import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ReportStatus } from '../domain/reports/reportStatus.ts';
import { TASK_QUEUES } from '../temporal.ts';
import {
  activity,
  LONG_WORK,
  lookAgain,
  OTHER_CALL,
  StateAttribute,
  SUPPORT_CALL,
  shouldContinueAsNew,
  withoutCancellation,
} from './common.ts';
import { createSupportDesk, type Step } from './supportDesk.ts';

/** Runs on the workflow's own queue, whose worker runs two at a time (wiring/temporal/workers.ts). */
const prepareReport = activity('prepareReport', {
  ...LONG_WORK,
  summary: 'Sum up the day; write and sign its report',
});
const submitReport = activity('submitReport', { ...OTHER_CALL, summary: 'Send the report to the authority' });
const askReport = activity('askReport', { ...OTHER_CALL, summary: 'Ask the authority for its result' });
const supportReport = activity('supportReport', {
  ...SUPPORT_CALL,
  taskQueue: TASK_QUEUES.calls,
  summary: 'Do what support asks for',
});

const ACTIONS = {
  retry: 'Once corrected: look at the day again and continue where it stopped',
  settle: 'To leave the day as the authority has it, and send nothing',
};
const PREPARING: Step = { tries: 'writing and signing the report', actions: ACTIONS };
const SUBMITTING: Step = { tries: 'sending the report to the authority', actions: ACTIONS };
const ASKING: Step = { tries: 'asking the authority for its result', actions: ACTIONS };

/** Pauses while the day is incomplete: the first, and their growth. */
const FIRST_LOOK = 5_000;
const LOOKS_GROW_BY = 1.5;
const ASKS_GROW_BY = 2;
const LONGEST_LOOK = 21_600_000;
const LONGEST_ASK = 86_400_000;

/** Pauses in milliseconds. */
interface Growth {
  readonly first: number;
  readonly growBy: number;
  readonly longest: number;
}
const LOOKS: Growth = { first: FIRST_LOOK, growBy: LOOKS_GROW_BY, longest: LONGEST_LOOK };

export interface ReportDayInput {
  rut: string;
  environment: 'production' | 'sandbox';
  date: string;
}

/**
 * Takes the report of one day from the end of that day to the authority's result, and corrects it while
 * numbers or rates of the day are still unknown. The row has its state, which every wake-up reads again.
 */
export const reportDay = withoutCancellation(
  async (report: ReportDayInput): Promise<{ status: ReportStatus }> => {
    const pauses = createPauses();
    const desk = createSupportDesk({
      subject: 'report',
      command: 'report retry',
      act: ({ action, by, reason, requestId }) =>
        supportReport({ action, requestId, report, ...(by ? { by } : {}), ...(reason ? { reason } : {}) }),
    });
    for (;;) {
      if (shouldContinueAsNew()) await continueAsNew<typeof reportDay>(report);
      pauses.startLook();
      setCurrentDetails('Summing up the day.');
      const next = await desk.retryUntilDone(PREPARING, () => prepareReport(report));
      switch (next.kind) {
        case 'ready': {
          pauses.reset();
          setCurrentDetails(SENDING);
          const sent = await desk.retryUntilDone(SUBMITTING, () => submitReport(report));
          if (sent.kind === 'answered') showStatus(sent.status);
          else await pauses.pauseFor(sent.milliseconds, 'The report is sent again');
          break;
        }
        case 'waits':
          showStatus(next.status);
          setCurrentDetails(`${next.what} It continues automatically; nothing to do.`);
          await pauses.pauseLonger(
            { ...LOOKS, longest: Math.min(LOOKS.longest, next.mostMilliseconds) },
            'Look at the day again',
          );
          break;
        case 'ask':
          showStatus(next.status);
          setCurrentDetails('The authority has it; it is asked for its result from time to time.');
          await pauses.pauseLonger(
            next.isComplete
              ? { first: next.askAfterMilliseconds, growBy: ASKS_GROW_BY, longest: LONGEST_ASK }
              : LOOKS,
            'Ask the authority for its result',
          );
          showStatus((await desk.retryUntilDone(ASKING, () => askReport(report))).status);
          break;
        case 'ended':
          showStatus(next.status);
          if (pauses.isWanted()) break;
          setCurrentDetails(`Ended: ${next.status}.`);
          return { status: next.status };
      }
    }
  },
);

const SENDING = 'Sending. After an unclear outcome the authority is asked before anything is sent again.';

/** Creates pauses that the signal `lookAgain` ends. Must be called before the first await, to lose no signal. */
function createPauses() {
  let wanted = false;
  let rounds = 0;
  setHandler(lookAgain, () => {
    wanted = true;
  });
  const pauseFor = async (milliseconds: number, summary: string): Promise<void> => {
    if (milliseconds > 0) await condition(() => wanted, milliseconds, { summary });
  };
  return {
    pauseFor,
    isWanted: (): boolean => wanted,
    reset(): void {
      rounds = 0;
    },
    /** Starts a look at the day; a signal from now on requests another one. */
    startLook(): void {
      if (wanted) rounds = 0;
      wanted = false;
    },
    /** Makes each pause longer than the one before, until a signal or send. */
    async pauseLonger({ first, growBy, longest }: Growth, summary: string): Promise<void> {
      await pauseFor(Math.min(Math.round(first * growBy ** rounds), longest), summary);
      rounds += 1;
    },
  };
}

function showStatus(status: ReportStatus): void {
  upsertSearchAttributes([{ key: StateAttribute, value: status }]);
}
