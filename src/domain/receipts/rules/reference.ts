import Big from 'big.js';
import { amountText, roundHalfUp } from '../../values/decimal.ts';
import { parseCfeId } from '../cfeId.ts';
import { type CfeRule, rule } from '../cfeRule.ts';
import { cfeTypeRow } from '../cfeTypes.ts';
import { adjustedAmount, creditableAmount } from '../noteAmount.ts';

const CFE_ID = ['reference', 'cfe_id'];
/** Differences beyond this many decimals are rounding noise of a division, not money. */
const DIVISION_NOISE_DECIMALS = 8;

/** Rules on notes and the CFE that they correct. */
export const referenceRules: readonly CfeRule[] = [
  rule(
    {
      code: 'reference.required',
      checks: 'Credit and debit notes name the CFE that they correct.',
      source: 'Formato CFE v25.2, zone F; docs/contract.md#notes',
      example: 'reference: is required for ETICKET_NC; give the cfe_id of the CFE that the note corrects.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }) => {
      if (cfeTypeRow(cfe_type).note === null || reference !== undefined) return undefined;
      const words = `is required for ${cfe_type}; give the cfe_id of the CFE that the note corrects.`;
      return { at: ['reference'], words };
    },
  ),
  rule(
    {
      code: 'reference.forbidden',
      checks: 'Only notes have a reference.',
      source: 'docs/contract.md#notes',
      example: 'reference: must be omitted for ETICKET, which is not a note.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }) => {
      if (cfeTypeRow(cfe_type).note !== null || reference === undefined) return undefined;
      return {
        at: ['reference'],
        words: `must be omitted for ${cfe_type}, which is not a note.`,
      };
    },
  ),
  rule(
    {
      code: 'reference.family',
      checks: 'A note corrects a CFE of its own family: e-Tickets, e-Facturas, or exports.',
      source: 'docs/contract.md#notes',
      example:
        'reference.cfe_id: must name a CFE of the same family as EFACTURA_NC, found one of type ETICKET.',
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
        words: `must name a CFE of the same family as ${cfe_type}, found one of type ${original.type}.`,
      };
    },
  ),
  rule(
    {
      code: 'reference.unknown',
      checks: 'The CFE that a note corrects belongs to the same enterprise and environment.',
      source: 'docs/contract.md#notes; Formato Mensaje de Respuesta v19, code E12',
      example: 'reference.cfe_id: must name a CFE of this enterprise and environment; there is no 101-9.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }, { original }) => {
      const named = reference && parseCfeId(reference.cfe_id);
      if (named === undefined || original !== null || cfeTypeRow(cfe_type).note === null) return undefined;
      if (!sameFamily(cfe_type, named.type)) return undefined;
      const expected = 'must name a CFE of this enterprise and environment';
      return { at: CFE_ID, words: `${expected}; there is no ${reference?.cfe_id}.` };
    },
  ),
  rule(
    {
      code: 'reference.rejected',
      checks: 'The CFE that a note corrects is not REJECTED.',
      source: 'docs/contract.md#notes',
      example: 'reference.cfe_id: must name a CFE that is not REJECTED; 101-1 is REJECTED.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }, { original }) => {
      if (reference === undefined || original?.status !== 'REJECTED') return undefined;
      if (cfeTypeRow(cfe_type).note === null || !sameFamily(cfe_type, original.document.type))
        return undefined;
      const words = `must name a CFE that is not REJECTED; ${reference.cfe_id} is REJECTED.`;
      return { at: CFE_ID, words };
    },
  ),
  rule(
    {
      code: 'reference.amount_exceeded',
      checks:
        'All credit notes for one CFE, in its currency, add up to at most its pay_amount and its NON_BILLABLE_NEGATIVE lines.',
      source: 'docs/contract.md#notes; Formato CFE v25.2, zone F, field 8',
      example:
        'header.totals.pay_amount: must be at most 22.00 UYU (122.00 of the original less 100.00 already credited), found 22.01 UYU.',
      needs: ['cfe_type', 'reference', 'pay_amount', 'currency', 'exchange_rate'],
    },
    ({ cfe_type, reference, pay_amount, currency, exchange_rate }, { original }) => {
      if (cfeTypeRow(cfe_type).note !== 'credit' || !reference || !original) return undefined;
      if (!sameFamily(cfe_type, original.document.type)) return undefined;
      const { totals } = original.document;
      const most = creditableAmount(original.document);
      const left = most.minus(original.credited);
      const taken = adjustedAmount({ pay: pay_amount, currency, exchangeRate: exchange_rate }, totals);
      if (taken.lte(0) || roundHalfUp(taken.minus(left), DIVISION_NOISE_DECIMALS).lte(0)) return undefined;
      const how = `${amountText(most)} of the original less ${amountText(Big(original.credited))} already credited`;
      const expected = `must be at most ${amountText(left)} ${totals.currency} (${how})`;
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
