import { type CfeRule, rule } from '../cfeRule.ts';
import { cfeTypeRow } from '../cfeTypes.ts';

/** Rules that compare the keys of `extra` with the rest of the request. */
export const extraRules: readonly CfeRule[] = [
  rule(
    {
      code: 'extra.purchase_order',
      checks: 'A purchase order needs a receiver.',
      source: 'docs/contract.md#extra; Formato CFE v25.2, zone A, field 70',
      example: 'extra.purchase_order: must be omitted without a receiver.',
      needs: ['receiver', 'extra.purchase_order'],
    },
    (parts) => {
      if (parts['extra.purchase_order'] === undefined || parts.receiver !== undefined) return undefined;
      return { at: ['extra', 'purchase_order'], words: 'must be omitted without a receiver.' };
    },
  ),
  rule(
    {
      code: 'extra.reference_reason',
      checks: 'Only notes have a reference_reason, beside reference; references have their own.',
      source: 'docs/contract.md#extra; Formato CFE v25.2, zone F, field 6',
      example: 'extra.reference_reason: must be omitted for ETICKET, which is not a note.',
      needs: ['cfe_type', 'references', 'extra.reference_reason'],
    },
    (parts) => {
      if (parts['extra.reference_reason'] === undefined) return undefined;
      const at = ['extra', 'reference_reason'];
      if (cfeTypeRow(parts.cfe_type).note === null)
        return { at, words: `must be omitted for ${parts.cfe_type}, which is not a note.` };
      if (parts.references === undefined) return undefined;
      return { at, words: 'must be omitted beside references; give the reason of each there.' };
    },
  ),
  ...(
    [
      ['sale_condition', 13],
      ['transport', 15],
    ] as const
  ).map(([key, field]) =>
    rule(
      {
        code: `extra.${key}`,
        checks: `Only exports have a ${key}.`,
        source: `Formato CFE v25.2, zone A, field ${field}; docs/contract.md#extra`,
        example: `extra.${key}: must be omitted for ETICKET, which is not an export document.`,
        needs: ['cfe_type', `extra.${key}`],
      },
      (parts) => {
        if (parts[`extra.${key}`] === undefined || cfeTypeRow(parts.cfe_type).saleZone) return undefined;
        const words = `must be omitted for ${parts.cfe_type}, which is not an export document.`;
        return { at: ['extra', key], words };
      },
    ),
  ),
  rule(
    {
      code: 'extra.sale_mode',
      checks: 'Only exports and CFEs with EXPORT lines have a sale_mode, one that the type allows.',
      source: 'docs/contract.md#extra; Formato CFE v25.2, zone A, field 14',
      example: 'extra.sale_mode: must be one of 80, 90 for ETICKET, found 1.',
      needs: ['cfe_type', 'kinds', 'extra.sale_mode'],
    },
    (parts) => {
      const mode = parts['extra.sale_mode'];
      if (mode === undefined) return undefined;
      const { saleZone, saleModes } = cfeTypeRow(parts.cfe_type);
      if (!saleZone && !parts.kinds.some(({ iva_type }) => iva_type === 'EXPORT')) {
        const words = `must be omitted for ${parts.cfe_type} without EXPORT lines, found ${mode}.`;
        return { at: ['extra', 'sale_mode'], words };
      }
      if (saleModes.includes(mode)) return undefined;
      const expected = saleModes.length === 1 ? String(saleModes[0]) : `one of ${saleModes.join(', ')}`;
      return {
        at: ['extra', 'sale_mode'],
        words: `must be ${expected} for ${parts.cfe_type}, found ${mode}.`,
      };
    },
  ),
];
