import Big from 'big.js';
import { parseCfeId } from '../cfeId.ts';
import { type CfeRule, rule } from '../cfeRule.ts';
import { cfeTypeRow } from '../cfeTypes.ts';
import { amountText, halfUp } from '../decimal.ts';
import { adjustedAmount } from '../noteAmount.ts';

const CFE_ID = ['reference', 'cfe_id'];
/** A third of an amount has no end in decimals: what differs behind this place is noise of divisions, not money. */
const DIVISION_NOISE_DECIMALS = 8;

/** Rules on credit and debit notes and the CFE that they correct. */
export const referenceRules: readonly CfeRule[] = [
  rule(
    {
      code: 'reference.required',
      checks: 'Credit and debit notes name the CFE that they correct.',
      source: 'decisions.md §7; cfe-format.md §1.2, §2.7',
      example:
        'reference: the cfe_id of the CFE that the note corrects is expected in type ETICKET_NC, found none.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }) => {
      if (cfeTypeRow(cfe_type).note === null || reference !== undefined) return undefined;
      const words = `the cfe_id of the CFE that the note corrects is expected in type ${cfe_type}, found none.`;
      return { at: ['reference'], words };
    },
  ),
  rule(
    {
      code: 'reference.forbidden',
      checks: 'What is not a note refers to nothing.',
      source: 'decisions.md §7',
      example: 'reference: none is expected in type ETICKET, which is not a note, found one.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }) => {
      if (cfeTypeRow(cfe_type).note !== null || reference === undefined) return undefined;
      return {
        at: ['reference'],
        words: `none is expected in type ${cfe_type}, which is not a note, found one.`,
      };
    },
  ),
  rule(
    {
      code: 'reference.family',
      checks: 'A note corrects a CFE of its own family: e-Tickets, e-Facturas, or exports.',
      source: 'decisions.md §7; cfe-format.md §2.7',
      example: 'reference.cfe_id: a CFE of the family of EFACTURA_NC is expected, found one of type ETICKET.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }) => {
      const original = reference && parseCfeId(reference.cfe_id);
      if (
        original === undefined ||
        cfeTypeRow(cfe_type).note === null ||
        sameFamily(cfe_type, original.type)
      ) {
        return undefined;
      }
      return {
        at: CFE_ID,
        words: `a CFE of the family of ${cfe_type} is expected, found one of type ${original.type}.`,
      };
    },
  ),
  rule(
    {
      code: 'reference.unknown',
      checks: 'The CFE that a note corrects is one of the same enterprise and environment.',
      source: 'decisions.md §7; cfe-format.md §10.1 E12',
      example:
        'reference.cfe_id: the cfe_id of a CFE of this enterprise and environment is expected, found none with 101-9.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }, { original }) => {
      const named = reference && parseCfeId(reference.cfe_id);
      if (named === undefined || original !== null || cfeTypeRow(cfe_type).note === null) return undefined;
      if (!sameFamily(cfe_type, named.type)) return undefined;
      const expected = 'the cfe_id of a CFE of this enterprise and environment is expected';
      return { at: CFE_ID, words: `${expected}, found none with ${reference?.cfe_id}.` };
    },
  ),
  rule(
    {
      code: 'reference.rejected',
      checks: 'The CFE that a note corrects is not rejected.',
      source: 'decisions.md §7',
      example:
        'reference.cfe_id: a CFE that the tax authority has not rejected is expected, found 101-1, which is REJECTED.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }, { original }) => {
      if (reference === undefined || original?.status !== 'REJECTED') return undefined;
      if (cfeTypeRow(cfe_type).note === null || !sameFamily(cfe_type, original.document.type))
        return undefined;
      const expected = 'a CFE that the tax authority has not rejected is expected';
      return { at: CFE_ID, words: `${expected}, found ${reference.cfe_id}, which is REJECTED.` };
    },
  ),
  rule(
    {
      code: 'reference.amount_exceeded',
      checks: 'All credit notes against one CFE together, in its currency, do not exceed its pay_amount.',
      source: 'decisions.md §7; cfe-format.md §2.7 field 8',
      example:
        'header.totals.pay_amount: at most 22.00 UYU is expected (122.00 of the original less 100.00 credited before), found 22.01 UYU.',
      needs: ['cfe_type', 'reference', 'pay_amount', 'currency', 'exchange_rate'],
    },
    ({ cfe_type, reference, pay_amount, currency, exchange_rate }, { original }) => {
      if (cfeTypeRow(cfe_type).note !== 'credit' || !reference || !original) return undefined;
      if (!sameFamily(cfe_type, original.document.type)) return undefined;
      const { totals } = original.document;
      const left = Big(totals.pay).minus(original.credited);
      const taken = adjustedAmount({ pay: pay_amount, currency, exchangeRate: exchange_rate }, totals);
      if (taken.lte(0) || halfUp(taken.minus(left), DIVISION_NOISE_DECIMALS).lte(0)) return undefined;
      const how = `${amountText(Big(totals.pay))} of the original less ${amountText(Big(original.credited))} credited before`;
      const expected = `at most ${amountText(left)} ${totals.currency} is expected (${how})`;
      return {
        at: ['header', 'totals', 'pay_amount'],
        words: `${expected}, found ${amountText(taken)} ${totals.currency}.`,
      };
    },
  ),
];

function sameFamily(...[a, b]: Parameters<typeof cfeTypeRow>[0][]): boolean {
  return a !== undefined && b !== undefined && cfeTypeRow(a).family === cfeTypeRow(b).family;
}
