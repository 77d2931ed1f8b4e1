import type { Fault } from '../errors.ts';
import type { RuleRow } from './bodyRules.ts';
import type { Customer } from './customer.ts';
import type { DocumentType } from './receiverDocument.ts';

/** What a customer must be beside its form: the rows of the rules page. */
export const CUSTOMER_RULES = {
  'customer.exists': {
    checks: 'No two customers of an enterprise have the same doc_type and doc_number.',
    source: 'decisions.md §6',
    example: 'doc_number: the enterprise has a customer RUC 219999830019 already.',
  },
  'customer.other_document': {
    checks: 'The document in the body of an update is the one in its path.',
    source: 'decisions.md §6',
    example: 'doc_number: the path names 219999830019; a customer keeps its document.',
  },
} as const satisfies Record<string, RuleRow>;

/** The fault of a customer's number. */
export function customerFault(code: keyof typeof CUSTOMER_RULES, message: string): Fault {
  return { path: '/doc_number', code, message };
}

/** Where the document of `body` is not that of the path. */
export function documentFaults(
  body: Pick<Customer, 'doc_type' | 'doc_number'>,
  path: { readonly docType: DocumentType; readonly docNumber: string },
): Fault[] {
  const pairs = [
    ['doc_type', body.doc_type, path.docType],
    ['doc_number', body.doc_number, path.docNumber],
  ] as const;
  return pairs
    .filter(([, given, named]) => given !== named)
    .map(([field, , named]) => ({
      path: `/${field}`,
      code: 'customer.other_document',
      message: `${field}: the path names ${named}; a customer keeps its document.`,
    }));
}
