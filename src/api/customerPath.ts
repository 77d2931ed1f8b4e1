/** A customer in a path: by the kind and the number of its document. */
import type { CustomerKey } from '../db/customers.ts';
import { DocumentTypeName } from '../domain/enums.ts';
import { faultAt } from '../domain/faults.ts';
import { CUSTOMER_WORDS, words } from '../domain/fieldWords.ts';
import { LENGTHS } from '../domain/lengths.ts';
import { type DocumentType, documentFault } from '../domain/receiverDocument.ts';
import { Rut } from '../domain/rut.ts';
import { text } from '../domain/text.ts';
import type { Fault } from '../errors.ts';

export const CUSTOMER_PATH = '/enterprises/{rut}/customers/{doc_type}/{doc_number}';

/** The values of CUSTOMER_PATH. */
export const CustomerParams = {
  rut: Rut,
  doc_type: DocumentTypeName.meta({ description: 'Kind of the customer’s document.' }),
  doc_number: text(LENGTHS.foreignDocument).meta(words(CUSTOMER_WORDS.doc_number)),
};

interface Values {
  readonly rut: string;
  readonly doc_type: DocumentType;
  readonly doc_number: string;
}

/** A RUC in the path needs its check digit. */
export function documentInPath({ doc_type, doc_number }: Values): Fault[] {
  const fault = documentFault(doc_type, doc_number);
  return fault ? [faultAt(['doc_number'], fault.code, fault.message, '/path')] : [];
}

/** The customer that the path names. */
export function customerKey({ rut, doc_type, doc_number }: Values): CustomerKey {
  return { rut, docType: doc_type, docNumber: doc_number };
}
