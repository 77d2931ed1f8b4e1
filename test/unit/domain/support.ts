import fc from 'fast-check';
import { readCfeRequest } from '../../../src/domain/receipts/cfeReading.ts';
import type { OriginalCfe, RuleContext } from '../../../src/domain/receipts/cfeRule.ts';
import { type CheckedCfe, checkCfe } from '../../../src/domain/receipts/cfeRules.ts';
import { KEPT_SEEDS, SEED } from '../../support/database/seeds.ts';
import { type JsonObject } from '../../support/receipts/exactJson.ts';

/** The day on which all these tests take place. */
export const TODAY = '2026-02-15';
/** The one sourced value (docs/contract.md#value-of-the-ui): 5,000 UI are 32,104.00 pesos. */
const UI_2026 = { year: 2026, value: '6.4208', estimate: true } as const;

/** The facts of a test; `original`: the CFE that the reference of the request names. */
export type Facts = Partial<RuleContext> & { original?: OriginalCfe };

/** How a request is judged on that day. */
export function given(body: unknown, { original, ...context }: Facts = {}): CheckedCfe {
  const reading = readCfeRequest(body, TODAY);
  const known = reading.parts.referred?.find((one) => one.kind === 'known');
  const named = reading.parts.reference?.cfe_id ?? known?.cfeId;
  const originals = new Map(original && named !== undefined ? [[named, original]] : []);
  return checkCfe(reading, {
    today: TODAY,
    uiValue: UI_2026,
    lastRate: null,
    originals,
    issuedHere: new Map(),
    ...context,
  });
}

/** An accepted CFE made from a request, as a note finds it. */
export function originalOf(body: JsonObject, more: Partial<OriginalCfe> = {}): OriginalCfe {
  const checked = given(body);
  if (!checked.ok) throw new Error(`the original is not valid: ${JSON.stringify(checked.faults)}`);
  return {
    document: { ...checked.content, serie: 'A', numero: 1 },
    status: 'ACCEPTED',
    reportOnly: false,
    credited: '0',
    ...more,
  };
}

/** Runs a property on random values by the run's seed and, with fewer, by every kept one. */
export function checkAll<T>(arbitrary: fc.Arbitrary<T>, runs: number, property: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, property), { seed: SEED, numRuns: runs });
  for (const seed of KEPT_SEEDS)
    fc.assert(fc.property(arbitrary, property), { seed, numRuns: Math.ceil(runs / 10) });
}
