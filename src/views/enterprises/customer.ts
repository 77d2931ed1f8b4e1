import * as z from 'zod';
import type { Customer } from '../../db/entities/enterprises.ts';
import { CUSTOMER_FIELDS, NotificationType } from '../../domain/enterprises/customer.ts';
import { DocumentTypeName } from '../../domain/requests/enums.ts';
import { toApiFields } from '../../domain/requests/fields.ts';
import { CUSTOMER_WORDS, describeField } from '../../domain/requests/fieldWords.ts';
import { fieldsShape } from '../fields.ts';

/** The customer object of the API (openapi.json). */
export const CustomerView = z
  .object({
    doc_type: DocumentTypeName,
    doc_number: z.string().meta(describeField(CUSTOMER_WORDS.doc_number)),
    ...fieldsShape(CUSTOMER_FIELDS),
    notifications: z
      .array(
        z
          .object({
            type: NotificationType,
            destination: z.string().meta(describeField(CUSTOMER_WORDS.destination)),
            enabled: z.boolean().meta(describeField(CUSTOMER_WORDS.enabled)),
          })
          .meta({ id: 'CustomerNotification', description: 'One address that receives receipts.' }),
      )
      .meta(describeField(CUSTOMER_WORDS.notifications)),
  })
  .meta({ id: 'Customer', description: 'A customer of the enterprise.' });

/** Returns the customer object. */
export function customerView(customer: Customer): z.input<typeof CustomerView> {
  return {
    doc_type: customer.docType,
    doc_number: customer.givenNumber,
    ...toApiFields(CUSTOMER_FIELDS, customer),
    notifications: customer.notifications.map(({ type, destination, enabled }) => ({
      type,
      destination,
      enabled,
    })),
  };
}
