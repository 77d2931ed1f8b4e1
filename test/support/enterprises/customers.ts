import { createCustomer } from '../../../src/commands/enterprises/customers.ts';
import type { CommandDeps } from '../../../src/commands/steps/deps.ts';
import type { CustomerBody } from '../../../src/domain/enterprises/customer.ts';
import { aRut } from '../receipts/papers.ts';

/** The body of a customer with everything in it; `wishes` differ, undefined leaves out. */
export function customerBody(wishes: Partial<CustomerBody> = {}): CustomerBody {
  return {
    doc_type: 'RUC',
    doc_number: aRut(),
    legal_name: 'Almacén Peñarol S.R.L.',
    fiscal_address: 'Sarandí 690',
    city: 'Montevideo',
    department: 'Montevideo',
    country: 'Uruguay',
    country_code: 'UY',
    notifications: [{ type: 'EMAIL', destination: 'compras@example.com', enabled: true }],
    ...wishes,
  };
}

/** Customers of an enterprise, in this order. */
export async function giveCustomers(
  deps: CommandDeps,
  rut: string,
  wishes: readonly Partial<CustomerBody>[],
): Promise<CustomerBody[]> {
  const bodies = wishes.map(customerBody);
  for (const customer of bodies) await createCustomer(deps, { rut, customer });
  return bodies;
}
