import { describe, expect, test } from '@jest/globals';
import { directivesIn, together } from '../../../local/simulator/judge/directives.ts';

const NONE = directivesIn('Yerba 1 kg');

describe('directivesIn', () => {
  test('an ordinary name orders nothing', () => {
    expect(NONE).toEqual({
      reject: null,
      observe: null,
      delaySeconds: null,
      lost: false,
      oddState: null,
      lateSeconds: null,
      unknown: false,
      sobre: null,
      faults: 0,
      downSeconds: 0,
    });
  });

  test.each([
    ['SIM REJECT E05', { reject: 'E05' }],
    ['SIM DELAY 20', { delaySeconds: 20 }],
    ['SIM DELAY 0', { delaySeconds: 0 }],
    ['SIM LOST', { lost: true }],
    ['SIM OBSERVE', { observe: 'C06' }],
    ['SIM OBSERVE C12', { observe: 'C12' }],
    ['SIM SOBRE S04', { sobre: 'S04' }],
    ['SIM STATE FE', { oddState: 'FE' }],
    ['SIM LATE 20', { lateSeconds: 20 }],
    ['SIM UNKNOWN', { unknown: true }],
    ['SIM FAULT 2', { faults: 2 }],
    ['SIM DOWN 30', { downSeconds: 30 }],
    ['Yerba SIM LOST', { lost: true }],
    ['SIM LOST DELAY 5', { lost: true, delaySeconds: 5 }],
    ['SIM FAULT 1 SIM REJECT E09', { faults: 1, reject: 'E09' }],
    ['SIM OBSERVE DELAY 3', { observe: 'C06', delaySeconds: 3 }],
  ])('reads %s', (name, expected) => {
    expect(directivesIn(name)).toEqual({ ...NONE, ...expected });
  });

  test.each([
    'SIMULADOR LOST',
    'SIM REJECT E99',
    'SIM REJECT S04',
    'SIM SOBRE E05',
    'SIM STATE fe',
    'SIM STATE',
    'SIM DELAY soon',
    'SIM',
    undefined,
  ])('leaves %s alone', (name) => {
    expect(directivesIn(name)).toEqual(NONE);
  });
});

describe('together', () => {
  test('of several receipts the sobre obeys the strongest wish; verdicts stay with their receipts', () => {
    const all = [
      'SIM DELAY 3',
      'SIM DELAY 7',
      'SIM REJECT E05',
      'SIM LATE 9 STATE FE',
      'SIM FAULT 2 LOST',
    ].map(directivesIn);
    expect(together(all)).toEqual({ ...NONE, delaySeconds: 7, faults: 2, lost: true });
  });
});
