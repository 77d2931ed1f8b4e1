import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { silent, workflowBundle } from '../support/temporal.ts';

const HISTORIES = join(import.meta.dirname, 'histories');
const names = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));
const historyOf = (name: string, folder = HISTORIES): unknown =>
  JSON.parse(readFileSync(join(folder, name), 'utf8'));
/** Of runs that had not ended when the version before was replaced. */
const UNENDED = join(import.meta.dirname, '../fixtures/upgrade/histories');

/**
 * How each workflow may end, and by which ways; CONTRIBUTING.md tells how a history is added. Each is there twice: from
 * before activities' results were told apart by `kind` (domain/oldActivityResults.ts), and since; those of `issueCfe`
 * once more since they sign within the workflow task (patch `issueCfe-saves-events`).
 */
const ENDINGS = {
  issueCfe: [
    'accepted',
    'observed',
    'rejected',
    'sobreRefused',
    'undecidedThenObserved',
    'noteAfterAcceptedOriginal',
    'noteAfterRejectedOriginal',
    'waitedForItsTurn',
    'calledBeforeItWaited',
    'signCfeRetried',
    'submitCfeRetried',
    'awaitVerdictRetried',
    'settledByAsking',
    'abandoned',
    'abandonedUnsigned',
    'abandonedToOthers',
    'abandonRefusedThenRetried',
  ],
  onboardEnterprise: ['readyAfterChange', 'readyByDate'],
  validateCredentials: ['success', 'failed', 'permissions_updated', 'joined', 'nothing_to_do'],
  deliverWebhook: [
    'deliveredAtOnce',
    'deliveredAtTheFirstRetry',
    'deliveredAtTheLastRetry',
    'failed',
    'redelivered',
    'askedForWhileEnding',
  ],
  tellExpiries: ['told'],
};

/** Ways that only runs since the results are told apart by `kind` can have gone. */
const SINCE_KIND = [
  'issueCfe.signedByActivity.atOnce.json',
  ...['signCfe', 'submitCfe', 'awaitVerdict'].map((step) => `issueCfe.${step}FailedByUs.atOnce.json`),
  'issueCfe.submitCfeFailedByUsThenWaited.atOnce.json',
  'deliverWebhook.askedForWhileWaiting.kind.json',
  ...[
    'sentAtOnce',
    'sentAtARetry',
    'refused',
    'failed',
    'disabled',
    'resent',
    'askedForWhileWaiting',
    'askedForWhileEnding',
  ].map((ending) => `deliverReceipt.${ending}.kind.json`),
  'purgeExpired.purged.kind.json',
  ...[
    'consistent',
    'waitedForVerdicts',
    'woken',
    'corrected',
    'sentAgain',
    'refusedThenRetried',
    'settledThoughItDiffers',
    'superseded',
    'lookedOnceMore',
  ].map((ending) => `reportDay.${ending}.kind.json`),
  'startDailyReports.started.kind.json',
  'askRejected.all.kind.json',
  'askRejected.one.kind.json',
  'exchangeCfe.onItsWay.kind.json',
  'exchangeCfe.notElectronic.kind.json',
  'exchangeCfe.noAddress.kind.json',
  'loadDirectory.loaded.kind.json',
  'loadDirectory.nobodyToAsk.kind.json',
  ...['done', 'stopped', 'cancelled'].map((ending) => `bulkRun.${ending}.kind.json`),
  ...['done', 'stopped', 'cancelled'].map((ending) => `exportReceipts.${ending}.kind.json`),
  // Since they tell their status (patch `deliverWebhook-tells-status`).
  ...['toldDelivered', 'toldFailed'].map((ending) => `deliverWebhook.${ending}.kind.json`),
];

/** Ways that only runs from before the patch `support-acts` can have gone. */
const UNPATCHED = ['signCfe', 'submitCfe', 'awaitVerdict'].map(
  (step) => `issueCfe.${step}StuckThenRetried.json`,
);

describe('workflows already under way survive the present code', () => {
  test('every ending of every workflow has its history, and no history stands aside', () => {
    const wanted = Object.entries(ENDINGS).flatMap(([workflow, endings]) =>
      endings.flatMap((ending) =>
        ['', '.kind', ...(workflow === 'issueCfe' ? ['.atOnce'] : [])].map(
          (shape) => `${workflow}.${ending}${shape}.json`,
        ),
      ),
    );
    expect(names.toSorted()).toEqual([...wanted, ...SINCE_KIND, ...UNPATCHED].toSorted());
  });

  test('every workflow that the worker carries is among them', () => {
    const index = readFileSync(join(import.meta.dirname, '../../src/workflows/index.ts'), 'utf8');
    const carried = [...index.matchAll(/export \{ (\w+) \}/g)].map(([, workflow = '']) => workflow);
    const known = new Set([
      ...Object.keys(ENDINGS),
      ...SINCE_KIND.flatMap((name) => name.split('.').slice(0, 1)),
    ]);
    expect([...known].toSorted()).toEqual(carried.toSorted());
  });

  test.each(names)('%s', async (name) => {
    await Worker.runReplayHistory({ workflowBundle }, historyOf(name), name);
  });

  test.each(readdirSync(UNENDED))('under way when the version before was replaced: %s', async (name) => {
    await Worker.runReplayHistory({ workflowBundle }, historyOf(name, UNENDED), name);
  });
});

test('a workflow that was changed in its steps fails the replay', async () => {
  const src = join(import.meta.dirname, '../../src');
  const changed = mkdtempSync(join(tmpdir(), 'cfe-replay-'));
  try {
    for (const folder of ['workflows', 'domain', 'activities']) {
      cpSync(join(src, folder), join(changed, 'src', folder), { recursive: true });
    }
    cpSync(join(src, 'temporal.ts'), join(changed, 'src/temporal.ts'));
    const file = join(changed, 'src/workflows/issueCfe.ts');
    const text = readFileSync(file, 'utf8');
    const first = 'const signed = await desk';
    expect(text).toContain(first);
    writeFileSync(file, text.replace(first, `await condition(() => false, 1_000);\n  ${first}`));
    const changedBundle = await bundleWorkflowCode({
      workflowsPath: join(changed, 'src/workflows/index.ts'),
      logger: silent,
      webpackConfigHook: (config) => ({
        ...config,
        resolve: { ...config.resolve, modules: [join(import.meta.dirname, '../../node_modules')] },
      }),
    });

    const name = 'issueCfe.accepted.json';
    const replay = Worker.runReplayHistory({ workflowBundle: changedBundle }, historyOf(name), name);

    await expect(replay).rejects.toThrow(DeterminismViolationError);
  } finally {
    rmSync(changed, { recursive: true, force: true });
  }
});
