import { type CustomerKey, deleteCustomer as remove } from '../db/customers.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Forgets a customer of an enterprise; its CFEs stay. Refuses an unknown document (NOT_FOUND). */
export async function deleteCustomer(deps: CommandDeps, key: CustomerKey): Promise<void> {
  const forgotten = await deps.orm.em.fork().transactional(async (em) => {
    const id = await remove(em, key);
    if (id !== null)
      audited(deps, em, { action: 'customer.delete', subject: id, rut: key.rut }, deps.clock());
    return id !== null;
  });
  if (forgotten) return;
  throw new Refusal('NOT_FOUND', `The enterprise has no customer with this ${key.docType}.`);
}
