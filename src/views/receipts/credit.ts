import * as z from 'zod';
import type { CreditNoteRow } from '../../db/receipts/creditNotes.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { Figures } from '../../domain/receipts/credit/creditLeft.ts';
import { CfeStatusName } from '../../domain/requests/enums.ts';
import { CFE_FIELD_WORDS, CREDIT_WORDS, describeField } from '../../domain/requests/fieldWords.ts';
import { amountText } from '../../domain/values/decimal.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { ExactNumberView } from '../exactNumber.ts';

/** What is left of a receipt to credit, and its credit notes. */
export const CreditView = z
  .object({
    left: z
      .object({
        amount: ExactNumberView.meta({
          description: 'What a note of all that is left pays, in the currency of the receipt.',
          examples: [500],
        }),
        lines: z
          .array(
            z
              .object({
                line_number: z.int().min(1).meta(describeField(CREDIT_WORDS.line_number)),
                count: ExactNumberView.meta({ description: 'How many are left of it.', examples: [2] }),
                amount: ExactNumberView.meta({
                  description: 'What is left of its `item_amount`.',
                  examples: [199.9],
                }),
              })
              .meta({ id: 'CreditLeftLine', description: 'What is left of one line.' }),
          )
          .meta({ description: 'The lines that are not used up.' }),
      })
      .meta({ id: 'CreditLeft', description: 'What is left to credit.' }),
    notes: z
      .array(
        z
          .object({
            cfe_id: z.string().meta(describeField(CFE_FIELD_WORDS.cfe_id)),
            cfe_status: CfeStatusName,
            amount: ExactNumberView.meta({
              description: 'What it takes of the receipt, in its currency.',
              examples: [720],
            }),
          })
          .meta({ id: 'CreditNote', description: 'A credit note; it counts unless it is REJECTED.' }),
      )
      .meta({ description: 'Its credit notes, oldest first.' }),
  })
  .meta({ id: 'Credit', description: 'What is left of a receipt to credit, and its credit notes.' });

/** Returns the answer for a receipt with its remaining figures; null for a receipt that cannot be credited. */
export function creditView(
  left: Figures | null,
  notes: readonly CreditNoteRow[],
): z.input<typeof CreditView> {
  const lines = (left?.counts ?? []).flatMap((count, at) => {
    const amount = left?.amounts[at];
    if (!amount || (count.eq(0) && amount.eq(0))) return [];
    return [
      { line_number: at + 1, count: exactNumber(count.toFixed()), amount: exactNumber(amountText(amount)) },
    ];
  });
  return {
    left: { amount: exactNumber(left && lines.length > 0 ? amountText(left.pay) : '0'), lines },
    notes: notes.map(({ amount, status, ...note }) => ({
      cfe_id: formatCfeId(note),
      cfe_status: status,
      amount: exactNumber(amount),
    })),
  };
}
