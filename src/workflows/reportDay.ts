import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ReportStatus } from '../domain/reportStatus.ts';
import { TASK_QUEUES } from '../temporal.ts';
import {
  activity,
  lookAgain,
  OTHER_CALL,
  OWN_LONG,
  StateAttribute,
  SUPPORT_CALL,
  shouldContinueAsNew,
  withoutCancellation,
} from './common.ts';
import { type Step, supportDesk } from './supportDesk.ts';

/** On the queue of the workflow, whose worker does two at a time (wiring/workers.ts). */
const prepareReport = activity('prepareReport', {
  ...OWN_LONG,
  summary: 'Sum up the day; write and sign its report',
});
const submitReport = activity('submitReport', { ...OTHER_CALL, summary: 'Send the report to the authority' });
const askReport = activity('askReport', { ...OTHER_CALL, summary: 'Ask what the authority made of it' });
const supportReport = activity('supportReport', {
  ...SUPPORT_CALL,
  taskQueue: TASK_QUEUES.calls,
  summary: 'Do what support asks for',
});

const ACTIONS = {
  retry: 'Once mended: look at the day again and go on where it stopped',
  settle: 'To leave the day as the authority has it, and send nothing',
};
const PREPARING: Step = { tries: 'writing and signing the report', actions: ACTIONS };
const SUBMITTING: Step = { tries: 'sending the report to the authority', actions: ACTIONS };
const ASKING: Step = { tries: 'asking the authority what it made of the report', actions: ACTIONS };

/** Pauses while something of the day is still to come: the first, and how they grow. */
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
 * Takes the report of one day from the end of that day to what the authority makes of it, and corrects it for as long as
 * numbers or rates of the day are still to be known. The row says where it stands; whatever wakes the run looks there.
 */
export const reportDay = withoutCancellation(
  async (report: ReportDayInput): Promise<{ status: ReportStatus }> => {
    const pauses = pausesUntilWanted();
    const desk = supportDesk({
      thing: 'report',
      command: 'report retry',
      act: ({ action, by, reason, requestId }) =>
        supportReport({ action, requestId, report, ...(by ? { by } : {}), ...(reason ? { reason } : {}) }),
    });
    for (;;) {
      if (shouldContinueAsNew()) await continueAsNew<typeof reportDay>(report);
      pauses.lookBegins();
      setCurrentDetails('Summing up the day.');
      const next = await desk.untilDone(PREPARING, () => prepareReport(report));
      switch (next.kind) {
        case 'ready': {
          pauses.startAnew();
          setCurrentDetails(SENDING);
          const sent = await desk.untilDone(SUBMITTING, () => submitReport(report));
          if (sent.kind === 'answered') show(sent.status);
          else await pauses.exactly(sent.milliseconds, 'The report is sent again');
          break;
        }
        case 'waits':
          show(next.status);
          setCurrentDetails(`${next.what} It goes on by itself; nothing to do.`);
          await pauses.growing(
            { ...LOOKS, longest: Math.min(LOOKS.longest, next.mostMilliseconds) },
            'Look at the day again',
          );
          break;
        case 'ask':
          show(next.status);
          setCurrentDetails('The authority has it; it is asked by and by what it made of it.');
          await pauses.growing(
            next.isComplete
              ? { first: next.askAfterMilliseconds, growBy: ASKS_GROW_BY, longest: LONGEST_ASK }
              : LOOKS,
            'Ask what the authority made of it',
          );
          show((await desk.untilDone(ASKING, () => askReport(report))).status);
          break;
        case 'ended':
          show(next.status);
          if (pauses.isWanted()) break;
          setCurrentDetails(`Ended: ${next.status}.`);
          return { status: next.status };
      }
    }
  },
);

const SENDING = 'Sending. After an unclear outcome the authority is asked before anything is sent again.';

/** Pauses that the signal `lookAgain` ends. Register it before the first await: no signal is lost. */
function pausesUntilWanted() {
  let wanted = false;
  let rounds = 0;
  setHandler(lookAgain, () => {
    wanted = true;
  });
  const exactly = async (milliseconds: number, summary: string): Promise<void> => {
    if (milliseconds > 0) await condition(() => wanted, milliseconds, { summary });
  };
  return {
    exactly,
    isWanted: (): boolean => wanted,
    startAnew(): void {
      rounds = 0;
    },
    /** Signals from now on ask for another look. */
    lookBegins(): void {
      if (wanted) rounds = 0;
      wanted = false;
    },
    /** Each longer than the one before, since it was last woken or sent. */
    async growing({ first, growBy, longest }: Growth, summary: string): Promise<void> {
      await exactly(Math.min(Math.round(first * growBy ** rounds), longest), summary);
      rounds += 1;
    },
  };
}

function show(status: ReportStatus): void {
  upsertSearchAttributes([{ key: StateAttribute, value: status }]);
}
