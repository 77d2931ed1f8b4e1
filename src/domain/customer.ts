import * as z from 'zod';
import { CountryCode } from './countries.ts';
import { Email } from './email.ts';
import { DocumentTypeName, namedEnum } from './enums.ts';
import { needed, optional, shapeOf } from './fields.ts';
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

/** The fields of a customer beside its document. */
export const CUSTOMER_FIELDS = {
  legal_name: needed({
    column: 'legalName',
    schema: text(LENGTHS.legalName),
    words: { description: 'Legal name of the customer.', examples: ['Almacén del Sur S.R.L.'] },
  }),
  fiscal_address: optional({
    column: 'fiscalAddress',
    schema: text(LENGTHS.address),
    words: { description: 'Street and number. null: not known.', examples: ['Av. 18 de Julio 1234'] },
  }),
  city: optional({
    column: 'city',
    schema: text(LENGTHS.city),
    words: { description: 'City or town. null: not known.', examples: ['Montevideo'] },
  }),
  department: optional({
    column: 'department',
    schema: text(LENGTHS.department),
    words: { description: 'Department, province or state. null: not known.', examples: ['Montevideo'] },
  }),
  country: optional({
    column: 'country',
    schema: text(LENGTHS.countryName),
    words: { description: 'Name of the country, in words. null: not known.', examples: ['Uruguay'] },
  }),
  country_code: optional({
    column: 'countryCode',
    schema: CountryCode,
    words: {
      description:
        'Country by its code in the CFE format: ISO 3166-1 alpha-2 in capitals, or 99 where the format has none. null: not known.',
      examples: ['UY'],
    },
  }),
} as const;

/** Body of POST …/customers and PUT …/customers/{doc_type}/{doc_number} (docs/contract.md#customers). */
export const Customer = z
  .strictObject({
    doc_type: DocumentTypeName,
    doc_number: text(LENGTHS.foreignDocument).meta(words(CUSTOMER_WORDS.doc_number)),
    ...shapeOf(CUSTOMER_FIELDS),
    notifications: z
      .array(Notification)
      .max(MOST_NOTIFICATIONS)
      .nullable()
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
  .meta({ description: 'A customer; what is left out, or null, is not known.' });
export type Customer = z.infer<typeof Customer>;

function hasDocument(value: unknown): boolean {
  const { doc_type, doc_number } = (value ?? {}) as { doc_type?: unknown; doc_number?: unknown };
  return typeof doc_type === 'string' && typeof doc_number === 'string' && doc_number.trim() !== '';
}
