import { describe, expect, test } from '@jest/globals';
import {
  actionsForStuckKinds,
  allowedSupportActions,
  type CfeProgress,
  type CfeSurroundings,
  forecastSupportAction,
  nextStepOfCfe,
} from '../../../../src/domain/operations/cfeProgress.ts';

const facts = (more: Partial<CfeProgress>): CfeProgress => ({
  status: 'PENDING',
  stuckReason: null,
  isSigned: true,
  isNumberUndecided: false,
  ...more,
});
const QUIET: CfeSurroundings = { originalStatus: null, isAuthorityAway: false, isQueued: false };

describe('what support can do', () => {
  test.each<[Partial<CfeProgress>, string[]]>([
    [{}, []],
    [{ status: 'RECEIVED' }, []],
    [{ stuckReason: 'signing', isSigned: false }, ['retry', 'abandon']],
    [{ stuckReason: 'authority.certificate' }, ['retry', 'settle', 'abandon']],
    [{ status: 'RECEIVED', stuckReason: 'undecided' }, ['retry', 'settle']],
    [{ status: 'RECEIVED', stuckReason: 'duplicate.not_ours' }, ['retry', 'settle', 'abandon']],
    [{ status: 'RECEIVED', stuckReason: 'internal' }, []],
    [{ status: 'ACCEPTED' }, []],
    [{ status: 'REJECTED' }, []],
    [{ status: 'REJECTED', isNumberUndecided: true }, ['settle', 'abandon']],
  ])('%j: %j', (more, actions) => {
    expect(allowedSupportActions(facts(more))).toEqual(actions);
  });
});

describe('what one action would come to with many', () => {
  const kinds = [
    { status: 'PENDING', stuckReason: 'signing', isSigned: false, count: 5 },
    { status: 'PENDING', stuckReason: 'signing', isSigned: true, count: 3 },
    { status: 'RECEIVED', stuckReason: 'undecided', isSigned: true, count: 7 },
    { status: 'RECEIVED', stuckReason: 'duplicate.not_ours', isSigned: true, count: 1 },
    // A mistake of ours, which waits for no support.
    { status: 'PENDING', stuckReason: 'internal', isSigned: false, count: 2 },
  ] as const;
  test.each([
    ['retry', 16, []],
    ['settle', 11, [['never_sent', 5]]],
    ['abandon', 9, [['held', 7]]],
  ] as const)('%s fits %i, and the others would be refused: %j', (action, fits, refused) => {
    const fit = forecastSupportAction(action, kinds);
    expect([fit.fits, [...fit.refused], fit.left]).toEqual([fits, refused, 2]);
  });

  test('an action is offered where it fits one of them at least', () => {
    expect(actionsForStuckKinds(kinds)).toEqual(['retry', 'settle', 'abandon']);
    expect(actionsForStuckKinds(kinds.slice(0, 1))).toEqual(['retry', 'abandon']);
    expect(actionsForStuckKinds(kinds.slice(2, 3))).toEqual(['retry', 'settle']);
    expect(actionsForStuckKinds(kinds.slice(4))).toEqual([]);
    expect(actionsForStuckKinds([])).toEqual([]);
  });
});

describe('what a CFE waits for', () => {
  test.each<
    [Partial<CfeProgress>, Partial<typeof QUIET> & { originalStatus?: 'PENDING' | 'ACCEPTED' }, string]
  >([
    [{ isSigned: false }, {}, 'sign'],
    [{}, {}, 'send'],
    [{}, { isQueued: true }, 'slot'],
    [{}, { isQueued: true, isAuthorityAway: true }, 'authority'],
    [{}, { originalStatus: 'PENDING', isAuthorityAway: true }, 'original'],
    [{}, { originalStatus: 'ACCEPTED' }, 'send'],
    [{ status: 'RECEIVED' }, {}, 'ask'],
    [{ status: 'RECEIVED' }, { isAuthorityAway: true }, 'authority'],
    [{ stuckReason: 'undecided' }, { isAuthorityAway: true }, 'support'],
    [{ status: 'OBSERVED' }, { isAuthorityAway: true }, 'ended'],
    [{ status: 'REJECTED', isNumberUndecided: true }, {}, 'portal'],
  ])('%j and %j: %s', (more, around, step) => {
    expect(nextStepOfCfe(facts(more), { ...QUIET, ...around })).toBe(step);
  });
});
