import * as z from 'zod';
import type { CfeContent } from '../domain/cfeDocument.ts';
import { CurrencyName } from '../domain/enums.ts';
import { exactNumber } from '../domain/exactNumber.ts';
import { ExactNumber } from './exactNumber.ts';
import { countOf } from './formats.ts';

const amount = (description: string) => ExactNumber.meta({ description });

/** What a request that could be issued was read as (docs/contract.md#validating-only). */
export const ValidationView = z
  .object({
    valid: z.literal(true).meta({ description: 'Always true: a request with faults is answered 400' }),
    totals: z
      .object({
        currency: CurrencyName,
        exchange_rate: ExactNumber.meta({
          description: 'Pesos for one unit of the currency; 1 for UYU',
          examples: [39.85],
        }),
        prices_include_vat: z.boolean().meta({
          description: 'Whether unit prices and line amounts were read as including VAT (MntBruto)',
        }),
        line_count: countOf('Number of lines', 1),
        tax_free_amount: amount('Sum of the lines that bear no VAT (MntNoGrv)'),
        export_amount: amount('Sum of the EXPORT lines (MntExpoyAsim)'),
        tax_minimum_net_amount: amount('Taxable base at the minimum rate (MntNetoIvaTasaMin)'),
        tax_minimum_amount: amount('VAT at the minimum rate (MntIVATasaMin)'),
        tax_basic_net_amount: amount('Taxable base at the basic rate (MntNetoIVATasaBasica)'),
        tax_basic_amount: amount('VAT at the basic rate (MntIVATasaBasica)'),
        total_amount: amount('Sum of bases, VAT, exempt and exported amounts (MntTotal)'),
        non_billable_amount: amount('Sum of the NON_BILLABLE_NEGATIVE lines, zero or below (MontoNF)'),
        pay_amount: amount('What is to be paid: total and non-billable amounts together (MntPagar)'),
      })
      .meta({ description: 'The totals as the service reads them: what the CFE would say' }),
  })
  .meta({ id: 'CfeValidation', description: 'What a request that could be issued was read as.' });

/** The answer for a request that could be issued. */
export function validationView({
  totals,
  lines,
  pricesIncludeVat,
}: Pick<CfeContent, 'totals' | 'lines' | 'pricesIncludeVat'>): z.input<typeof ValidationView> {
  return {
    valid: true,
    totals: {
      currency: totals.currency,
      exchange_rate: exactNumber(totals.exchangeRate),
      prices_include_vat: pricesIncludeVat,
      line_count: lines.length,
      tax_free_amount: exactNumber(totals.exempt),
      export_amount: exactNumber(totals.exported),
      tax_minimum_net_amount: exactNumber(totals.minimumNet),
      tax_minimum_amount: exactNumber(totals.minimumVat),
      tax_basic_net_amount: exactNumber(totals.basicNet),
      tax_basic_amount: exactNumber(totals.basicVat),
      total_amount: exactNumber(totals.total),
      non_billable_amount: exactNumber(totals.nonBillable),
      pay_amount: exactNumber(totals.pay),
    },
  };
}
