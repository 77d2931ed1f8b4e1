import type { Fault } from '../../errors.ts';
import { comparedNumber, type DocumentType } from '../receipts/receiverDocument.ts';
import type { RuleRow } from '../requests/bodyRules.ts';
import type { CustomerBody } from './customer.ts';

/** The rules on customers that the schema does not contain: rows of docs/rules.md. */
export const CUSTOMER_RULES = {
  'customer.exists': {
    checks: 'No two customers have the same doc_type and doc_number.',
    source: 'docs/contract.md#customers',
    example: 'doc_number: the enterprise already has a customer RUC 219999830019.',
  },
  'customer.too_many': {
    checks: 'An enterprise has at most 20,000 customers, or what the operator allows.',
    source: 'docs/contract.md#limits',
    example: 'The enterprise has 20000 customers already, the maximum; delete one first.',
  },
  'customer.other_document': {
    checks: 'The document in the body is the one in the path.',
    source: 'docs/contract.md#customers',
    example: 'doc_number: must be 219999830019, as in the path; a customer keeps its document.',
  },
} as const satisfies Record<string, RuleRow>;

/** Creates the fault of exceeding the maximum of customers. */
export function tooManyCustomers(most: number): Fault {
  return {
    path: '',
    code: 'customer.too_many' satisfies keyof typeof CUSTOMER_RULES,
    message: `The enterprise has ${most} customers already, the maximum; delete one first.`,
  };
}

/** Creates a fault of a customer's document number. */
export function customerFault(code: keyof typeof CUSTOMER_RULES, message: string): Fault {
  return { path: '/doc_number', code, message };
}

/** Returns the faults of a body whose document differs from the path. */
export function documentFaults(
  body: Pick<CustomerBody, 'doc_type' | 'doc_number'>,
  path: { readonly docType: DocumentType; readonly docNumber: string },
): Fault[] {
  const pairs = [
    ['doc_type', body.doc_type, path.docType],
    [
      'doc_number',
      comparedNumber(body.doc_type, body.doc_number),
      comparedNumber(path.docType, path.docNumber),
    ],
  ] as const;
  return pairs
    .filter(([, inBody, inPath]) => inBody !== inPath)
    .map(([field, , inPath]) => ({
      path: `/${field}`,
      code: 'customer.other_document',
      message: `${field}: must be ${inPath}, as in the path; a customer keeps its document.`,
    }));
}
