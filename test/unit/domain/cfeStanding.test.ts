import { describe, expect, test } from '@jest/globals';
import {
  type CfeFacts,
  type CfeSurroundings,
  fittingActions,
  nextStep,
} from '../../../src/domain/cfeStanding.ts';

const facts = (more: Partial<CfeFacts>): CfeFacts => ({
  status: 'PENDING',
  stuckReason: null,
  isSigned: true,
  isNumberUndecided: false,
  ...more,
});
const QUIET: CfeSurroundings = { originalStatus: null, isAuthorityAway: false, isQueued: false };

describe('what support can do', () => {
  test.each<[Partial<CfeFacts>, string[]]>([
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
    expect(fittingActions(facts(more))).toEqual(actions);
  });
});

describe('what a CFE waits for', () => {
  test.each<[Partial<CfeFacts>, Partial<typeof QUIET> & { originalStatus?: 'PENDING' | 'ACCEPTED' }, string]>(
    [
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
    ],
  )('%j and %j: %s', (more, around, step) => {
    expect(nextStep(facts(more), { ...QUIET, ...around })).toBe(step);
  });
});
