/**
 * The nine types of CFE that the service issues, with all their differences. Sources: Formato CFE v25.2, table A (codes),
 * zones A and B; docs/authority/receipts.md, docs/authority/codes.md.
 */

import type { DocumentType } from './receiverDocument.ts';

export const ENVIRONMENTS = ['production', 'sandbox'] as const;
/** In production a CFE is a fiscal document, in sandbox it is a test. */
export type Environment = (typeof ENVIRONMENTS)[number];

/**
 * The kinds of line of the API with the authority's IndFact (Formato CFE v25.2, zone B, field 4;
 * docs/contract.md#lines).
 */
export const IVA_TYPES = {
  FREE: 5,
  EXEMPT: 1,
  MINIMUM_RATE: 2,
  BASIC_RATE: 3,
  OTHER_RATE: 4,
  EXPORT: 10,
  PERCEIVED: 11,
  SUSPENDED: 12,
  NON_BILLABLE: 6,
  NON_BILLABLE_NEGATIVE: 7,
} as const;
export type IvaType = keyof typeof IVA_TYPES;

/** Fields of `header.receiver` that a family may require. */
type ReceiverField = 'legal_name' | 'fiscal_address' | 'city' | 'department' | 'country';

/** The receiver of a family (docs/authority/receipts.md#who-must-be-named, docs/contract.md#receivers). */
interface ReceiverRow {
  readonly required: boolean;
  /** Kinds of document that the family's schema allows. */
  readonly documents: 'all' | readonly DocumentType[];
  /** When a document must identify the receiver. */
  readonly identified: 'always' | 'above the threshold' | 'never';
  readonly fields: readonly ReceiverField[];
}

interface TypeRow {
  /** TipoCFE. */
  readonly code: number;
  readonly label: string;
  /** Element of the document inside `CFE`. */
  readonly root: 'eTck' | 'eFact' | 'eFact_Exp';
  readonly family: 'ticket' | 'invoice' | 'export';
  /** Notes correct another CFE and reference it (zone F). */
  readonly note: 'credit' | 'debit' | null;
  readonly maxLines: number;
  readonly ivaTypes: readonly IvaType[];
  readonly receiver: ReceiverRow;
  /** ModVenta values of the family (Formato CFE v25.2, zone A, field 14). */
  readonly saleModes: readonly number[];
  /** Whether ClauVenta, ModVenta and ViaTransp are always present; else only ModVenta, with exported lines. */
  readonly saleZone: boolean;
}

const LOCAL: readonly IvaType[] = [
  'FREE',
  'EXEMPT',
  'MINIMUM_RATE',
  'BASIC_RATE',
  'OTHER_RATE',
  'EXPORT',
  'PERCEIVED',
  'SUSPENDED',
  'NON_BILLABLE',
  'NON_BILLABLE_NEGATIVE',
];
const ABROAD: readonly IvaType[] = ['FREE', 'EXPORT', 'NON_BILLABLE', 'NON_BILLABLE_NEGATIVE'];

const ticket = {
  root: 'eTck',
  family: 'ticket',
  maxLines: 700,
  ivaTypes: LOCAL,
  receiver: { required: false, documents: 'all', identified: 'above the threshold', fields: [] },
  saleModes: [80, 90],
  saleZone: false,
} as const;
const invoice = {
  root: 'eFact',
  family: 'invoice',
  maxLines: 200,
  ivaTypes: LOCAL,
  receiver: {
    required: true,
    documents: ['RUC'],
    identified: 'always',
    fields: ['legal_name', 'fiscal_address', 'city'],
  },
  saleModes: [90],
  saleZone: false,
} as const;
const exported = {
  root: 'eFact_Exp',
  family: 'export',
  maxLines: 200,
  ivaTypes: ABROAD,
  receiver: {
    required: true,
    documents: 'all',
    identified: 'never',
    fields: ['legal_name', 'fiscal_address', 'city', 'department', 'country'],
  },
  saleModes: [1, 2, 3, 4, 90, 91, 99],
  saleZone: true,
} as const;

/** The types by their name in the API. */
export const CFE_TYPES = {
  ETICKET: { code: 101, label: 'e-Ticket', note: null, ...ticket },
  ETICKET_NC: { code: 102, label: 'Nota de Crédito de e-Ticket', note: 'credit', ...ticket },
  ETICKET_ND: { code: 103, label: 'Nota de Débito de e-Ticket', note: 'debit', ...ticket },
  EFACTURA: { code: 111, label: 'e-Factura', note: null, ...invoice },
  EFACTURA_NC: { code: 112, label: 'Nota de Crédito de e-Factura', note: 'credit', ...invoice },
  EFACTURA_ND: { code: 113, label: 'Nota de Débito de e-Factura', note: 'debit', ...invoice },
  EFACTURA_EXPORT: { code: 121, label: 'e-Factura de Exportación', note: null, ...exported },
  EFACTURA_EXPORT_NC: {
    code: 122,
    label: 'Nota de Crédito de e-Factura de Exportación',
    note: 'credit',
    ...exported,
  },
  EFACTURA_EXPORT_ND: {
    code: 123,
    label: 'Nota de Débito de e-Factura de Exportación',
    note: 'debit',
    ...exported,
  },
} as const satisfies Record<string, TypeRow>;

export type CfeType = keyof typeof CFE_TYPES;
export type CfeTypeRow = TypeRow;
export const CFE_TYPE_NAMES = Object.keys(CFE_TYPES) as CfeType[];

/** Returns the row of a type, without its literal types. */
export function cfeTypeRow(type: CfeType): CfeTypeRow {
  return CFE_TYPES[type];
}

/** Returns the type with a code of the authority; undefined for an unsupported code. */
export function cfeTypeOfCode(code: number): CfeType | undefined {
  return CFE_TYPE_NAMES.find((name) => CFE_TYPES[name].code === code);
}
