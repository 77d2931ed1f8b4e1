import { createCustomer as create } from '../../commands/createCustomer.ts';
import { Customer } from '../../domain/customer.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { CustomerView, customerView } from '../views/customer.ts';

/** POST …/customers: keeps a customer of the enterprise. */
export const createCustomer = defineRoute({
  name: 'createCustomer',
  method: 'POST',
  path: '/enterprises/{rut}/customers',
  summary: 'Create customer',
  about:
    'Keeps a customer. Each document is kept once in an enterprise. Receipts for that document go to its `notifications` once they are accepted.',
  auth: 'token',
  sandbox: false,
  role: 'MEMBER',
  params: { rut: Rut },
  query: null,
  body: { schema: Customer, limitBytes: BODY_LIMITS.other },
  success: { status: 201, description: 'The customer', schema: CustomerView },
  errors: [],
  async handle({ params, body }, deps) {
    return customerView(await create(deps, { rut: params.rut, customer: body }));
  },
});
