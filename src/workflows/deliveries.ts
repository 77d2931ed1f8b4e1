import { setCurrentDetails, setHandler } from '@temporalio/workflow';
import { deliverAgain } from './messages.ts';

/** How the attempts of one delivery are made. */
interface Attempts<R> {
  /** Milliseconds from each failure to the next attempt. */
  readonly delays: readonly number[];
  /** Makes one; `retriesLeft` more follow if it is not taken. */
  readonly attempt: (retriesLeft: number) => Promise<R>;
  /** Waits for the next one; false when one was asked for before its time. */
  readonly pause: (milliseconds: number, summary: string, askedAgain: () => boolean) => Promise<boolean>;
  /** Details while an attempt is under way, and the verb of the command line that tells why one was not taken. */
  readonly sending: string;
  readonly verb: string;
}

/**
 * Makes the attempts of a delivery: at once and then by the schedule, until one says something else than `pending`, or the
 * schedule ends. A request to deliver again starts the schedule anew: at once while the next attempt is waited for, else
 * when the attempt under way has ended, so that none is lost. Answers the last result. Call it before the first await.
 */
export async function deliver<R extends { kind: string }>(attempts: Attempts<R>): Promise<R> {
  let again = false;
  setHandler(deliverAgain, () => {
    again = true;
  });
  let result: R;
  do {
    again = false;
    result = await bySchedule(attempts, () => again);
  } while (again);
  return result;
}

async function bySchedule<R extends { kind: string }>(
  { delays, attempt, pause, sending, verb }: Attempts<R>,
  askedAgain: () => boolean,
): Promise<R> {
  for (let made = 0; ; made += 1) {
    setCurrentDetails(sending);
    const result = await attempt(delays.length - made);
    const delay = delays[made];
    if (result.kind !== 'pending' || delay === undefined) return result;
    setCurrentDetails(`Not taken ${made + 1} times; sent again by itself. \`${verb}\` tells why.`);
    const isOver = await pause(delay, `Retry ${made + 1} of ${delays.length}`, askedAgain);
    if (!isOver) return result;
  }
}
