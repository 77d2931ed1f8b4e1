import * as z from 'zod';
import { CountryCode } from './countries.ts';
import { Email } from './email.ts';
import { DocumentTypeName, namedEnum } from './enums.ts';
import { CUSTOMER_WORDS, words } from './fieldWords.ts';
import { addIssue } from './issue.ts';
import { LENGTHS } from './lengths.ts';
import { documentFault } from './receiverDocument.ts';
import { text } from './text.ts';

const MOST_NOTIFICATIONS = 20;

/** How a customer is told of receipts. */
export const NotificationType = namedEnum('NotificationType', 'How receipts are delivered.', ['EMAIL'], {
  EMAIL: 'By e-mail, with PDF and XML.',
});

const Notification = z
  .strictObject({
    type: NotificationType,
    destination: Email.meta(words(CUSTOMER_WORDS.destination)),
    enabled: z.boolean().meta(words(CUSTOMER_WORDS.enabled)),
  })
  .meta({ id: 'CustomerNotificationRequest', description: 'One place where receipts go.' });

/** Body of POST …/customers and PUT …/customers/{doc_type}/{doc_number} (docs/contract.md#customers). */
export const Customer = z
  .strictObject({
    doc_type: DocumentTypeName,
    doc_number: text(LENGTHS.foreignDocument).meta(words(CUSTOMER_WORDS.doc_number)),
    legal_name: text(LENGTHS.legalName).meta(words(CUSTOMER_WORDS.legal_name)),
    fiscal_address: text(LENGTHS.address).meta(words(CUSTOMER_WORDS.fiscal_address)).optional(),
    city: text(LENGTHS.city).meta(words(CUSTOMER_WORDS.city)).optional(),
    department: text(LENGTHS.department).meta(words(CUSTOMER_WORDS.department)).optional(),
    country: text(LENGTHS.countryName).meta(words(CUSTOMER_WORDS.country)).optional(),
    country_code: CountryCode.meta(words(CUSTOMER_WORDS.country_code)).optional(),
    notifications: z
      .array(Notification)
      .max(MOST_NOTIFICATIONS)
      .meta(words(CUSTOMER_WORDS.notifications))
      .optional(),
  })
  .superRefine(
    (customer, ctx) => {
      const fault = documentFault(customer.doc_type, customer.doc_number);
      if (fault) addIssue(ctx, fault.code, fault.message, ['doc_number']);
    },
    // The number is checked even when other fields are at fault, so that all faults are told at once.
    { when: ({ value }) => hasDocument(value) },
  )
  .meta({ description: 'A customer; what is left out is not known.' });
export type Customer = z.infer<typeof Customer>;

function hasDocument(value: unknown): boolean {
  const { doc_type, doc_number } = (value ?? {}) as { doc_type?: unknown; doc_number?: unknown };
  return typeof doc_type === 'string' && typeof doc_number === 'string' && doc_number.trim() !== '';
}
