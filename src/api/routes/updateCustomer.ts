import { requireCustomer, updateCustomer as update } from '../../commands/updateCustomer.ts';
import { Customer } from '../../domain/customer.ts';
import { CUSTOMER_PATH, CustomerParams, customerKey, documentInPath } from '../customerPath.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { CustomerView, customerView } from '../views/customer.ts';

/** PUT …/customers/{doc_type}/{doc_number}: replaces all that is kept of a customer. */
export const updateCustomer = defineRoute({
  name: 'updateCustomer',
  method: 'PUT',
  path: CUSTOMER_PATH,
  summary: 'Update customer',
  about: 'Replaces all that is kept of a customer. The document in the body must be that in the path.',
  auth: 'token',
  sandbox: false,
  role: 'MEMBER',
  params: CustomerParams,
  checkParams: documentInPath,
  requireResource: ({ params }, deps) => requireCustomer(deps, customerKey(params)),
  query: null,
  body: { schema: Customer, limitBytes: BODY_LIMITS.other },
  success: { status: 200, description: 'The updated customer', schema: CustomerView },
  errors: ['NOT_FOUND'],
  async handle({ params, body }, deps) {
    return customerView(await update(deps, { ...customerKey(params), customer: body }));
  },
});
