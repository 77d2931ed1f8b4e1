import {
  customerFacts,
  hasMoreCustomersThan,
  insertCustomer,
  takeTurnToAddCustomer,
} from '../db/customers.ts';
import type { Customer } from '../db/entities/Customer.ts';
import { USUAL_CAPS } from '../domain/caps.ts';
import type { Customer as CustomerBody } from '../domain/customer.ts';
import { customerFault, tooManyCustomers } from '../domain/customerRules.ts';
import { invalidInput } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Keeps a customer of an enterprise. Refuses a document that one of its customers has already, and more customers than
 * an enterprise may have (INVALID_INPUT).
 */
export async function createCustomer(
  deps: CommandDeps,
  input: { rut: string; customer: CustomerBody },
): Promise<Customer> {
  const { rut, customer: body } = input;
  const { doc_type: docType, doc_number: docNumber } = body;
  const { customers: most } = deps.caps ?? USUAL_CAPS;
  const now = deps.clock();
  const facts = customerFacts(body, now);
  const customer = await deps.orm.em.fork().transactional(async (em) => {
    await takeTurnToAddCustomer(em, rut);
    const made = await insertCustomer(em, { rut, docType, docNumber }, facts);
    if (!made) return null;
    if (await hasMoreCustomersThan(em, rut, most)) throw invalidInput([tooManyCustomers(most)]);
    audited(deps, em, { action: 'customer.create', subject: made.id, rut }, now);
    return made;
  });
  if (customer) return customer;
  throw invalidInput([
    customerFault(
      'customer.exists',
      `doc_number: the enterprise already has a customer ${docType} ${docNumber}.`,
    ),
  ]);
}
