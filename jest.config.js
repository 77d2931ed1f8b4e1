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
  setupFiles: ['<rootDir>/test/support/jest/withoutNavigator.js'],
};

/** A folder of test/ as a Jest project of its own. */
const project = (name, more = {}) => ({
  ...common,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  ...more,
});

/** Files of one worker share their modules; see the runner. Not for what needs a process of its own. */
const ONE_REGISTRY = { testRunner: '<rootDir>/test/support/jest/oneRegistry.js', setupFiles: [] };

const SHARED_STACK = '<rootDir>/test/support/sharedStack.mts';

export default {
  projects: [
    // What is read of the sources and the pages, without running them: `npm run check`.
    project('house', ONE_REGISTRY),
    project('unit', ONE_REGISTRY),
    project('replay', ONE_REGISTRY),
    project('integration', ONE_REGISTRY),
    project('workflows', ONE_REGISTRY),
    project('e2e', { ...ONE_REGISTRY, globalSetup: SHARED_STACK, globalTeardown: SHARED_STACK }),
    project('long'),
  ],
  testSequencer: '<rootDir>/test/support/jest/slowestFirst.js',
  // For what hangs: whatever is waited for has a deadline of its own, and says so (test/support/until.ts).
  testTimeout: 10 * 60_000,
};
