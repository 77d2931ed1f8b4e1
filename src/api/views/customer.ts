import * as z from 'zod';
import type { Customer } from '../../db/entities/Customer.ts';
import { DOCUMENT_TYPES } from '../../domain/receiverDocument.ts';

const Text = z.string().nullable();

/** The customer object of the API (openapi.json). */
export const CustomerView = z
  .object({
    doc_type: z.enum(DOCUMENT_TYPES),
    doc_number: z.string(),
    legal_name: z.string(),
    fiscal_address: Text,
    city: Text,
    department: Text,
    country: Text,
    country_code: Text,
    notifications: z.array(
      z.object({ type: z.enum(['EMAIL']), destination: z.string(), enabled: z.boolean() }),
    ),
  })
  .meta({ id: 'Customer' });

/** The customer object. */
export function customerView(customer: Customer): z.input<typeof CustomerView> {
  return {
    doc_type: customer.docType,
    doc_number: customer.docNumber,
    legal_name: customer.legalName,
    fiscal_address: customer.fiscalAddress ?? null,
    city: customer.city ?? null,
    department: customer.department ?? null,
    country: customer.country ?? null,
    country_code: customer.countryCode ?? null,
    notifications: customer.notifications.map(({ type, destination, enabled }) => ({
      type,
      destination,
      enabled,
    })),
  };
}
