import { type CustomerKey, customerFacts, hasCustomer, replaceCustomer } from '../db/customers.ts';
import type { Customer } from '../db/entities/Customer.ts';
import type { Customer as CustomerBody } from '../domain/customer.ts';
import { documentFaults } from '../domain/customerRules.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

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
  const now = deps.clock();
  const facts = customerFacts(body, now);
  const customer = await deps.orm.em.fork().transactional(async (em) => {
    const replaced = await replaceCustomer(em, key, facts);
    if (replaced) audited(deps, em, { action: 'customer.update', subject: replaced.id, rut: key.rut }, now);
    return replaced;
  });
  if (!customer) throw unknown(key);
  return customer;
}

/** Refuses a document that no customer of the enterprise has (NOT_FOUND). */
export async function requireCustomer(deps: CommandDeps, key: CustomerKey): Promise<void> {
  if (!(await hasCustomer(deps.orm.em.fork(), key))) throw unknown(key);
}

const unknown = ({ docType }: CustomerKey): Refusal =>
  new Refusal('NOT_FOUND', `The enterprise has no customer with this ${docType}.`);
