import { type CustomerKey, deleteCustomer as remove } from '../db/customers.ts';
import { Refusal } from '../errors.ts';
import type { CommandDeps } from './deps.ts';

/** Forgets a customer of an enterprise; its CFEs stay. Refuses an unknown document (NOT_FOUND). */
export async function deleteCustomer(deps: CommandDeps, key: CustomerKey): Promise<void> {
  if (await remove(deps.orm.em.fork(), key)) return;
  throw new Refusal('NOT_FOUND', `The enterprise has no customer with this ${key.docType}.`);
}
