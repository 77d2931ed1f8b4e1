import * as z from 'zod';
import { deleteCustomer as remove } from '../../commands/deleteCustomer.ts';
import { CUSTOMER_PATH, CustomerParams, customerKey, documentInPath } from '../customerPath.ts';
import { defineRoute } from '../route.ts';

/** DELETE …/customers/{doc_type}/{doc_number}: forgets a customer. */
export const deleteCustomer = defineRoute({
  name: 'deleteCustomer',
  method: 'DELETE',
  path: CUSTOMER_PATH,
  summary: 'Delete customer',
  about: 'Forgets a customer; CFEs keep what they were issued with.',
  auth: 'token',
  sandbox: false,
  role: 'MEMBER',
  params: CustomerParams,
  checkParams: documentInPath,
  query: null,
  body: null,
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
