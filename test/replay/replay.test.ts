import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../../src/searchAttributes.ts';
import * as workflows from '../../src/workflows/index.ts';
import { readHistory } from '../support/temporal/histories.ts';
import { silent, workflowBundle } from '../support/temporal/temporal.ts';

const HISTORIES = join(import.meta.dirname, 'histories');
const names = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));
const historyOf = (name: string): unknown => readHistory(join(HISTORIES, name));

/** How each workflow may end, and by which ways; CONTRIBUTING.md tells how a history is added. */
const ENDINGS = {
  issueCfes: [
    'accepted',
    'observed',
    'rejected',
    'mixed',
    'left',
    'hundred',
    'undecidedThenAccepted',
    'waitedForItsTurn',
    'calledBeforeItWaited',
    'failedByUs',
    'cancelled',
    'continuedAsNew',
    'signRetried',
    'sendRetried',
    'askRetried',
    'settledByAsking',
    'abandoned',
    'abandonedUnsigned',
    'abandonedToOthers',
    'abandonRefusedThenRetried',
    'someStuck',
    'allStuck',
    'cancelledWhileStuck',
  ],
  onboardEnterprise: ['readyAfterChange', 'readyByDate', 'cancelledInVain'],
  validateCredentials: [
    'success',
    'failed',
    'permissions_updated',
    'joined',
    'nothing_to_do',
    'cancelledInVain',
  ],
  checkCaeStart: ['fine', 'waitedForACertificate', 'askedAgain', 'cancelledInVain'],
  deliverWebhook: [
    'deliveredAtOnce',
    'deliveredAtTheFirstRetry',
    'deliveredAtTheLastRetry',
    'failed',
    'redelivered',
    'askedForWhileWaiting',
    'askedForWhileEnding',
    'cancelledInVain',
  ],
  deliverReceipt: [
    'sentAtOnce',
    'sentAtARetry',
    'refused',
    'failed',
    'disabled',
    'resent',
    'askedForWhileWaiting',
    'askedForWhileEnding',
    'cancelledInVain',
  ],
  reportDay: [
    'consistent',
    'waitedForVerdicts',
    'woken',
    'corrected',
    'sentAgain',
    'refusedThenRetried',
    'settledThoughItDiffers',
    'superseded',
    'lookedOnceMore',
    'continuedAsNew',
    'wentOnAsNew',
    'cancelledInVain',
  ],
  exchangeCfe: ['onItsWay', 'notElectronic', 'noAddress', 'cancelledInVain'],
  bulkRun: ['done', 'stopped', 'cancelled'],
  homologation: ['ready', 'failed', 'stopped', 'startedAgain', 'cancelled'],
  exportReceipts: ['done', 'stopped', 'cancelled'],
  askRejected: ['all', 'one'],
  loadDirectory: ['loaded', 'nobodyToAsk'],
  purgeExpired: ['purged'],
  recoverRuns: ['startedAgain'],
  startDailyReports: ['started'],
  tellExpiries: ['told'],
};

/** Types of search attributes as payloads name them, and Temporal's numbers for them. */
const INDEXED: Readonly<Record<string, number>> = { Keyword: 2, Bool: 5, KeywordList: 7 };

/** What a history says that its workflow set. */
function attributesSetIn(name: string): { attribute: string; type: string }[] {
  const { events } = historyOf(name) as {
    events: {
      upsertWorkflowSearchAttributesEventAttributes?: {
        searchAttributes: { indexedFields: Record<string, { metadata: { type: string } }> };
      };
    }[];
  };
  return events.flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) =>
    Object.entries(upsert?.searchAttributes.indexedFields ?? {}).map(([attribute, { metadata }]) => ({
      attribute,
      type: Buffer.from(metadata.type, 'base64').toString(),
    })),
  );
}

describe('workflows already in progress survive the present code', () => {
  test('every ending of every workflow has its history, and no history stands aside', () => {
    const wanted = Object.entries(ENDINGS).flatMap(([workflow, endings]) =>
      endings.map((ending) => `${workflow}.${ending}.json`),
    );
    expect(names.toSorted()).toEqual(wanted.toSorted());
  });

  test('every workflow that the worker carries is among them', () => {
    expect(Object.keys(ENDINGS).toSorted()).toEqual(Object.keys(workflows).toSorted());
  });

  // The replay compares no attributes, and a server that lacks one fails every workflow task that sets it.
  test('every search attribute that they set is one of ours, with its type', () => {
    const registered: Readonly<Record<string, number>> = SEARCH_ATTRIBUTES;
    const set = names.flatMap((name) => attributesSetIn(name).map((one) => ({ name, ...one })));

    expect(new Set(set.map(({ attribute }) => attribute))).toEqual(
      new Set(['CfeStatus', 'State', 'NeedsSupport', 'StuckReason']),
    );
    expect(set.filter(({ attribute, type }) => registered[attribute] !== INDEXED[type])).toEqual([]);
  });

  test.each(names)('%s', async (name) => {
    await Worker.runReplayHistory({ workflowBundle }, historyOf(name), name);
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
    const file = join(changed, 'src/workflows/issueCfes.ts');
    const text = readFileSync(file, 'utf8');
    const first = 'const result = await desk';
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

    const name = 'issueCfes.accepted.json';
    const replay = Worker.runReplayHistory({ workflowBundle: changedBundle }, historyOf(name), name);

    await expect(replay).rejects.toThrow(DeterminismViolationError);
  } finally {
    rmSync(changed, { recursive: true, force: true });
  }
});
