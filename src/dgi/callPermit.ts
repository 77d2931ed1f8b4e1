import type { Endpoint } from '../domain/breaker.ts';
import { NoAnswer } from './answers.ts';
import type { Answer } from './outcomes.ts';
import { AnswerTooLarge, Unanswered } from './post.ts';

/** A call that is about to be made. */
export interface PlannedCall {
  readonly endpoint: Endpoint;
  /** Whether it is the probe of an endpoint whose breaker is open; others probe only while no CFE is the prober. */
  readonly isProbe: boolean;
}

/** Leave to make one call; whoever holds it reports how the call ended. */
export interface CallPermit {
  ended(how: 'answered' | 'failed'): Promise<void>;
}

/** The breakers of the authority's endpoints: a permit for each call, or null while the endpoint is away. */
export interface Breakers {
  permit(call: PlannedCall): Promise<CallPermit | null>;
}

/** The endpoint's breaker is open and this call is not its probe: nothing was sent. */
export class HeldBack extends Error {
  override readonly name = 'HeldBack';
}

/** What comes back in place of an answer, whoever asks and whatever was asked. */
const NO_ANSWERS: readonly Answer[] = ['http', 'fault', 'unreadable'];

/** Whether an error tells that the endpoint gave no proper answer; the content of an answer never does. */
function isFailure(error: unknown): boolean {
  if (error instanceof NoAnswer) return NO_ANSWERS.includes(error.answer);
  return error instanceof Unanswered || error instanceof AnswerTooLarge;
}

/** Makes a call if the breakers permit it, and reports how it ended. Throws HeldBack, and what `run` throws. */
export async function withPermit<T>(
  breakers: Breakers | undefined,
  call: PlannedCall,
  run: () => Promise<T>,
): Promise<T> {
  if (!breakers) return run();
  const permit = await breakers.permit(call);
  if (!permit) throw new HeldBack('held back');
  try {
    const answer = await run();
    await permit.ended('answered');
    return answer;
  } catch (error) {
    await permit.ended(isFailure(error) ? 'failed' : 'answered');
    throw error;
  }
}
