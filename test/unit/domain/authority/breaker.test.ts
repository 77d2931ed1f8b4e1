import { describe, expect, test } from '@jest/globals';
import {
  type Breaker,
  closeBreaker,
  countFailure,
  FAILURES_TO_OPEN,
  millisecondsToNextProbeCheck,
  startProbe,
} from '../../../../src/domain/authority/breaker.ts';

const START = new Date('2026-11-20T12:00:00Z');
const after = (milliseconds: number): Date => new Date(START.getTime() + milliseconds);
const aBreaker = (): Breaker => ({
  failures: 0,
  openSince: null,
  nextProbeAt: null,
  probes: 0,
  proberId: null,
});
const fails = (breaker: Breaker, now: Date, { wasProbe = false, chance = 0 } = {}): void =>
  countFailure(breaker, { wasProbe, now, chance });
function anOpenOne(): Breaker {
  const breaker = aBreaker();
  for (let i = 0; i < FAILURES_TO_OPEN; i += 1) fails(breaker, START);
  return breaker;
}

describe('a breaker', () => {
  test('opens with the fifth failure in a row, and tries again a second later', () => {
    const breaker = aBreaker();
    for (let i = 1; i < FAILURES_TO_OPEN; i += 1) {
      fails(breaker, START);
      expect(breaker).toMatchObject({ failures: i, openSince: null });
    }

    fails(breaker, START);

    expect(breaker).toMatchObject({
      openSince: START,
      nextProbeAt: after(1_000),
      probes: 0,
      proberId: null,
    });
  });

  test('lets one probe go when its time has come, and no other until that has ended', () => {
    const breaker = anOpenOne();
    expect(startProbe(breaker, after(999))).toBe(false);
    expect(startProbe(breaker, after(1_000))).toBe(true);
    expect(startProbe(breaker, after(30_000))).toBe(false);
  });

  test('a probe that never ends, as when its process dies, gives way to the next after a minute', () => {
    const breaker = anOpenOne();
    startProbe(breaker, after(1_000));
    expect(startProbe(breaker, after(61_000))).toBe(true);
  });

  test('probes that fail follow one another after 2, 4, 8 … and then every 60 s', () => {
    const breaker = anOpenOne();
    const pauses: number[] = [];
    let now = after(1_000);
    for (let i = 0; i < 8; i += 1) {
      startProbe(breaker, now);
      fails(breaker, now, { wasProbe: true });
      const next = breaker.nextProbeAt ?? now;
      pauses.push((next.getTime() - now.getTime()) / 1_000);
      now = next;
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
    expect(breaker.openSince).toEqual(START);
  });

  test('every pause is shortened by chance, by a fifth at most', () => {
    const breaker = anOpenOne();
    startProbe(breaker, after(1_000));
    fails(breaker, after(1_000), { wasProbe: true, chance: 1 });
    expect(breaker.nextProbeAt).toEqual(after(1_000 + 1_600));
  });

  test('calls that were in progress when it opened, and fail later, put nothing off', () => {
    const breaker = anOpenOne();
    fails(breaker, after(900));
    expect(breaker).toMatchObject({ nextProbeAt: after(1_000), failures: FAILURES_TO_OPEN });
  });

  test('a probe that works closes it, and it opens anew only after five more failures', () => {
    const breaker = anOpenOne();
    startProbe(breaker, after(1_000));

    closeBreaker(breaker);

    expect(breaker).toEqual(aBreaker());
    fails(breaker, after(2_000));
    expect(breaker.openSince).toBeNull();
  });

  test('who is to probe next looks again when that may be, and sooner while another probe is in progress', () => {
    const breaker = anOpenOne();
    expect(millisecondsToNextProbeCheck(breaker, after(100))).toBe(900);
    startProbe(breaker, after(1_000));
    expect(millisecondsToNextProbeCheck(breaker, after(1_000))).toBe(2_000);
    fails(breaker, after(40_000), { wasProbe: true });
    expect(millisecondsToNextProbeCheck(breaker, after(41_000))).toBe(1_000);
    expect(millisecondsToNextProbeCheck(breaker, after(43_000))).toBe(0);
  });

  test('nothing is a probe while it is closed', () => {
    expect(startProbe(aBreaker(), START)).toBe(false);
  });
});
