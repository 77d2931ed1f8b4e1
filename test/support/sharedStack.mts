import { startTestStack, type TestStack } from './stacks.ts';

let stack: TestStack | undefined;

/** Jest's globalSetup and globalTeardown of test/e2e: starts the stack that its files share; called again, ends it. */
export default async function sharedStack(): Promise<void> {
  if (stack) return stack.stop();
  stack = await startTestStack();
  process.env['CFE_TEST_STACK'] = stack.dataDir;
}
