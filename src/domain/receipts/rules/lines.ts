import { amountText } from '../../values/decimal.ts';
import type { Parts } from '../cfeReading.ts';
import type { RequestLine } from '../cfeRequest.ts';
import { type CfeRule, type Finding, rule } from '../cfeRule.ts';
import { lineAmount } from '../cfeTotals.ts';
import { cfeTypeRow } from '../cfeTypes.ts';

/** Applies a rule to each line whose required fields are valid. */
function perLine<K extends keyof RequestLine>(
  lines: Parts['lines'],
  needs: readonly K[],
  find: (
    line: Required<Pick<RequestLine, K>>,
    index: number,
  ) => { field: keyof RequestLine; words: string } | undefined,
): Finding[] {
  return lines.flatMap((line, index) => {
    if (!needs.every((name) => line[name] !== undefined)) return [];
    const finding = find(line as Required<Pick<RequestLine, K>>, index);
    return finding ? [{ at: ['details', index, finding.field], words: finding.words }] : [];
  });
}

/** Rules on single lines and on their order. */
export const lineRules: readonly CfeRule[] = [
  rule(
    {
      code: 'lines.too_many',
      checks: 'e-Tickets have at most 700 lines, others 200.',
      source: 'Formato CFE v25.2, zone A, field 126',
      example: 'details: must have at most 200 lines for EFACTURA, found 201.',
      needs: ['cfe_type', 'details'],
    },
    ({ cfe_type, details }) => {
      const { maxLines } = cfeTypeRow(cfe_type);
      if (details.length <= maxLines) return undefined;
      return {
        at: ['details'],
        words: `must have at most ${maxLines} lines for ${cfe_type}, found ${details.length}.`,
      };
    },
  ),
  rule(
    {
      code: 'line.line_number',
      checks: 'Lines are numbered 1, 2, 3… in order.',
      source: 'Formato CFE v25.2, zone B, field 1',
      example: 'details[1].line_number: must be 2 (lines are numbered 1, 2, 3… in order), found 3.',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['line_number'], ({ line_number }, index) => {
        if (line_number === index + 1) return undefined;
        const words = `must be ${index + 1} (lines are numbered 1, 2, 3… in order), found ${line_number}.`;
        return { field: 'line_number', words };
      }),
  ),
  rule(
    {
      code: 'line.iva_type',
      checks: 'Export documents have no lines under local VAT.',
      source: 'Formato CFE v25.2, zone B, field 4',
      example:
        'details[0].iva_type: must be one of FREE, EXPORT, NON_BILLABLE, NON_BILLABLE_NEGATIVE for EFACTURA_EXPORT, found BASIC_RATE.',
      needs: ['cfe_type', 'lines'],
    },
    ({ cfe_type, lines }) =>
      perLine(lines, ['iva_type'], ({ iva_type }) => {
        const { ivaTypes } = cfeTypeRow(cfe_type);
        if (ivaTypes.includes(iva_type)) return undefined;
        const words = `must be one of ${ivaTypes.join(', ')} for ${cfe_type}, found ${iva_type}.`;
        return { field: 'iva_type', words };
      }),
  ),
  rule(
    {
      code: 'line.count',
      checks: 'The count is above zero.',
      source: 'docs/contract.md#lines; Formato CFE v25.2, zone B, field 9',
      example: 'details[0].count: must be above 0, found 0.',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['count'], ({ count }) =>
        count.gt(0) ? undefined : { field: 'count', words: 'must be above 0, found 0.' },
      ),
  ),
  rule(
    {
      code: 'line.unit_price',
      checks: 'The unit price is 0 in FREE lines and above 0 in all others.',
      source: 'docs/contract.md#lines; Formato CFE v25.2, zone B, field 11',
      example:
        'details[0].unit_price: must be above 0 in a BASIC_RATE line (only FREE lines have 0), found 0.',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['iva_type', 'unit_price'], ({ iva_type, unit_price }) => {
        const free = iva_type === 'FREE';
        if (unit_price.eq(0) === free) return undefined;
        const expected = free
          ? 'must be 0 in a FREE line'
          : `must be above 0 in a ${iva_type} line (only FREE lines have 0)`;
        return { field: 'unit_price', words: `${expected}, found ${unit_price.toFixed()}.` };
      }),
  ),
  rule(
    {
      code: 'line.item_amount',
      checks: 'The amount is count × unit price, rounded half up to cents, less discounts, plus surcharges.',
      source: 'docs/contract.md#lines; Formato CFE v25.2, zone B, field 24',
      example: 'details[0].item_amount: must be 1000.00 (2 × 500), found 999.99.',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['count', 'unit_price', 'item_amount'], (line, index) => {
        const { discounts = [], surcharges = [] } = lines[index] ?? {};
        const { count, unit_price, item_amount } = line;
        const expected = lineAmount({ ...line, discounts, surcharges });
        if (item_amount.eq(expected) || expected.lt(0)) return undefined;
        const adjusted = discounts.length + surcharges.length > 0 ? ', with discounts and surcharges' : '';
        const product = `${count.toFixed()} × ${unit_price.toFixed()}${adjusted}`;
        const words = `must be ${amountText(expected)} (${product}), found ${amountText(item_amount)}.`;
        return { field: 'item_amount', words };
      }),
  ),
  rule(
    {
      code: 'line.below_zero',
      checks: 'The discounts of a line are at most what it costs.',
      source: 'docs/contract.md#lines; Formato CFE v25.2, zone B, fields 13 and 24',
      example: 'details[0].discounts: must leave 0 or more of the line, found -0.01.',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['count', 'unit_price', 'discounts'], (line, index) => {
        const left = lineAmount({ ...line, surcharges: lines[index]?.surcharges });
        if (left.gte(0)) return undefined;
        return { field: 'discounts', words: `must leave 0 or more of the line, found ${amountText(left)}.` };
      }),
  ),
  rule(
    {
      code: 'line.free_adjusted',
      checks: 'FREE lines have no discounts and no surcharges.',
      source: 'Formato CFE v25.2, zone B, field 4',
      example: 'details[0].surcharges: must be omitted in a FREE line.',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['iva_type'], ({ iva_type }, index) => {
        const field = (['discounts', 'surcharges'] as const).find(
          (name) => (lines[index]?.[name] ?? []).length > 0,
        );
        if (iva_type !== 'FREE' || field === undefined) return undefined;
        return { field, words: 'must be omitted in a FREE line.' };
      }),
  ),
  rule(
    {
      code: 'line.gtin',
      checks: 'A GTIN has the digits of its kind; the last is its check digit.',
      source: 'Formato CFE v25.2, zone B, fields 2 and 3; docs/authority/codes.md#check-digits',
      example:
        'details[0].codes: a GTIN13 must have 13 digits, the last its check digit, found "4006381333932".',
      needs: ['lines'],
    },
    ({ lines }) =>
      perLine(lines, ['codes'], ({ codes }) => {
        const wrong = codes.find(({ type, value }) => type.startsWith('GTIN') && !isGtin(type, value));
        if (!wrong) return undefined;
        const digits = wrong.type.slice('GTIN'.length);
        const words = `a ${wrong.type} must have ${digits} digits, the last its check digit, found ${JSON.stringify(wrong.value)}.`;
        return { field: 'codes', words };
      }),
  ),
  rule(
    {
      code: 'line.ncm',
      checks: 'Only the lines of export documents have an NCM code.',
      source: 'Formato CFE v25.2, zone B, field 7.1',
      example: 'details[0].ncm: must be omitted for EFACTURA.',
      needs: ['cfe_type', 'lines'],
    },
    ({ cfe_type, lines }) =>
      perLine(lines, ['ncm'], () =>
        cfeTypeRow(cfe_type).family === 'export'
          ? undefined
          : { field: 'ncm', words: `must be omitted for ${cfe_type}.` },
      ),
  ),
];

/** True for the digits of a kind of GTIN with their check digit (GS1: ×3, ×1, … from the right). */
function isGtin(type: string, value: string): boolean {
  if (!/^\d+$/.test(value) || value.length !== Number(type.slice('GTIN'.length))) return false;
  const digits = value.split('').map(Number).toReversed();
  return digits.reduce((sum, digit, at) => sum + digit * (at % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}
