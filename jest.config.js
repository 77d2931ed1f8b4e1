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
};

/** A folder of test/ as a Jest project of its own. */
const project = (name, more = {}) => ({
  ...common,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  ...more,
});

export default {
  projects: [
    project('unit'),
    project('replay'),
    project('integration'),
    project('workflows'),
    project('e2e'),
  ],
  testTimeout: 60_000,
};
