import { afterAll, beforeAll } from '@jest/globals';
import type { TestStack } from './stacks.ts';

/** The stack of a test file: opened before its tests, ended after them. `prepare` is done once it is there. */
export function useStack(
  open: () => Promise<TestStack>,
  prepare?: (stack: TestStack) => Promise<unknown>,
): TestStack {
  const stack: Partial<TestStack> = {};
  beforeAll(async () => {
    Object.assign(stack, await open());
    // The tests run after this has filled it.
    await prepare?.(stack as TestStack);
  });
  afterAll(() => stack.stop?.());
  return stack as TestStack;
}
