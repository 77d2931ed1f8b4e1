import {
  type CustomerKey,
  findCustomer,
  hasMoreCustomersThan,
  insertCustomer,
  removeCustomer as remove,
  replaceCustomer,
  toCustomerFacts,
} from '../../db/enterprises/customers.ts';
import type { Customer } from '../../db/entities/enterprises.ts';
import { takeAdvisoryLock } from '../../db/sql.ts';
import type { CustomerBody } from '../../domain/enterprises/customer.ts';
import { customerFault, documentFaults, tooManyCustomers } from '../../domain/enterprises/customerRules.ts';
import { USUAL_CAPS } from '../../domain/people/caps.ts';
import { invalidInput, Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireEnterpriseRole } from '../steps/requireEnterpriseRole.ts';

/**
 * Adds a customer to an enterprise. Throws INVALID_INPUT for a document already in use, and for more
 * customers than an enterprise may have.
 */
export async function createCustomer(
  deps: CommandDeps,
  input: { rut: string; customer: CustomerBody },
): Promise<Customer> {
  const { rut, customer: body } = input;
  const { doc_type: docType, doc_number: docNumber } = body;
  const { customers: most } = deps.caps ?? USUAL_CAPS;
  const now = deps.clock();
  const facts = toCustomerFacts(body, now);
  const customer = await deps.orm.em.fork().transactional(async (em) => {
    await takeAdvisoryLock(em, `customers of ${rut}`);
    await requireEnterpriseRole(deps, em, rut);
    const inserted = await insertCustomer(em, { rut, docType, docNumber }, facts);
    if (!inserted) return null;
    if (await hasMoreCustomersThan(em, rut, most)) throw invalidInput([tooManyCustomers(most)]);
    auditAct(deps, em, { action: 'customer.create', subject: inserted.id, rut }, now);
    return inserted;
  });
  if (customer) return customer;
  throw invalidInput([
    customerFault(
      'customer.exists',
      `doc_number: the enterprise already has a customer ${docType} ${docNumber}.`,
    ),
  ]);
}

/**
 * Replaces the data of a customer; omitted fields are cleared. Throws NOT_FOUND for an unknown document,
 * INVALID_INPUT when the body has another document.
 */
export async function updateCustomer(
  deps: CommandDeps,
  input: CustomerKey & { customer: CustomerBody },
): Promise<Customer> {
  const { customer: body, ...key } = input;
  const faults = documentFaults(body, key);
  if (faults.length > 0) throw invalidInput(faults);
  const now = deps.clock();
  const facts = toCustomerFacts(body, now);
  const customer = await deps.orm.em.fork().transactional(async (em) => {
    await requireEnterpriseRole(deps, em, key.rut);
    const replaced = await replaceCustomer(em, key, facts);
    if (replaced) auditAct(deps, em, { action: 'customer.update', subject: replaced.id, rut: key.rut }, now);
    return replaced;
  });
  if (!customer) throw unknownCustomer(key);
  return customer;
}

/** Returns the customer with that document. Throws NOT_FOUND for an unknown one. */
export async function requireCustomer(deps: CommandDeps, key: CustomerKey): Promise<Customer> {
  const customer = await findCustomer(deps.orm.em.fork(), key);
  if (!customer) throw unknownCustomer(key);
  return customer;
}

const unknownCustomer = ({ docType }: CustomerKey): Refusal =>
  new Refusal('NOT_FOUND', `The enterprise has no customer with this ${docType}.`);

/** Deletes a customer of an enterprise; its CFEs stay. Throws NOT_FOUND for an unknown document. */
export async function deleteCustomer(deps: CommandDeps, key: CustomerKey): Promise<void> {
  const forgotten = await deps.orm.em.fork().transactional(async (em) => {
    await requireEnterpriseRole(deps, em, key.rut);
    const id = await remove(em, key);
    if (id !== null)
      auditAct(deps, em, { action: 'customer.delete', subject: id, rut: key.rut }, deps.clock());
    return id !== null;
  });
  if (forgotten) return;
  throw new Refusal('NOT_FOUND', `The enterprise has no customer with this ${key.docType}.`);
}
