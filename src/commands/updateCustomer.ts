import { type CustomerKey, replaceCustomer } from '../db/customers.ts';
import type { Customer } from '../db/entities/Customer.ts';
import type { Customer as CustomerBody } from '../domain/customer.ts';
import { documentFaults } from '../domain/customerRules.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { customerFacts } from './customerFacts.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Puts `customer` in the place of what was kept of the one with that document: what it leaves out is gone. Refuses an
 * unknown document (NOT_FOUND) and a body with another (INVALID_INPUT).
 */
export async function updateCustomer(
  deps: CommandDeps,
  input: CustomerKey & { customer: CustomerBody },
): Promise<Customer> {
  const { customer: body, ...key } = input;
  const faults = documentFaults(body, key);
  if (faults.length > 0) throw invalidInput(faults);
  const facts = customerFacts(body, deps.clock());
  const customer = await deps.orm.em.fork().transactional((em) => replaceCustomer(em, key, facts));
  if (!customer) throw new Refusal('NOT_FOUND', `The enterprise has no customer with this ${key.docType}.`);
  return customer;
}
