import { NoAnswer } from './answers.ts';
import { HeldBack } from './guard.ts';
import { outcomeOf, type Situation, type Unsettled, unsettled } from './outcomes.ts';
import { AnswerTooLarge, Unanswered } from './post.ts';

/**
 * Runs one call to the authority; what came back instead of an answer becomes what the table of outcomes says of it,
 * and `tell` hears its key in that table. Rejects for mistakes of ours only.
 */
export async function settle<T extends { kind: string }>(
  situation: Situation,
  run: () => Promise<T>,
  tell: (answer: string) => void = () => undefined,
): Promise<T | Unsettled> {
  try {
    return await run();
  } catch (error) {
    const { answer, detail } = keyOf(error);
    tell(outcomeOf(situation, answer).answers.includes(answer) ? answer : 'code *');
    return settled(situation, answer, detail) as T | Unsettled; // a situation has no reactions but its own
  }
}

/** The row's reaction as a value: some settle something, though no document came. */
function settled(situation: Situation, answer: string, detail: string | undefined) {
  const { reaction } = outcomeOf(situation, answer);
  const code = answer.replace(/^code /, '');
  if (reaction === 'duplicate' || reaction === 'unknown' || reaction === 'recover') return { kind: reaction };
  if (reaction === 'notYet') return { kind: reaction, code };
  if (reaction === 'refused') {
    return { kind: reaction, reasons: [{ code, message: 'El sobre fue rechazado', detail: null }] };
  }
  return unsettled(situation, answer, detail);
}

function keyOf(error: unknown): { answer: string; detail: string | undefined } {
  if (error instanceof NoAnswer) return { answer: error.answer, detail: error.detail };
  if (error instanceof HeldBack) return { answer: 'held back', detail: undefined };
  if (error instanceof AnswerTooLarge) return { answer: 'too large', detail: undefined };
  if (error instanceof Unanswered) {
    return { answer: error.sent ? 'no answer' : 'unreached', detail: error.message };
  }
  throw error;
}
