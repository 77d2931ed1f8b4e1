import * as z from 'zod';
import { listCustomers as find } from '../../db/customers.ts';
import { CountryCode } from '../../domain/countries.ts';
import { LENGTHS } from '../../domain/lengths.ts';
import { Rut } from '../../domain/rut.ts';
import { text } from '../../domain/text.ts';
import { pageOf } from '../paging.ts';
import { defineRoute } from '../route.ts';
import { CustomerView, customerView } from '../views/customer.ts';

const LARGEST_PAGE = 1000;

/** GET …/customers: the enterprise's customers in the order of their names. */
export const listCustomers = defineRoute({
  name: 'listCustomers',
  method: 'GET',
  path: '/enterprises/{rut}/customers',
  summary: 'List customers',
  about: 'Customers in the order of their names. The header `Link` has the address of the next page.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject({
    legal_name: text(LENGTHS.legalName)
      .optional()
      .meta({ description: 'Part of the legal name; accents and case are ignored.', examples: ['almacen'] }),
    doc_number: text(LENGTHS.foreignDocument)
      .optional()
      .meta({ description: 'The complete document number.', examples: ['219999830019'] }),
    country_code: CountryCode.optional().meta({ description: 'Only customers of this country.' }),
    ...pageOf('customers', { usual: LARGEST_PAGE, largest: LARGEST_PAGE }),
  }),
  body: null,
  success: {
    status: 200,
    description: 'The customers, at most 1000 at a time; the header Link points to the next page',
    schema: z.array(CustomerView).meta({ description: 'The customers of this page.' }),
  },
  errors: [],
  async handle({ enterprise, query }, { orm }) {
    const { legal_name: legalName, doc_number: docNumber, country_code: countryCode } = query;
    const { skip = 0, limit = LARGEST_PAGE } = query;
    const filter = { rut: enterprise.rut, legalName, docNumber, countryCode };
    return (await find(orm.em.fork(), filter, { skip, limit })).map(customerView);
  },
  nextPage({ query }, data) {
    const { skip = 0, limit = LARGEST_PAGE, ...filter } = query;
    if (data.length < limit) return null;
    return { ...definedIn(filter), skip: String(skip + limit), limit: String(limit) };
  },
});

const definedIn = (filter: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
