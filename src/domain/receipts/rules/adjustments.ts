import { amountText } from '../../values/decimal.ts';
import { type CfeRule, rule } from '../cfeRule.ts';
import { cfeTypeRow } from '../cfeTypes.ts';

/** Rules on the discounts and surcharges of the whole receipt (zone D). */
export const adjustmentRules: readonly CfeRule[] = [
  rule(
    {
      code: 'adjustment.iva_type',
      checks: 'An adjustment is on a kind of line that the type allows, never FREE.',
      source: 'Formato CFE v25.2, zone D, field 7',
      example: 'header.adjustments[0].iva_type: must be a billed iva_type of ETICKET, found FREE.',
      needs: ['cfe_type', 'adjustments'],
    },
    ({ cfe_type, adjustments = [] }) =>
      adjustments.flatMap(({ iva_type }, index) => {
        if (iva_type !== 'FREE' && cfeTypeRow(cfe_type).ivaTypes.includes(iva_type)) return [];
        const words = `must be a billed iva_type of ${cfe_type}, found ${iva_type}.`;
        return [{ at: ['header', 'adjustments', index, 'iva_type'], words }];
      }),
  ),
  rule(
    {
      code: 'adjustment.below_zero',
      checks: 'Discounts on a kind of line are at most its lines and surcharges.',
      source: 'Formato CFE v25.2, zone A, fields 112 to 118; zone D',
      example: 'header.adjustments: must leave 0 or more of the BASIC_RATE lines, found -10.00.',
      needs: ['overdrawn'],
    },
    ({ overdrawn }) =>
      overdrawn.map(([kind, left]) => ({
        at: ['header', 'adjustments'],
        words: `must leave 0 or more of the ${kind} lines, found ${amountText(left)}.`,
      })),
  ),
];
