import type { Fault } from '../../errors.ts';
import { limitFaults } from '../requests/faults.ts';
import { buildCfeContent, type TakenAmount } from './cfeContent.ts';
import type { CfeContent } from './cfeDocument.ts';
import type { CfeReading, Parts } from './cfeReading.ts';
import type { CfeRule, RuleContext } from './cfeRule.ts';
import { adjustmentRules } from './rules/adjustments.ts';
import { amountRules } from './rules/amounts.ts';
import { extraRules } from './rules/extra.ts';
import { generalRules } from './rules/general.ts';
import { lineRules } from './rules/lines.ts';
import { ownCollectionRules } from './rules/ownCollection.ts';
import { receiverRules } from './rules/receiver.ts';
import { referenceRules } from './rules/references.ts';

/** The rules on several fields of an issue request, in the order of the returned faults. */
export const CFE_RULES: readonly CfeRule[] = [
  ...generalRules,
  ...receiverRules,
  ...lineRules,
  ...adjustmentRules,
  ...amountRules,
  ...ownCollectionRules,
  ...referenceRules,
  ...extraRules,
];

/** A valid request, or all its faults. */
export type CheckedCfe =
  | {
      readonly ok: true;
      readonly content: CfeContent;
      /** The amounts taken from CFEs of this service, in the order of the references. */
      readonly taken: readonly TakenAmount[];
      /** Unknown keys of `extra`, which are stored; undefined without any. */
      readonly otherExtra: Readonly<Record<string, unknown>> | undefined;
    }
  | { readonly ok: false; readonly faults: Fault[] };

/** Checks a request by all rules. Returns its content, without issuer, number, CAE and moment of signing, or its faults. */
export function checkCfe(reading: CfeReading, context: RuleContext): CheckedCfe {
  const broken = CFE_RULES.flatMap((rule) => rule.faults(reading.parts, context));
  const faults = limitFaults([...reading.faults, ...broken]);
  if (faults.length > 0) return { ok: false, faults };
  const { unknown } = reading.extra;
  return {
    ok: true,
    // Without faults every part is valid.
    ...buildCfeContent(reading.parts as Parts, context.originals),
    otherExtra: Object.keys(unknown).length > 0 ? unknown : undefined,
  };
}
