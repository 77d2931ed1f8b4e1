import Big from 'big.js';
import { amountText } from '../../values/decimal.ts';
import { type CfeRule, rule } from '../cfeRule.ts';
import { outsideRates } from '../cfeTotals.ts';
import { type CfeTypeRow, cfeTypeRow } from '../cfeTypes.ts';
import { countryFault, DOCUMENT_TYPES, type DocumentType, documentFault } from '../receiverDocument.ts';
import { IDENTIFICATION_UI, identificationLimit } from '../uiValues.ts';

const RECEIVER = ['header', 'receiver'];
const at = (field: string) => [...RECEIVER, field];
const TOGETHER = 'is required; receiver_doc_type and receiver_document must be given together.';

/** The fields of zone A. */
const FIELD_NUMBERS = {
  legal_name: 63,
  fiscal_address: 64,
  city: 65,
  department: 66,
  country: 66.1,
} as const;

/** Returns the kinds of document that a type of CFE allows. */
const documentsOf = ({ receiver }: CfeTypeRow): readonly DocumentType[] =>
  receiver.documents === 'all' ? DOCUMENT_TYPES : receiver.documents;

/** Returns the rule on the number of a kind of document. */
const documentRule = (
  type: DocumentType,
  row: { code: string; checks: string; source: string; example: string },
): CfeRule =>
  rule({ ...row, needs: ['receiver_doc_type', 'receiver_document'] }, (parts) => {
    if (parts.receiver_doc_type !== type || parts.receiver_document === undefined) return undefined;
    const fault = documentFault(type, parts.receiver_document);
    return fault && { at: at('receiver_document'), words: fault.message };
  });

/** Rules on the receiver, by CFE type. */
export const receiverRules: readonly CfeRule[] = [
  rule(
    {
      code: 'receiver.required',
      checks: 'e-Facturas and exports have a receiver.',
      source: 'openapi.json, issueCfe; docs/authority/receipts.md#who-must-be-named',
      example: 'header.receiver: is required for EFACTURA.',
      needs: ['cfe_type', 'receiver'],
    },
    ({ cfe_type, receiver }) => {
      if (receiver !== undefined || !cfeTypeRow(cfe_type).receiver.required) return undefined;
      return { at: RECEIVER, words: `is required for ${cfe_type}.` };
    },
  ),
  rule(
    {
      code: 'receiver.empty',
      checks: 'A receiver has a document, a name or an address.',
      source: 'docs/contract.md#bodies; docs/authority/receipts.md#receiver',
      example: 'header.receiver: must have a document, a name or an address; otherwise omit the receiver.',
      needs: ['receiver'],
    },
    ({ receiver }) => {
      if (receiver === undefined || Object.keys(receiver).some((field) => field !== 'country_code'))
        return undefined;
      const words = 'must have a document, a name or an address; otherwise omit the receiver.';
      return { at: RECEIVER, words };
    },
  ),
  rule(
    {
      code: 'receiver.document_required',
      checks: 'The receiver of an e-Factura has a RUC.',
      source: 'Formato CFE v25.2, zone A, fields 60 and 62; docs/contract.md#receivers',
      example: 'header.receiver.receiver_document: a RUC is required for EFACTURA.',
      needs: ['cfe_type', 'receiver', 'receiver_doc_type', 'receiver_document'],
    },
    ({ cfe_type, receiver, receiver_doc_type, receiver_document }) => {
      const { identified } = cfeTypeRow(cfe_type).receiver;
      if (identified !== 'always' || receiver === undefined) return undefined;
      if (receiver_doc_type !== undefined || receiver_document !== undefined) return undefined;
      const words = `a ${documentsOf(cfeTypeRow(cfe_type)).join(' or ')} is required for ${cfe_type}.`;
      return { at: at('receiver_document'), words };
    },
  ),
  rule(
    {
      code: 'receiver.document_incomplete',
      checks: 'receiver_doc_type and receiver_document are given together.',
      source: 'Formato CFE v25.2, zone A, fields 60, 61 and 62',
      example:
        'header.receiver.receiver_document: is required; receiver_doc_type and receiver_document must be given together.',
      needs: ['receiver_doc_type', 'receiver_document'],
    },
    ({ receiver_doc_type, receiver_document }) => {
      if ((receiver_doc_type === undefined) === (receiver_document === undefined)) return undefined;
      const missing = receiver_doc_type === undefined ? 'receiver_doc_type' : 'receiver_document';
      return { at: at(missing), words: TOGETHER };
    },
  ),
  rule(
    {
      code: 'receiver.document_type',
      checks: 'An e-Factura has a RUC; all others may have any document.',
      source: 'Formato CFE v25.2, zone A, fields 60 to 62.1; docs/contract.md#receivers',
      example: 'header.receiver.receiver_doc_type: must be RUC for EFACTURA, found NIFE.',
      needs: ['cfe_type', 'receiver_doc_type'],
    },
    ({ cfe_type, receiver_doc_type }) => {
      const documents = documentsOf(cfeTypeRow(cfe_type));
      if (receiver_doc_type === undefined || documents.includes(receiver_doc_type)) return undefined;
      const words = `must be ${documents.join(' or ')} for ${cfe_type}, found ${receiver_doc_type}.`;
      return { at: at('receiver_doc_type'), words };
    },
  ),
  documentRule('RUC', {
    code: 'receiver.ruc',
    checks: 'A RUC has 12 digits; the last is its check digit.',
    source: 'Formato CFE v25.2, zone A, field 62; docs/authority/codes.md#check-digits',
    example: 'header.receiver.receiver_document: 214844360017 ends in 7, but its check digit is 8.',
  }),
  documentRule('CI', {
    code: 'receiver.ci',
    checks: 'A CI (cédula) has 7 or 8 digits; the last is its check digit.',
    source: 'Formato CFE v25.2, zone A, field 62; docs/authority/codes.md#check-digits',
    example: 'header.receiver.receiver_document: 12345673 ends in 3, but its check digit is 2.',
  }),
  documentRule('NIE', {
    code: 'receiver.nie',
    checks: 'A NIE has at most 12 digits.',
    source: 'Formato CFE v25.2, zone A, field 62',
    example:
      'header.receiver.receiver_document: must be at most 12 digits without dots or hyphens, found "93.402.010-1".',
  }),
  rule(
    {
      code: 'receiver.country_code',
      checks:
        'With a RUC, CI or NIE the country is UY or omitted; with a DNI it is AR, BR, CL or PY; with a NIFE any country other than UY; with a PASSPORT or OTHER any country of the list, or 99.',
      source: 'Formato CFE v25.2, zone A, field 61; docs/contract.md#receivers',
      example:
        'header.receiver.country_code: must be a country other than UY, or 99, when the document is a NIFE, found none.',
      needs: ['receiver_doc_type', 'country_code'],
    },
    ({ receiver_doc_type: type, country_code }) => {
      const expected = type && countryFault(type, country_code);
      if (expected === undefined) return undefined;
      const words = `must be ${expected} when the document is a ${type}, found ${country_code ?? 'none'}.`;
      return { at: at('country_code'), words };
    },
  ),
  ...(['legal_name', 'fiscal_address', 'city', 'department', 'country'] as const).map((field) =>
    rule(
      {
        code: `receiver.${field}`,
        checks:
          field === 'department' || field === 'country'
            ? `Exports have the receiver’s ${field}.`
            : `e-Facturas and exports have the receiver’s ${field}.`,
        source: `Formato CFE v25.2, zone A, field ${FIELD_NUMBERS[field]}; docs/contract.md#receivers`,
        example: `header.receiver.${field}: is required for EFACTURA_EXPORT.`,
        needs: ['cfe_type', 'receiver', field],
      },
      (parts) => {
        if (parts.receiver === undefined || parts[field] !== undefined) return undefined;
        if (!cfeTypeRow(parts.cfe_type).receiver.fields.includes(field)) return undefined;
        return { at: at(field), words: `is required for ${parts.cfe_type}.` };
      },
    ),
  ),
  rule(
    {
      code: 'receiver.identification_required',
      checks: `An e-Ticket above ${IDENTIFICATION_UI} UI, net of VAT and of amounts not billed, identifies its receiver by a document.`,
      source: 'Formato CFE v25.2, table E; docs/authority/amounts.md#threshold',
      example:
        'header.receiver: must have receiver_doc_type and receiver_document above 32104.00 pesos net (5000 UI), found 32104.01 pesos net.',
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
      const pesos = outsideRates(parts.sums).plus(parts.prices.bases).times(rate);
      const limit = identificationLimit(uiValue);
      if (pesos.lte(limit)) return undefined;
      const above = `above ${amountText(limit)} pesos net (${IDENTIFICATION_UI} UI)`;
      const expected = `must have receiver_doc_type and receiver_document ${above}`;
      return { at: RECEIVER, words: `${expected}, found ${amountText(pesos)} pesos net.` };
    },
  ),
];
