/** Something that a person has to put right before the stack can run; the message is printed as it is, without frames. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
