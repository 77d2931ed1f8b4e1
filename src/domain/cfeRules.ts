import type { CfeRule } from './cfeRule.ts';
import { amountRules } from './rules/amounts.ts';
import { extraRules } from './rules/extra.ts';
import { generalRules } from './rules/general.ts';
import { lineRules } from './rules/lines.ts';
import { receiverRules } from './rules/receiver.ts';
import { referenceRules } from './rules/reference.ts';

/** Every rule that binds the fields of an issue request together, in the order in which faults are told. */
export const CFE_RULES: readonly CfeRule[] = [
  ...generalRules,
  ...receiverRules,
  ...lineRules,
  ...amountRules,
  ...referenceRules,
  ...extraRules,
];
