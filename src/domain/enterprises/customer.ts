import * as z from 'zod';
import { DOCUMENT_TYPES, documentFault } from '../receipts/receiverDocument.ts';
import { DocumentTypeName, namedEnum } from '../requests/enums.ts';
import { creationShape, optionalField, requiredField } from '../requests/fields.ts';
import { CUSTOMER_WORDS, describeField } from '../requests/fieldWords.ts';
import { CountryCode } from '../values/countries.ts';
import { Email } from '../values/email.ts';
import { addIssue } from '../values/issue.ts';
import { LENGTHS } from '../values/lengths.ts';
import { textSchema } from '../values/text.ts';

const MOST_NOTIFICATIONS = 20;

/** How a customer receives its receipts. */
export const NotificationType = namedEnum('NotificationType', 'How receipts are delivered.', ['EMAIL'], {
  EMAIL: 'By e-mail, with PDF and XML.',
});

const Notification = z
  .strictObject({
    type: NotificationType,
    destination: Email.meta(describeField(CUSTOMER_WORDS.destination)),
    enabled: z.boolean().meta(describeField(CUSTOMER_WORDS.enabled)),
  })
  .meta({ id: 'CustomerNotificationRequest', description: 'One destination for receipts.' });

/** The fields of a customer without its document. */
export const CUSTOMER_FIELDS = {
  legal_name: requiredField({
    column: 'legalName',
    schema: textSchema(LENGTHS.legalName),
    words: { description: 'Legal name of the customer.', examples: ['Almacén del Sur S.R.L.'] },
  }),
  fiscal_address: optionalField({
    column: 'fiscalAddress',
    schema: textSchema(LENGTHS.address),
    words: { description: 'Street and number. null: not known.', examples: ['Av. 18 de Julio 1234'] },
  }),
  city: optionalField({
    column: 'city',
    schema: textSchema(LENGTHS.city),
    words: { description: 'City or town. null: not known.', examples: ['Montevideo'] },
  }),
  department: optionalField({
    column: 'department',
    schema: textSchema(LENGTHS.department),
    words: { description: 'Department, province or state. null: not known.', examples: ['Montevideo'] },
  }),
  country: optionalField({
    column: 'country',
    schema: textSchema(LENGTHS.countryName),
    words: { description: 'Name of the country, in words. null: not known.', examples: ['Uruguay'] },
  }),
  country_code: optionalField({
    column: 'countryCode',
    schema: CountryCode,
    words: {
      description:
        'Country code of the CFE format: ISO 3166-1 alpha-2 in capitals, or 99 for a country without a code. null: not known.',
      examples: ['UY'],
    },
  }),
} as const;

/** Body of POST …/customers and PUT …/customers/{doc_type}/{doc_number} (docs/contract.md#customers). */
export const CustomerBody = z
  .strictObject({
    doc_type: DocumentTypeName,
    doc_number: textSchema(LENGTHS.foreignDocument).meta(describeField(CUSTOMER_WORDS.doc_number)),
    ...creationShape(CUSTOMER_FIELDS),
    notifications: z
      .array(Notification)
      .max(MOST_NOTIFICATIONS)
      .nullable()
      .meta(describeField(CUSTOMER_WORDS.notifications))
      .optional(),
  })
  .superRefine(
    (customer, ctx) => {
      const fault = documentFault(customer.doc_type, customer.doc_number);
      if (fault) addIssue(ctx, fault.code, fault.message, ['doc_number']);
    },
    // Checks the number even if other fields are invalid, to report all faults at once.
    { when: ({ value }) => hasDocument(value) },
  )
  .meta({ description: 'A customer; omitted and null fields are not known.' });
export type CustomerBody = z.infer<typeof CustomerBody>;

function hasDocument(value: unknown): boolean {
  const { doc_type, doc_number } = (value ?? {}) as { doc_type?: unknown; doc_number?: unknown };
  return (
    DOCUMENT_TYPES.some((type) => type === doc_type) &&
    typeof doc_number === 'string' &&
    doc_number.trim() !== ''
  );
}
