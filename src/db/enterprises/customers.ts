import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { CUSTOMER_FIELDS, type CustomerBody } from '../../domain/enterprises/customer.ts';
import { comparedNumber, type DocumentType, soughtNumbers } from '../../domain/receipts/receiverDocument.ts';
import { toStoredFields } from '../../domain/requests/fields.ts';
import { searchText } from '../../domain/values/searchText.ts';
import { Customer } from '../entities/enterprises.ts';
import { type ListPage, listOrder } from '../page.ts';
import { containsPattern, givenConditions } from '../sql.ts';

/** The key of a customer, as in its URL: its number may be written in other ways than the stored one. */
export interface CustomerKey {
  rut: string;
  docType: DocumentType;
  docNumber: string;
}

/** The stored fields of a customer except its key; the search text is derived from them. */
type CustomerFacts = Omit<Customer, symbol | keyof CustomerKey | 'id' | 'legalNameSearch' | 'createdAt'>;

/** Converts a request body into the stored fields at `now`; missing fields become null. */
export function toCustomerFacts(body: CustomerBody, now: Date): CustomerFacts {
  return {
    ...toStoredFields(CUSTOMER_FIELDS, body),
    givenNumber: body.doc_number,
    notifications: body.notifications ?? [],
    updatedAt: now,
  };
}

/** Selects customers; all given conditions must hold. */
interface CustomerFilter {
  rut: string;
  /** Part of the legal name; ignores accents and case. */
  legalName?: string | undefined;
  docNumber?: string | undefined;
  countryCode?: string | undefined;
}

/** Returns whether an enterprise has more than `most` customers. */
export async function hasMoreCustomersThan(em: EntityManager, rut: string, most: number): Promise<boolean> {
  const beyond = await em.execute<unknown[]>('select 1 from customer where rut = ? offset ? limit 1', [
    rut,
    most,
  ]);
  return beyond.length > 0;
}

const storedKey = ({ rut, docType, docNumber }: CustomerKey): CustomerKey => ({
  rut,
  docType,
  docNumber: comparedNumber(docType, docNumber),
});

/** Returns the customer with that document, or null. */
export const findCustomer = (em: EntityManager, key: CustomerKey): Promise<Customer | null> =>
  em.findOne(Customer, { ...storedKey(key) });

/** Stores a customer and returns it; null if the enterprise already has one with that document. */
export async function insertCustomer(
  em: EntityManager,
  key: CustomerKey,
  facts: CustomerFacts,
): Promise<Customer | null> {
  const rows = await em
    .createQueryBuilder(Customer)
    .insert({
      ...storedKey(key),
      ...facts,
      id: randomUUID(),
      legalNameSearch: searchText(facts.legalName),
      createdAt: facts.updatedAt,
    })
    .onConflict(['rut', 'docNumber', 'docType'])
    .ignore()
    .returning('rut')
    .execute<{ rut: string }[]>('all', { mapResults: false });
  return rows.length === 0 ? null : findCustomer(em, key);
}

/** Replaces the fields of a customer; returns null if none has that document. */
export async function replaceCustomer(
  em: EntityManager,
  key: CustomerKey,
  facts: CustomerFacts,
): Promise<Customer | null> {
  const customer = await em.findOne(
    Customer,
    { ...storedKey(key) },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  return customer && em.assign(customer, { ...facts, legalNameSearch: searchText(facts.legalName) });
}

/** Deletes a customer and returns its id; null if none has that document. */
export async function removeCustomer(em: EntityManager, key: CustomerKey): Promise<string | null> {
  const customer = await em.findOne(
    Customer,
    { ...storedKey(key) },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!customer) return null;
  await em.nativeDelete(Customer, { id: customer.id });
  return customer.id;
}

export const CUSTOMER_ORDER = listOrder({ legalNameSearch: 'text', docNumber: 'text', docType: 'text' });

/** Returns a page of an enterprise's customers, by name: after a customer, or behind so many. */
export const findCustomers = (
  em: EntityManager,
  filter: CustomerFilter,
  { after = null, skip = 0, limit }: Partial<ListPage> & { skip?: number; limit: number },
): Promise<Customer[]> =>
  em.find(
    Customer,
    { $and: [toWhere(filter), CUSTOMER_ORDER.after(after)] },
    { orderBy: CUSTOMER_ORDER.orderBy, offset: skip, limit },
  );

function toWhere({ rut, legalName, docNumber, countryCode }: CustomerFilter) {
  return {
    rut,
    ...givenConditions({
      docNumber: docNumber === undefined ? undefined : { $in: soughtNumbers(docNumber) },
      countryCode,
      legalNameSearch:
        legalName === undefined ? undefined : { $like: containsPattern(searchText(legalName)) },
    }),
  };
}
