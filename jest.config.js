/** Jest runs the TypeScript sources as they stand (ES modules, types stripped by swc); no build step. */
const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/.local', '<rootDir>/node_modules'],
  setupFiles: ['<rootDir>/test/support/withoutNavigator.js'],
};

/** A folder of test/ as a Jest project of its own. */
const project = (name, more = {}) => ({
  ...common,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  ...more,
});

const SHARED_STACK = '<rootDir>/test/support/sharedStack.mts';

export default {
  projects: [
    project('unit'),
    project('replay'),
    project('integration'),
    project('workflows'),
    project('e2e', { globalSetup: SHARED_STACK, globalTeardown: SHARED_STACK }),
    project('long'),
  ],
  // For what hangs: whatever is waited for has a deadline of its own, and says so (test/support/until.ts).
  testTimeout: 10 * 60_000,
};
