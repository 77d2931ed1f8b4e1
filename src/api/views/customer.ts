import * as z from 'zod';
import type { Customer } from '../../db/entities/Customer.ts';
import { NotificationType } from '../../domain/customer.ts';
import { DocumentTypeName } from '../../domain/enums.ts';
import { CUSTOMER_WORDS, words } from '../../domain/fieldWords.ts';

const text = (field: keyof typeof CUSTOMER_WORDS) => {
  const { description, examples } = words(CUSTOMER_WORDS[field]);
  return z
    .string()
    .nullable()
    .meta({ description: `${description} null: not known.`, examples });
};

/** The customer object of the API (openapi.json). */
export const CustomerView = z
  .object({
    doc_type: DocumentTypeName,
    doc_number: z.string().meta(words(CUSTOMER_WORDS.doc_number)),
    legal_name: z.string().meta(words(CUSTOMER_WORDS.legal_name)),
    fiscal_address: text('fiscal_address'),
    city: text('city'),
    department: text('department'),
    country: text('country'),
    country_code: text('country_code'),
    notifications: z
      .array(
        z
          .object({
            type: NotificationType,
            destination: z.string().meta(words(CUSTOMER_WORDS.destination)),
            enabled: z.boolean().meta(words(CUSTOMER_WORDS.enabled)),
          })
          .meta({ id: 'CustomerNotification', description: 'One place where receipts go.' }),
      )
      .meta(words(CUSTOMER_WORDS.notifications)),
  })
  .meta({ id: 'Customer', description: 'A customer of the enterprise.' });

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
