import { expect, test } from '@jest/globals';
import type { ActivityResults } from '../../../src/domain/activityResults.ts';
import { presentResult, withOldFields } from '../../../src/domain/oldActivityResults.ts';

const STUCK = { kind: 'stuck', reason: 'undecided', explanation: 'Ask the authority.' } as const;
const OLD_STUCK = { stuck: 'undecided', explanation: 'Ask the authority.' } as const;

type OldActivity = Parameters<typeof withOldFields>[0];

test.each<{ [N in OldActivity]: [N, ActivityResults[N], old: object] }[OldActivity]>([
  ['signCfe', { kind: 'signed' }, { waitsForOriginal: false }],
  ['signCfe', { kind: 'waitsForOriginal' }, { waitsForOriginal: true }],
  ['signCfe', STUCK, OLD_STUCK],
  ['submitCfe', { kind: 'received' }, { status: 'RECEIVED' }],
  ['submitCfe', { kind: 'waits' }, { status: 'WAITS' }],
  ['submitCfe', { kind: 'decided', status: 'REJECTED' }, { status: 'REJECTED' }],
  ['submitCfe', STUCK, OLD_STUCK],
  ['awaitVerdict', { kind: 'decided', status: 'OBSERVED' }, { status: 'OBSERVED' }],
  ['awaitVerdict', STUCK, OLD_STUCK],
  ['supportCfe', { kind: 'refused', message: 'No.' }, { outcome: 'refused', message: 'No.' }],
  ['attemptDelivery', { kind: 'delivered' }, { status: 'DELIVERED' }],
  ['attemptDelivery', { kind: 'failed' }, { status: 'FAILED' }],
  ['attemptDelivery', { kind: 'pending' }, { status: 'PENDING' }],
  ['makeReadyWhenComplete', { kind: 'ready' }, { ready: true, lacking: [], dueInMilliseconds: null }],
  [
    'makeReadyWhenComplete',
    { kind: 'lacking', lacking: ['a plan'], dueInMilliseconds: 5 },
    { ready: false, lacking: ['a plan'], dueInMilliseconds: 5 },
  ],
  ['recordExpiries', { kind: 'told', enterprises: 3 }, { told: 3 }],
  ['validateLogin', { kind: 'checked', result: 'success' }, { result: 'success' }],
  ['validateLogin', { kind: 'nothingToDo' }, { result: null }],
])('%s: %j is read from the old shape, and by workers that know only that', (name, present, old) => {
  expect(presentResult(name, old as never)).toEqual(present);
  const both = withOldFields(name, present);
  expect(both).toEqual({ ...old, ...present });
  expect(presentResult(name, both)).toEqual(both);
});
