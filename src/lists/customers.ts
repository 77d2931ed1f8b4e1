import { CUSTOMER_ORDER, findCustomers } from '../db/enterprises/customers.ts';
import type { Customer } from '../db/entities/enterprises.ts';
import { CountryCode } from '../domain/values/countries.ts';
import { LENGTHS } from '../domain/values/lengths.ts';
import { textSchema } from '../domain/values/text.ts';
import { type FilterValues, listOf } from './list.ts';

const FILTERS = {
  legalName: {
    schema: textSchema(LENGTHS.legalName).meta({ examples: ['almacen'] }),
    only: 'customers with this part in their legal name; accents and case are ignored',
    placeholder: 'part',
  },
  docNumber: {
    schema: textSchema(LENGTHS.foreignDocument).meta({ examples: ['219999830019'] }),
    only: 'the customer with this document; the complete number',
  },
  countryCode: { schema: CountryCode, only: 'customers of this country' },
} as const;

/** Customers of an enterprise, by name. */
export const CUSTOMERS = listOf<Customer, FilterValues<typeof FILTERS> & { readonly rut: string }>()({
  name: 'customers',
  filters: FILTERS,
  columns: {
    legal_name: 'legalName',
    doc_type: 'docType',
    doc_number: 'givenNumber',
    fiscal_address: 'fiscalAddress',
    city: 'city',
    department: 'department',
    country: 'country',
    country_code: 'countryCode',
    emails: ({ notifications }) =>
      notifications.filter(({ enabled }) => enabled).map(({ destination }) => destination),
  },
  key: CUSTOMER_ORDER,
  read: (em, search, page) => findCustomers(em, search, page),
});
