import type { Fault } from '../errors.ts';
import type { RuleRow } from './bodyRules.ts';
import type { CfeDocument } from './cfeDocument.ts';
import type { Parts } from './cfeReading.ts';
import type { CfeStatus } from './cfeStatus.ts';
import { faultAt } from './faults.ts';
import type { UiValueRow } from './uiValues.ts';

/** The CFE that a note corrects, as it stands: what the rules and the Referencia zone take from it. */
export interface Original {
  readonly document: Pick<
    CfeDocument,
    'type' | 'serie' | 'numero' | 'emissionDate' | 'totals' | 'saleCondition' | 'saleMode' | 'transport'
  >;
  readonly status: CfeStatus;
  /** What credit notes that are not rejected took from it so far; decimal text in its currency. */
  readonly credited: string;
}

/** What a request is judged by beside itself. */
export interface RuleContext {
  /** Today in Montevideo. */
  readonly today: string;
  /** The UI value that counts in the year of emission. */
  readonly uiValue: UiValueRow;
  /** The CFE that the request refers to: null when there is none of that cfe_id, undefined when it was not looked up. */
  readonly original: Original | null | undefined;
}

/** A finding of a rule: where, and the words that follow the field's name. */
export interface Finding {
  readonly at: readonly (string | number)[];
  readonly words: string;
}

/** A rule on requests whose fields are sound by themselves. */
export interface CfeRule extends RuleRow {
  readonly code: string;
  /** The rule's faults; none where a part that it looks at is itself in fault, which is told already. */
  faults(parts: Partial<Parts>, context: RuleContext): Fault[];
}

/** A rule that looks at the parts it names and is judged only when all of them are sound. */
export function rule<K extends keyof Parts>(
  row: RuleRow & { code: string; needs: readonly K[] },
  find: (parts: Pick<Parts, K>, context: RuleContext) => Finding | readonly Finding[] | undefined,
): CfeRule {
  const { code, checks, source, example, needs } = row;
  return {
    code,
    checks,
    source,
    example,
    faults(parts, context) {
      if (!has(parts, needs)) return [];
      const found = find(parts, context) ?? [];
      const findings: readonly Finding[] = 'words' in found ? [found] : found;
      return findings.map(({ at, words }) => faultAt(at, code, words));
    },
  };
}

function has<K extends keyof Parts>(
  parts: Partial<Parts>,
  names: readonly K[],
): parts is Partial<Parts> & Pick<Parts, K> {
  return names.every((name) => Object.hasOwn(parts, name));
}
