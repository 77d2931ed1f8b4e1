import * as z from 'zod';
import type { CfeContent } from '../../domain/receipts/cfeDocument.ts';
import type { RequestWarning } from '../../domain/receipts/requestWarnings.ts';
import { CurrencyName } from '../../domain/requests/enums.ts';
import { JsonNumber } from '../../domain/values/decimal.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { ExactNumberView } from '../exactNumber.ts';
import { countField } from '../formats.ts';
import { WarningsView } from './requestWarnings.ts';

const amount = (description: string) => ExactNumberView.meta({ description });

/** The totals of a receipt, per rate. */
export const TotalsView = z
  .object({
    currency: CurrencyName,
    exchange_rate: ExactNumberView.meta({
      description: 'Pesos for one unit of the currency; 1 for UYU',
      examples: [39.85],
    }),
    prices_include_vat: z.boolean().meta({
      description: 'Whether unit prices and line amounts were read as including VAT (MntBruto)',
    }),
    line_count: countField('Number of lines', 1),
    tax_free_amount: amount('Sum of the lines without VAT (MntNoGrv)'),
    export_amount: amount('Sum of the EXPORT lines (MntExpoyAsim)'),
    perceived_amount: amount('Sum of the PERCEIVED lines (MntImpuestoPerc)'),
    suspended_amount: amount('Sum of the SUSPENDED lines (MntIVaenSusp)'),
    tax_minimum_net_amount: amount('Taxable base at the minimum rate (MntNetoIvaTasaMin)'),
    tax_minimum_amount: amount('VAT at the minimum rate (MntIVATasaMin)'),
    tax_basic_net_amount: amount('Taxable base at the basic rate (MntNetoIVATasaBasica)'),
    tax_basic_amount: amount('VAT at the basic rate (MntIVATasaBasica)'),
    tax_other_net_amount: amount('Sum of the OTHER_RATE lines (MntNetoIVAOtra)'),
    tax_other_amount: amount('VAT of the OTHER_RATE lines (MntIVAOtra)'),
    total_amount: amount('Sum of all net amounts and VAT (MntTotal)'),
    non_billable_amount: amount('NON_BILLABLE less NON_BILLABLE_NEGATIVE lines; may be negative (MontoNF)'),
    pay_amount: amount('Payable amount: total and non-billable amounts together (MntPagar)'),
  })
  .meta({ description: 'The totals as the service reads them, per rate' });

/** The totals of a request that could be issued (docs/contract.md#validating-only). */
export const ValidationView = z
  .object({
    valid: z.literal(true).meta({ description: 'Always true: a request with faults gets 400' }),
    totals: TotalsView,
    warnings: WarningsView,
  })
  .meta({ id: 'CfeValidation', description: 'The totals read from a request that could be issued.' });

/** Returns the answer for a request that could be issued. */
export function validationView(
  content: Parameters<typeof totalsView>[0],
  warnings: readonly RequestWarning[],
): z.input<typeof ValidationView> {
  return { valid: true, totals: totalsView(content), warnings };
}

/** Returns the totals of a receipt. */
export function totalsView({
  totals,
  lines,
  pricesIncludeVat,
}: Pick<CfeContent, 'totals' | 'lines' | 'pricesIncludeVat'>): z.input<typeof TotalsView> {
  return {
    currency: totals.currency,
    exchange_rate: exactNumber(totals.exchangeRate),
    prices_include_vat: pricesIncludeVat,
    line_count: lines.length,
    tax_free_amount: exactNumber(totals.exempt),
    export_amount: exactNumber(totals.exported),
    perceived_amount: exactNumber(totals.perceived),
    suspended_amount: exactNumber(totals.suspended),
    tax_minimum_net_amount: exactNumber(totals.minimumNet),
    tax_minimum_amount: exactNumber(totals.minimumVat),
    tax_basic_net_amount: exactNumber(totals.basicNet),
    tax_basic_amount: exactNumber(totals.basicVat),
    tax_other_net_amount: exactNumber(totals.otherNet),
    tax_other_amount: exactNumber(totals.otherVat),
    total_amount: exactNumber(totals.total),
    non_billable_amount: exactNumber(totals.nonBillable),
    pay_amount: exactNumber(totals.pay),
  };
}

/** The request with all amounts, ready to be posted. */
export const PreviewView = z
  .object({
    request: z.record(z.string(), z.unknown()).meta({
      description: 'The body as sent, with what was left out: post it to …/cfes.',
      examples: [{ cfe_type: 'ETICKET' }],
    }),
    warnings: WarningsView,
  })
  .meta({ id: 'CfePreview', description: 'A request whose amounts were computed.' });

/** Returns the answer of a preview. */
export const previewView = (body: unknown, warnings: readonly RequestWarning[]) => ({
  request: withExactNumbers(body) as z.input<typeof PreviewView>['request'],
  warnings,
});

/** Returns parsed JSON for an answer that keeps all digits of its numbers. */
export function withExactNumbers(value: unknown): unknown {
  if (value instanceof JsonNumber) return exactNumber(value.text);
  if (Array.isArray(value)) return value.map(withExactNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withExactNumbers(part)]));
}
