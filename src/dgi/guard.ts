import type { Endpoint } from '../domain/breaker.ts';
import { NoAnswer } from './answers.ts';
import { AnswerTooLarge, Unanswered } from './post.ts';

/** A call that is about to be made. */
export interface GuardedCall {
  readonly endpoint: Endpoint;
  /** Whether it is the call that is to try an endpoint that is away; others try it only where there is no such. */
  readonly isProbe: boolean;
}

/** Leave to make one call; whoever has it tells how the call ended. */
export interface Pass {
  ended(how: 'answered' | 'failed'): Promise<void>;
}

/** Who says whether a call may go to an endpoint of the authority: null while that is away. */
export interface Guard {
  pass(call: GuardedCall): Promise<Pass | null>;
}

/** The endpoint is away: nothing was sent, for it is tried by one call at a time. */
export class HeldBack extends Error {
  override readonly name = 'HeldBack';
}

/** What comes back in place of an answer, whoever asks and whatever was asked. */
const NO_ANSWERS = new Set(['http', 'fault', 'unreadable']);

/** Whether an error tells that the endpoint gave no proper answer; the content of an answer never does. */
function isFailure(error: unknown): boolean {
  if (error instanceof NoAnswer) return NO_ANSWERS.has(error.answer);
  return error instanceof Unanswered || error instanceof AnswerTooLarge;
}

/** Makes a call if the guard lets it, and tells the guard how it ended. Throws HeldBack, and what `run` throws. */
export async function guarded<T>(
  guard: Guard | undefined,
  call: GuardedCall,
  run: () => Promise<T>,
): Promise<T> {
  if (!guard) return run();
  const pass = await guard.pass(call);
  if (!pass) throw new HeldBack('held back');
  try {
    const answer = await run();
    await pass.ended('answered');
    return answer;
  } catch (error) {
    await pass.ended(isFailure(error) ? 'failed' : 'answered');
    throw error;
  }
}
