import { createRequire, registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import './withoutNavigator.js';

/**
 * A test runner for Jest: circus in the worker's own context instead of a sandbox per file. Files of one worker share
 * one registry of modules, so a module (and what it keeps: keys, compiled schemas) is loaded once per worker.
 */
const require = createRequire(createRequire(import.meta.url).resolve('jest/package.json'));
const core = createRequire(require.resolve('@jest/core'));
const runner = createRequire(core.resolve('jest-runner'));
const circusFile = createRequire(core.resolve('jest-config')).resolve('jest-circus');
const circusRequire = createRequire(circusFile);
const adapter = circusRequire(join(dirname(circusFile), 'jestAdapterInit.js'));
const stateOf = () =>
  Object.getOwnPropertySymbols(globalThis).filter(({ description }) => description === 'JEST_STATE_SYMBOL');
// Jest keeps the state of circus to itself; a second copy of circus makes fresh states for the first.
const [STATE] = stateOf();
const circus = circusRequire(circusFile);
const { ModuleMocker } = runner('jest-mock');
const { ModernFakeTimers } = createRequire(core.resolve('jest-config'))('@jest/fake-timers');

const GLOBALS = 'jest-globals:all';
const NAMES = [
  'afterAll',
  'afterEach',
  'beforeAll',
  'beforeEach',
  'describe',
  'expect',
  'it',
  'jest',
  'test',
];
const FACADE = `const all = globalThis[Symbol.for('${GLOBALS}')];
${NAMES.map((name) => `export const ${name} = all.${name};`).join('\n')}`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: GLOBALS, format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === GLOBALS ? { format: 'module', source: FACADE, shortCircuit: true } : next(url, context),
});

const mocker = new ModuleMocker(globalThis);
let timers;

function offer(globals, config) {
  timers ??= new ModernFakeTimers({ config, global: globalThis });
  globalThis[Symbol.for(GLOBALS)] ??= {
    ...globals,
    jest: {
      fn: mocker.fn.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      restoreAllMocks: () => mocker.restoreAllMocks(),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
      advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
    },
  };
}

export default async function runFile(globalConfig, config, environment, runtime, testPath, send) {
  circus.resetState();
  globalThis[STATE] = circus.getState();
  const handlers = globalThis[Symbol.for('EVENT_HANDLERS')];
  const own = handlers.length;
  const variables = { ...process.env };
  await adapter.initialize({
    config,
    environment,
    globalConfig,
    localRequire: require,
    parentProcess: process,
    runtime,
    sendMessageToJest: send,
    setGlobalsForRuntime: (globals) => offer(globals, config),
    testPath,
  });
  try {
    await import(pathToFileURL(testPath).href);
    const setup = { setupAfterEnvStart: 0, setupAfterEnvEnd: 0 };
    return await adapter.runAndTransformResultsToJestFormat({
      config,
      globalConfig,
      setupAfterEnvPerfStats: setup,
      testPath,
    });
  } finally {
    handlers.length = own;
    mocker.restoreAllMocks();
    timers.useRealTimers();
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
    Object.assign(process.env, variables);
  }
}
