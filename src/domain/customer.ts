import * as z from 'zod';
import { CountryCode } from './countries.ts';
import { Email } from './email.ts';
import { addIssue } from './issue.ts';
import { LENGTHS } from './lengths.ts';
import { DOCUMENT_TYPES, documentFault } from './receiverDocument.ts';
import { text } from './text.ts';

const MOST_NOTIFICATIONS = 20;

/** Body of POST …/customers and PUT …/customers/{doc_type}/{doc_number} (docs/contract.md#customers). */
export const Customer = z
  .strictObject({
    doc_type: z.enum(DOCUMENT_TYPES),
    doc_number: text(LENGTHS.foreignDocument),
    legal_name: text(LENGTHS.legalName),
    fiscal_address: text(LENGTHS.address).optional(),
    city: text(LENGTHS.city).optional(),
    department: text(LENGTHS.department).optional(),
    country: text(LENGTHS.countryName).optional(),
    country_code: CountryCode.optional(),
    notifications: z
      .array(z.strictObject({ type: z.enum(['EMAIL']), destination: Email, enabled: z.boolean() }))
      .max(MOST_NOTIFICATIONS)
      .optional(),
  })
  .superRefine(
    (customer, ctx) => {
      const fault = documentFault(customer.doc_type, customer.doc_number);
      if (fault) addIssue(ctx, fault.code, fault.message, ['doc_number']);
    },
    // The number is checked even when other fields are at fault, so that all faults are told at once.
    { when: ({ value }) => hasDocument(value) },
  );
export type Customer = z.infer<typeof Customer>;

function hasDocument(value: unknown): boolean {
  const { doc_type, doc_number } = (value ?? {}) as { doc_type?: unknown; doc_number?: unknown };
  return typeof doc_type === 'string' && typeof doc_number === 'string' && doc_number.trim() !== '';
}
