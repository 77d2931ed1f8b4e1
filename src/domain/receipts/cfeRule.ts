import type { Fault } from '../../errors.ts';
import type { RuleRow } from '../requests/bodyRules.ts';
import { faultAt } from '../requests/faults.ts';
import type { CfeDocument } from './cfeDocument.ts';
import type { Parts } from './cfeReading.ts';
import type { CfeStatus } from './cfeStatus.ts';
import type { KnownRate } from './exchangeRate.ts';
import type { UiValueRow } from './uiValues.ts';

/** The current state of a CFE that a request refers to, for the rules and the Referencia zone. */
export interface OriginalCfe {
  readonly document: Pick<
    CfeDocument,
    'type' | 'serie' | 'numero' | 'emissionDate' | 'totals' | 'saleCondition' | 'saleMode' | 'transport'
  >;
  readonly status: CfeStatus;
  /** Whether the CFE is only in the daily report: the authority does not know such a CFE. */
  readonly reportOnly: boolean;
  /** The amount that credit notes took, rejected ones excluded: decimal text in the CFE's currency. */
  readonly credited: string;
}

/** The facts outside the request that rules depend on. */
export interface RuleContext {
  /** Today in Montevideo. */
  readonly today: string;
  /** The UI value for the year of emission. */
  readonly uiValue: UiValueRow;
  /** The last rate of the request's currency known before the emission date; null if none is known. */
  readonly lastRate: KnownRate | null;
  /** The CFEs of the enterprise and environment that the request refers to, by cfe_id. */
  readonly originals: ReadonlyMap<string, OriginalCfe>;
  /** The cfe_ids of our CFEs that the request names by type, serie and number; keyed by `printedName`. */
  readonly issuedHere: ReadonlyMap<string, string>;
  /** Whether the service computed the credit note: its rounding lines may exceed the amount left by cents. */
  readonly isComputed?: boolean;
}

/** A finding of a rule: the path of the field, and the words after its name. */
export interface Finding {
  readonly at: readonly (string | number)[];
  readonly words: string;
}

/** A rule on several fields of a request. */
export interface CfeRule extends RuleRow {
  readonly code: string;
  /** Returns the rule's faults; empty when a part in `needs` has faults of its own. */
  faults(parts: Partial<Parts>, context: RuleContext): Fault[];
}

/** Creates a rule that runs only when all parts in `needs` are valid. */
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
      const result = find(parts, context) ?? [];
      const findings: readonly Finding[] = 'words' in result ? [result] : result;
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
