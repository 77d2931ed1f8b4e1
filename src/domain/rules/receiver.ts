import Big from 'big.js';
import { type CfeRule, rule } from '../cfeRule.ts';
import { untaxed } from '../cfeTotals.ts';
import { cfeTypeRow } from '../cfeTypes.ts';
import { amountText } from '../decimal.ts';
import { documentFault } from '../receiverDocument.ts';
import { IDENTIFICATION_UI, identificationLimit } from '../uiValues.ts';

const RECEIVER = ['header', 'receiver'];
const at = (field: string) => [...RECEIVER, field];

const FIELD_WORDS = {
  legal_name: 'a legal name',
  fiscal_address: 'an address',
  city: 'a city',
  department: 'a department, province or state',
  country: 'the name of a country',
} as const;

/** Rules on the receiver, by what the type asks of it. */
export const receiverRules: readonly CfeRule[] = [
  rule(
    {
      code: 'receiver.required',
      checks: 'e-Facturas and export documents, with their notes, name their receiver.',
      source: 'interface.md 2.6; cfe-format.md §4.1',
      example: 'header.receiver: a receiver is expected in type EFACTURA, found none.',
      needs: ['cfe_type', 'receiver'],
    },
    ({ cfe_type, receiver }) => {
      if (receiver !== undefined || !cfeTypeRow(cfe_type).receiver.required) return undefined;
      return { at: RECEIVER, words: `a receiver is expected in type ${cfe_type}, found none.` };
    },
  ),
  rule(
    {
      code: 'receiver.empty',
      checks:
        'A receiver that is given says who it is: a document, a name or a place; {} and a country_code alone say nothing.',
      source: 'decisions.md §1; cfe-format.md §1.5, §11 trap 27',
      example:
        'header.receiver: a document, a name or an address is expected, found none; leave the receiver out if there is none.',
      needs: ['receiver'],
    },
    ({ receiver }) => {
      if (receiver === undefined || Object.keys(receiver).some((field) => field !== 'country_code'))
        return undefined;
      const words =
        'a document, a name or an address is expected, found none; leave the receiver out if there is none.';
      return { at: RECEIVER, words };
    },
  ),
  rule(
    {
      code: 'receiver.document_required',
      checks: 'The receiver of an e-Factura or of its notes is identified by a RUC.',
      source: 'decisions.md §7; cfe-format.md §4.1',
      example: 'header.receiver.receiver_document: a RUC is expected in type EFACTURA, found none.',
      needs: ['cfe_type', 'receiver', 'receiver_doc_type', 'receiver_document'],
    },
    ({ cfe_type, receiver, receiver_doc_type, receiver_document }) => {
      const { identified, documents } = cfeTypeRow(cfe_type).receiver;
      if (identified !== 'always' || receiver === undefined) return undefined;
      if (receiver_doc_type !== undefined || receiver_document !== undefined) return undefined;
      const words = `a ${documents.join(' or ')} is expected in type ${cfe_type}, found none.`;
      return { at: at('receiver_document'), words };
    },
  ),
  rule(
    {
      code: 'receiver.document_incomplete',
      checks: 'receiver_doc_type and receiver_document come together.',
      source: 'cfe-format.md §1.5 C60, §4.1',
      example: 'header.receiver.receiver_document: the number of the RUC is expected, found none.',
      needs: ['receiver_doc_type', 'receiver_document'],
    },
    ({ receiver_doc_type, receiver_document }) => {
      if ((receiver_doc_type === undefined) === (receiver_document === undefined)) return undefined;
      if (receiver_doc_type !== undefined) {
        return {
          at: at('receiver_document'),
          words: `the number of the ${receiver_doc_type} is expected, found none.`,
        };
      }
      return {
        at: at('receiver_doc_type'),
        words: 'the kind of the document (RUC or NIFE) is expected, found none.',
      };
    },
  ),
  rule(
    {
      code: 'receiver.document_type',
      checks: 'A NIFE stands only in e-Tickets and export documents: the e-Factura takes a RUC.',
      source: 'decisions.md §7; cfe-format.md §2.3',
      example: 'header.receiver.receiver_doc_type: RUC is expected in type EFACTURA, found NIFE.',
      needs: ['cfe_type', 'receiver_doc_type'],
    },
    ({ cfe_type, receiver_doc_type }) => {
      const { documents } = cfeTypeRow(cfe_type).receiver;
      if (receiver_doc_type === undefined || documents.includes(receiver_doc_type)) return undefined;
      const words = `${documents.join(' or ')} is expected in type ${cfe_type}, found ${receiver_doc_type}.`;
      return { at: at('receiver_doc_type'), words };
    },
  ),
  rule(
    {
      code: 'receiver.ruc',
      checks: 'A RUC has 12 digits, the last of them its check digit.',
      source: 'decisions.md §3; cfe-format.md §4.3',
      example: 'header.receiver.receiver_document: 214844360017 ends in 7, but its check digit is 8.',
      needs: ['receiver_doc_type', 'receiver_document'],
    },
    ({ receiver_doc_type, receiver_document }) => {
      if (receiver_doc_type === undefined || receiver_document === undefined) return undefined;
      const fault = documentFault(receiver_doc_type, receiver_document);
      return fault && { at: at('receiver_document'), words: fault.message };
    },
  ),
  rule(
    {
      code: 'receiver.country_code',
      checks: 'With a RUC the country is UY or left out; with a NIFE it is another of the list, or 99.',
      source: 'decisions.md §7; cfe-format.md §2.3',
      example:
        'header.receiver.country_code: the code of another country than UY, or 99, is expected with a NIFE, found none.',
      needs: ['receiver_doc_type', 'country_code'],
    },
    ({ receiver_doc_type, country_code }) => {
      if (receiver_doc_type === 'RUC' && country_code !== undefined && country_code !== 'UY') {
        return {
          at: at('country_code'),
          words: `UY (or nothing) is expected with a RUC, found ${country_code}.`,
        };
      }
      if (receiver_doc_type === 'NIFE' && (country_code === undefined || country_code === 'UY')) {
        const expected = 'the code of another country than UY, or 99, is expected with a NIFE';
        return { at: at('country_code'), words: `${expected}, found ${country_code ?? 'none'}.` };
      }
      return undefined;
    },
  ),
  ...(['legal_name', 'fiscal_address', 'city', 'department', 'country'] as const).map((field) =>
    rule(
      {
        code: `receiver.${field}`,
        checks:
          field === 'department' || field === 'country'
            ? `${field} of the receiver is given in export documents and their notes.`
            : `${field} of the receiver is given in e-Facturas, export documents and their notes.`,
        source: 'decisions.md §12; cfe-format.md §4.1',
        example: `header.receiver.${field}: ${FIELD_WORDS[field]} is expected in type EFACTURA_EXPORT, found none.`,
        needs: ['cfe_type', 'receiver', field],
      },
      (parts) => {
        if (parts.receiver === undefined || parts[field] !== undefined) return undefined;
        if (!cfeTypeRow(parts.cfe_type).receiver.fields.includes(field)) return undefined;
        return {
          at: at(field),
          words: `${FIELD_WORDS[field]} is expected in type ${parts.cfe_type}, found none.`,
        };
      },
    ),
  ),
  rule(
    {
      code: 'receiver.identification_required',
      checks: `The receiver of an e-Ticket above ${IDENTIFICATION_UI} UI, net of VAT and of what is not billed, is identified by a document.`,
      source: 'decisions.md §7; cfe-format.md §4.1',
      example:
        'header.receiver: a receiver with receiver_doc_type and receiver_document is expected above 32104.00 pesos net (5000 UI), found none with 32104.01 pesos net.',
      needs: [
        'cfe_type',
        'receiver_doc_type',
        'receiver_document',
        'sums',
        'prices',
        'currency',
        'exchange_rate',
      ],
    },
    (parts, { uiValue }) => {
      if (cfeTypeRow(parts.cfe_type).receiver.identified !== 'above the threshold') return undefined;
      if (parts.receiver_doc_type !== undefined || parts.receiver_document !== undefined) return undefined;
      const rate = parts.currency === 'UYU' ? Big(1) : parts.exchange_rate;
      const pesos = untaxed(parts.sums).plus(parts.prices.bases).times(rate);
      const limit = identificationLimit(uiValue);
      if (pesos.lte(limit)) return undefined;
      const above = `above ${amountText(limit)} pesos net (${IDENTIFICATION_UI} UI)`;
      const expected = `a receiver with receiver_doc_type and receiver_document is expected ${above}`;
      return { at: RECEIVER, words: `${expected}, found none with ${amountText(pesos)} pesos net.` };
    },
  ),
];
