/**
 * Something a person has to put right before the stack can run; the message is printed as it is, without a stack trace.
 */
export class StackError extends Error {
  override readonly name = 'StackError';
}
