import { type CfeRule, rule } from '../cfeRule.ts';
import { cfeTypeRow } from '../cfeTypes.ts';

/** Rules on the keys of `extra` against the rest of the request. */
export const extraRules: readonly CfeRule[] = [
  rule(
    {
      code: 'extra.purchase_order',
      checks: 'A purchase order goes with a receiver.',
      source: 'decisions.md §7; cfe-format.md §1.5 C70',
      example: 'extra.purchase_order: a receiver is expected with a purchase order, found none.',
      needs: ['receiver', 'extra.purchase_order'],
    },
    (parts) => {
      if (parts['extra.purchase_order'] === undefined || parts.receiver !== undefined) return undefined;
      return {
        at: ['extra', 'purchase_order'],
        words: 'a receiver is expected with a purchase order, found none.',
      };
    },
  ),
  rule(
    {
      code: 'extra.reference_reason',
      checks: 'A reason of reference stands only in notes.',
      source: 'decisions.md §7; cfe-format.md §2.7',
      example: 'extra.reference_reason: none is expected in type ETICKET, which is not a note, found one.',
      needs: ['cfe_type', 'extra.reference_reason'],
    },
    (parts) => {
      if (parts['extra.reference_reason'] === undefined || cfeTypeRow(parts.cfe_type).note !== null)
        return undefined;
      const words = `none is expected in type ${parts.cfe_type}, which is not a note, found one.`;
      return { at: ['extra', 'reference_reason'], words };
    },
  ),
  ...(['sale_condition', 'transport'] as const).map((key) =>
    rule(
      {
        code: `extra.${key}`,
        checks: `${key} stands only in export documents and their notes.`,
        source: 'decisions.md §7; cfe-format.md §1.3 C13, C15',
        example: `extra.${key}: none is expected in type ETICKET, which is no export document, found one.`,
        needs: ['cfe_type', `extra.${key}`],
      },
      (parts) => {
        if (parts[`extra.${key}`] === undefined || cfeTypeRow(parts.cfe_type).saleZone) return undefined;
        const words = `none is expected in type ${parts.cfe_type}, which is no export document, found one.`;
        return { at: ['extra', key], words };
      },
    ),
  ),
  rule(
    {
      code: 'extra.sale_mode',
      checks:
        'sale_mode stands in export documents, their notes, and where other types have EXPORT lines, and is one that the type holds.',
      source: 'decisions.md §7; cfe-format.md §2.6',
      example: 'extra.sale_mode: one of 80, 90 is expected in type ETICKET, found 1.',
      needs: ['cfe_type', 'kinds', 'extra.sale_mode'],
    },
    (parts) => {
      const mode = parts['extra.sale_mode'];
      if (mode === undefined) return undefined;
      const { saleZone, saleModes } = cfeTypeRow(parts.cfe_type);
      if (!saleZone && !parts.kinds.some(({ iva_type }) => iva_type === 'EXPORT')) {
        const words = `none is expected in type ${parts.cfe_type} without EXPORT lines, found ${mode}.`;
        return { at: ['extra', 'sale_mode'], words };
      }
      if (saleModes.includes(mode)) return undefined;
      const expected = saleModes.length === 1 ? String(saleModes[0]) : `one of ${saleModes.join(', ')}`;
      return {
        at: ['extra', 'sale_mode'],
        words: `${expected} is expected in type ${parts.cfe_type}, found ${mode}.`,
      };
    },
  ),
];
