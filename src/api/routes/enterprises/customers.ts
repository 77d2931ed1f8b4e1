import * as z from 'zod';
import {
  createCustomer as create,
  deleteCustomer as remove,
  requireCustomer,
  updateCustomer as update,
} from '../../../commands/enterprises/customers.ts';
import { type CustomerKey, findCustomers as find } from '../../../db/enterprises/customers.ts';
import { CustomerBody } from '../../../domain/enterprises/customer.ts';
import { type DocumentType, documentFault } from '../../../domain/receipts/receiverDocument.ts';
import { DocumentTypeName } from '../../../domain/requests/enums.ts';
import { faultAt } from '../../../domain/requests/faults.ts';
import { CUSTOMER_WORDS, describeField } from '../../../domain/requests/fieldWords.ts';
import { LENGTHS } from '../../../domain/values/lengths.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { textSchema } from '../../../domain/values/text.ts';
import type { Fault } from '../../../errors.ts';
import { CUSTOMERS } from '../../../lists/customers.ts';
import { nameFilters } from '../../../lists/list.ts';
import { CustomerView, customerView } from '../../../views/enterprises/customer.ts';
import { pageParameters } from '../../paging.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** The path of a customer, by kind and number of its document. */

const CUSTOMER_PATH = '/enterprises/{rut}/customers/{doc_type}/{doc_number}';

const CustomerParams = {
  rut: Rut,
  doc_type: DocumentTypeName.meta({ description: 'Kind of the customer’s document.' }),
  doc_number: textSchema(LENGTHS.foreignDocument).meta(describeField(CUSTOMER_WORDS.doc_number)),
};

interface Values {
  readonly rut: string;
  readonly doc_type: DocumentType;
  readonly doc_number: string;
}

/** Checks the check digit of a RUC in the path. */
function documentFaultsInPath({ doc_type, doc_number }: Values): Fault[] {
  const fault = documentFault(doc_type, doc_number);
  return fault ? [faultAt(['doc_number'], fault.code, fault.message, '/path')] : [];
}

/** Returns the key of the customer in the path. */
function customerKey({ rut, doc_type, doc_number }: Values): CustomerKey {
  return { rut, docType: doc_type, docNumber: doc_number };
}

/** POST …/customers: adds a customer to the enterprise. */
export const createCustomerRoute = defineRoute({
  name: 'createCustomer',
  method: 'POST',
  path: '/enterprises/{rut}/customers',
  summary: 'Create customer',
  about:
    'Saves a customer. A document can belong to only one customer of an enterprise: a second one is 400 INVALID_INPUT with `customer.exists` at `/doc_number`. null counts as omitted. Receipts for that document go to its `notifications` once they are accepted.',
  auth: 'token',
  role: 'MEMBER',
  params: { rut: Rut },
  body: { schema: CustomerBody, limitBytes: BODY_LIMITS.other },
  success: { status: 201, description: 'The customer', schema: CustomerView },
  async handle({ params, body }, deps) {
    return customerView(await create(deps, { rut: params.rut, customer: body }));
  },
});

const LARGEST_PAGE = 1000;
const FILTERS = nameFilters(CUSTOMERS, {
  legal_name: 'legalName',
  doc_number: 'docNumber',
  country_code: 'countryCode',
});

/** GET …/customers: lists the enterprise's customers by name. */
export const listCustomersRoute = defineRoute({
  name: 'listCustomers',
  method: 'GET',
  path: '/enterprises/{rut}/customers',
  summary: 'List customers',
  about: 'Customers ordered by name. The header `Link` has the URL of the next page.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject({
    ...FILTERS.schemas,
    ...pageParameters('customers', { usual: LARGEST_PAGE, largest: LARGEST_PAGE }),
  }),
  success: {
    status: 200,
    description: 'The customers, at most 1000 at a time; the header Link points to the next page',
    schema: z.array(CustomerView).meta({ description: 'The customers of this page.' }),
  },
  async handle({ enterprise, query }, { orm }) {
    const { skip = 0, limit = LARGEST_PAGE } = query;
    const filter = { rut: enterprise.rut, ...FILTERS.valuesOf(query) };
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

/** GET …/customers/{doc_type}/{doc_number}: reads one customer. */
export const getCustomerRoute = defineRoute({
  name: 'getCustomer',
  method: 'GET',
  path: CUSTOMER_PATH,
  summary: 'Read customer',
  about: 'The customer with this document. It may be sent back as it was read.',
  auth: 'token',
  role: 'VIEWER',
  params: CustomerParams,
  checkParams: documentFaultsInPath,
  success: { status: 200, description: 'The customer', schema: CustomerView },
  errors: ['NOT_FOUND'],
  async handle({ params }, deps) {
    return customerView(await requireCustomer(deps, customerKey(params)));
  },
});

/** PUT …/customers/{doc_type}/{doc_number}: replaces the data of a customer. */
export const updateCustomerRoute = defineRoute({
  name: 'updateCustomer',
  method: 'PUT',
  path: CUSTOMER_PATH,
  summary: 'Update customer',
  about:
    'Replaces all data of a customer; null counts as omitted, so the customer may be sent back as it was read. The document in the body must match the path.',
  auth: 'token',
  role: 'MEMBER',
  params: CustomerParams,
  checkParams: documentFaultsInPath,
  async requireResource({ params }, deps) {
    await requireCustomer(deps, customerKey(params));
  },
  body: { schema: CustomerBody, limitBytes: BODY_LIMITS.other },
  success: { status: 200, description: 'The updated customer', schema: CustomerView },
  errors: ['NOT_FOUND'],
  async handle({ params, body }, deps) {
    return customerView(await update(deps, { ...customerKey(params), customer: body }));
  },
});

/** DELETE …/customers/{doc_type}/{doc_number}: deletes a customer. */
export const deleteCustomerRoute = defineRoute({
  name: 'deleteCustomer',
  method: 'DELETE',
  path: CUSTOMER_PATH,
  summary: 'Delete customer',
  about: 'Deletes a customer; issued CFEs keep their data.',
  auth: 'token',
  role: 'MEMBER',
  params: CustomerParams,
  checkParams: documentFaultsInPath,
  success: {
    status: 200,
    description: 'The customer was deleted',
    schema: z.literal(true).meta({ description: 'Always true.' }),
  },
  errors: ['NOT_FOUND'],
  async handle({ params }, deps) {
    await remove(deps, customerKey(params));
    return true as const;
  },
});
