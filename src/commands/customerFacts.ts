import type { CustomerFacts } from '../db/customers.ts';
import type { Customer } from '../domain/customer.ts';

/** What is stored of a customer as the caller gave it; `null` for what was left out. */
export function customerFacts(body: Customer, now: Date): CustomerFacts {
  return {
    legalName: body.legal_name,
    fiscalAddress: body.fiscal_address ?? null,
    city: body.city ?? null,
    department: body.department ?? null,
    country: body.country ?? null,
    countryCode: body.country_code ?? null,
    notifications: body.notifications ?? [],
    updatedAt: now,
  };
}
