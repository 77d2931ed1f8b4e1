import Big from 'big.js';
import { amountText, roundHalfUp } from '../../values/decimal.ts';
import { addDays } from '../../values/montevideo.ts';
import type { Parts } from '../cfeReading.ts';
import { type CfeRule, type Finding, type RuleContext, rule } from '../cfeRule.ts';
import { cfeTypeRow } from '../cfeTypes.ts';
import { creditable, DIVISION_NOISE_DECIMALS } from '../credit/noteAmount.ts';
import { isCreditNote, largestStated, takenAmounts } from '../credit/referenceAmounts.ts';
import {
  type KnownReference,
  printedName,
  SHAPE_FAULTS,
  sameFamily,
  shapeFaults,
} from '../credit/referred.ts';

/** FechaCFEref may be this many days ahead (Formato CFE v25.2, zone F, field 7). */
const MOST_DAYS_AHEAD = 60;

const isKnown = (reference: Parts['referred'][number]): reference is KnownReference =>
  reference.kind === 'known';

/** Returns the references to CFEs of this service that the type may refer to. */
const permittedReferences = ({
  cfe_type,
  referred,
}: Pick<Parts, 'cfe_type' | 'referred'>): KnownReference[] =>
  referred
    .filter(isKnown)
    .filter(({ type }) => cfeTypeRow(cfe_type).note === null || sameFamily(cfe_type, type));

const shapeRule = (code: keyof typeof SHAPE_FAULTS): CfeRule =>
  rule(
    {
      code,
      ...SHAPE_FAULTS[code],
      source: 'docs/contract.md#references; Formato CFE v25.2, zone F',
      needs: ['references'],
    },
    ({ references = [] }) =>
      references.flatMap((row, index) =>
        shapeFaults(row)
          .filter((fault) => fault.code === code)
          .map(({ field, words }) => ({
            at: ['references', index, ...(field === undefined ? [] : [field])],
            words,
          })),
      ),
  );

/** Rules on the documents that a receipt refers to. */
export const referenceRules: readonly CfeRule[] = [
  rule(
    {
      code: 'reference.required',
      checks: 'Notes name the CFE that they correct, or have references.',
      source: 'Formato CFE v25.2, zone F; docs/contract.md#notes',
      example:
        'reference: is required for ETICKET_NC; give the cfe_id of the CFE that the note corrects, or references.',
      needs: ['cfe_type', 'reference', 'references'],
    },
    ({ cfe_type, reference, references = [] }) => {
      if (cfeTypeRow(cfe_type).note === null || reference || references.length > 0) return undefined;
      const words = `is required for ${cfe_type}; give the cfe_id of the CFE that the note corrects, or references.`;
      return { at: ['reference'], words };
    },
  ),
  rule(
    {
      code: 'reference.forbidden',
      checks: 'Only notes have a reference; other types have references.',
      source: 'docs/contract.md#notes',
      example: 'reference: must be omitted for ETICKET, which is not a note.',
      needs: ['cfe_type', 'reference'],
    },
    ({ cfe_type, reference }) => {
      if (cfeTypeRow(cfe_type).note !== null || reference === undefined) return undefined;
      return { at: ['reference'], words: `must be omitted for ${cfe_type}, which is not a note.` };
    },
  ),
  rule(
    {
      code: 'references.twice',
      checks: 'A request has reference or references, not both.',
      source: 'docs/contract.md#references',
      example: 'references: must be omitted beside reference.',
      needs: ['reference', 'references'],
    },
    ({ reference, references }) =>
      reference && references
        ? { at: ['references'], words: 'must be omitted beside reference.' }
        : undefined,
  ),
  ...(Object.keys(SHAPE_FAULTS) as (keyof typeof SHAPE_FAULTS)[]).map(shapeRule),
  rule(
    {
      code: 'references.emission_date',
      checks: 'A CFE of another system is emitted at most 60 days after today in Montevideo.',
      source: 'Formato CFE v25.2, zone F, field 7',
      example: 'references[0].emission_date: must be at most 60 days after today, found 2030-01-01.',
      needs: ['references'],
    },
    ({ references = [] }, { today }) =>
      references.flatMap(({ emission_date }, index) => {
        if (emission_date === undefined || emission_date <= addDays(today, MOST_DAYS_AHEAD)) return [];
        const words = `must be at most ${MOST_DAYS_AHEAD} days after today, found ${emission_date}.`;
        return [{ at: ['references', index, 'emission_date'], words }];
      }),
  ),
  rule(
    {
      code: 'references.repeated',
      checks: 'No two references name the same CFE.',
      source: 'Formato CFE v25.2, zone F, fields 3 to 5',
      example: 'references[1]: must name a different CFE from references[0].',
      needs: ['referred'],
    },
    ({ referred }) => {
      const first = new Map<string, number>();
      return referred.flatMap((reference, index) => {
        if (reference.kind === 'other') return [];
        const name = reference.kind === 'known' ? reference.cfeId : printedName(reference);
        const earlier = first.get(name);
        if (earlier === undefined) {
          first.set(name, index);
          return [];
        }
        return [{ at: reference.at, words: `must name a different CFE from references[${earlier}].` }];
      });
    },
  ),
  rule(
    {
      code: 'references.issued_here',
      checks: 'A CFE of this service is named by its cfe_id.',
      source: 'docs/contract.md#references',
      example: 'references[0]: must name 101-7, which this service issued, by its cfe_id.',
      needs: ['referred'],
    },
    ({ referred }, { issuedHere }) =>
      referred.flatMap((reference) => {
        const cfeId = reference.kind === 'foreign' ? issuedHere.get(printedName(reference)) : undefined;
        if (cfeId === undefined) return [];
        return [{ at: reference.at, words: `must name ${cfeId}, which this service issued, by its cfe_id.` }];
      }),
  ),
  rule(
    {
      code: 'reference.family',
      checks: 'A note corrects a CFE of its own family: e-Tickets, e-Facturas, or exports.',
      source: 'docs/contract.md#notes',
      example:
        'reference.cfe_id: must name a CFE of the same family as EFACTURA_NC, found one of type ETICKET.',
      needs: ['cfe_type', 'referred'],
    },
    ({ cfe_type, referred }) =>
      referred.flatMap((reference) => {
        if (
          reference.kind !== 'known' ||
          cfeTypeRow(cfe_type).note === null ||
          sameFamily(cfe_type, reference.type)
        )
          return [];
        const words = `must name a CFE of the same family as ${cfe_type}, found one of type ${reference.type}.`;
        return [{ at: [...reference.at, 'cfe_id'], words }];
      }),
  ),
  rule(
    {
      code: 'reference.unknown',
      checks: 'A CFE referred to by cfe_id is of the same enterprise and environment.',
      source: 'docs/contract.md#notes; Formato Mensaje de Respuesta v19, code E12',
      example: 'reference.cfe_id: must name a CFE of this enterprise and environment; there is no 101-9.',
      needs: ['cfe_type', 'referred'],
    },
    (parts, { originals }) =>
      permittedReferences(parts).flatMap(({ at, cfeId }) => {
        if (originals.has(cfeId)) return [];
        const words = `must name a CFE of this enterprise and environment; there is no ${cfeId}.`;
        return [{ at: [...at, 'cfe_id'], words }];
      }),
  ),
  rule(
    {
      code: 'reference.rejected',
      checks: 'A CFE referred to by cfe_id is not REJECTED.',
      source: 'docs/contract.md#notes',
      example: 'reference.cfe_id: must name a CFE that is not REJECTED; 101-1 is REJECTED.',
      needs: ['cfe_type', 'referred'],
    },
    (parts, { originals }) =>
      permittedReferences(parts).flatMap(({ at, cfeId }) => {
        // A rejected CFE keeps its cfe_id, but the authority does not know it as a receipt.
        if (originals.get(cfeId)?.status !== 'REJECTED') return [];
        const words = `must name a CFE that is not REJECTED; ${cfeId} is REJECTED.`;
        return [{ at: [...at, 'cfe_id'], words }];
      }),
  ),
  rule(
    {
      code: 'references.amount',
      checks:
        'The amount for a CFE of this service is at most what is left of it to credit; outside credit notes at most its pay_amount.',
      source: 'docs/contract.md#references; Formato CFE v25.2, zone F, field 8',
      example: 'references[0].amount: must be at most 22.00 UYU (what is left of 101-1), found 22.01.',
      needs: ['cfe_type', 'referred'],
    },
    (parts, { originals }) =>
      permittedReferences(parts).flatMap(({ at, cfeId, amount }): Finding[] => {
        const original = originals.get(cfeId);
        if (!original || !amount) return [];
        const most = largestStated(parts.cfe_type, original);
        if (amount.lte(roundHalfUp(most, DIVISION_NOISE_DECIMALS))) return [];
        const { currency } = original.document.totals;
        const limit = isCreditNote(parts.cfe_type) ? `what is left of ${cfeId}` : `to pay of ${cfeId}`;
        const words = `must be at most ${amountText(most)} ${currency} (${limit}), found ${amountText(amount)}.`;
        return [{ at: [...at, 'amount'], words }];
      }),
  ),
  rule(
    {
      code: 'references.amount_sum',
      checks: 'The amounts stated for CFEs of this service are together at most what the note credits.',
      source: 'docs/contract.md#references',
      example: 'references: must have amounts of at most 100.00 UYU together, found 120.00 UYU.',
      needs: ['cfe_type', 'referred', 'total_amount', 'pay_amount', 'currency', 'exchange_rate'],
    },
    (parts, context) => {
      const credit = measureCredit(parts, context);
      if (!credit || credit.rest.gte(credit.slack.times(-1))) return undefined;
      const { worth } = credit;
      const stated = amountText(worth.minus(credit.rest));
      const words = `must have amounts of at most ${amountText(worth)} ${parts.currency} together, found ${stated} ${parts.currency}.`;
      return { at: ['references'], words };
    },
  ),
  rule(
    {
      code: 'reference.amount_exceeded',
      checks:
        'All credit notes for a CFE, in its currency, add up to at most the greater of its total_amount and pay_amount.',
      source: 'docs/contract.md#notes; Formato CFE v25.2, zone F, field 8',
      example:
        'header.totals.pay_amount: must be at most 22.00 UYU (122.00 of the original less 100.00 already credited), found 22.01 UYU.',
      needs: ['cfe_type', 'referred', 'total_amount', 'pay_amount', 'currency', 'exchange_rate'],
    },
    (parts, context) => {
      const credit = measureCredit(parts, context);
      // References to other systems' CFEs may cover the rest.
      if (!credit || !parts.referred.every(isKnown) || credit.rest.lte(credit.slack)) return undefined;
      const { total_amount, pay_amount } = parts;
      const at = ['header', 'totals', total_amount.gt(pay_amount) ? 'total_amount' : 'pay_amount'];
      return { at, words: exceedsWords(parts, context, credit) };
    },
  ),
];

type CreditParts = Pick<
  Parts,
  'cfe_type' | 'referred' | 'total_amount' | 'pay_amount' | 'currency' | 'exchange_rate'
>;

/** Returns the amount of a credit note and the rest that no reference takes, in its currency; undefined if other rules fail. */
function measureCredit(
  parts: CreditParts,
  { originals, isComputed }: Pick<RuleContext, 'originals' | 'isComputed'>,
): { worth: Big; rest: Big; slack: Big } | undefined {
  const { cfe_type, referred, exchange_rate } = parts;
  if (isComputed || !isCreditNote(cfe_type) || exchange_rate.lte(0)) return undefined;
  const known = permittedReferences(parts);
  const areAllValid =
    known.length === referred.filter(isKnown).length && known.every(({ cfeId }) => originals.has(cfeId));
  if (known.length === 0 || !areAllValid) return undefined;
  const worth = creditable({ total: parts.total_amount, pay: parts.pay_amount });
  const { rest } = takenAmounts({ ...parts, referred: known }, originals);
  // Stated amounts are rounded to cents of the referred CFE's currency.
  const cents = known.filter(({ amount }) => amount).map(({ cfeId }) => centOf(cfeId, parts, originals));
  const noise = Big(10).pow(-DIVISION_NOISE_DECIMALS).div(2);
  return { worth, rest, slack: cents.reduce((sum, cent) => sum.plus(cent), noise) };
}

function centOf(
  cfeId: string,
  { currency, exchange_rate }: Pick<Parts, 'currency' | 'exchange_rate'>,
  originals: RuleContext['originals'],
): Big {
  const totals = originals.get(cfeId)?.document.totals;
  const cent = Big('0.01');
  return !totals || totals.currency === currency
    ? Big(0)
    : cent.times(totals.exchangeRate).div(exchange_rate);
}

function exceedsWords(
  { referred, currency, exchange_rate }: CreditParts,
  { originals }: Pick<RuleContext, 'originals'>,
  { worth, rest }: { worth: Big; rest: Big },
): string {
  const [first, second] = referred;
  const original =
    first?.kind === 'known' && !second && !first.amount ? originals.get(first.cfeId) : undefined;
  if (!original) {
    const covered = amountText(worth.minus(rest));
    return `must be at most ${covered} ${currency} (what is left of the CFEs in references, or stated there), found ${amountText(worth)} ${currency}.`;
  }
  const { totals } = original.document;
  const whole = creditable(totals);
  const taken = currency === totals.currency ? worth : worth.times(exchange_rate).div(totals.exchangeRate);
  const difference = `${amountText(whole)} of the original less ${amountText(Big(original.credited))} already credited`;
  const most = amountText(whole.minus(original.credited));
  return `must be at most ${most} ${totals.currency} (${difference}), found ${amountText(taken)} ${totals.currency}.`;
}
