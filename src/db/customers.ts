import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { CUSTOMER_FIELDS, type Customer as CustomerBody } from '../domain/customer.ts';
import { storedFrom } from '../domain/fields.ts';
import type { DocumentType } from '../domain/receiverDocument.ts';
import { searchText } from '../domain/searchText.ts';
import { Customer } from './entities/enterprises.ts';

/** A customer as its address names it. */
export interface CustomerKey {
  rut: string;
  docType: DocumentType;
  docNumber: string;
}

/** What is stored of a customer beside its key; what the search looks into is made here. */
type CustomerFacts = Omit<Customer, symbol | keyof CustomerKey | 'id' | 'legalNameSearch' | 'createdAt'>;

/** What is stored of a customer whom a caller describes at `now`; null for what the body leaves out. */
export function toCustomerFacts(body: CustomerBody, now: Date): CustomerFacts {
  return {
    ...storedFrom(CUSTOMER_FIELDS, body),
    notifications: body.notifications ?? [],
    updatedAt: now,
  };
}

/** Which customers to list: every condition that is given must hold. */
interface CustomerFilter {
  rut: string;
  /** A part of the legal name; accents and case do not count. */
  legalName?: string | undefined;
  docNumber?: string | undefined;
  countryCode?: string | undefined;
}

/** Whether an enterprise has more customers than `most`. */
export async function hasMoreCustomersThan(em: EntityManager, rut: string, most: number): Promise<boolean> {
  const beyond = await em.execute<unknown[]>('select 1 from customer where rut = ? offset ? limit 1', [
    rut,
    most,
  ]);
  return beyond.length > 0;
}

/** Stores a customer and answers it; null when the enterprise has one with that document already. */
export async function insertCustomer(
  em: EntityManager,
  key: CustomerKey,
  facts: CustomerFacts,
): Promise<Customer | null> {
  const rows = await em
    .createQueryBuilder(Customer)
    .insert({
      ...key,
      ...facts,
      id: randomUUID(),
      legalNameSearch: searchText(facts.legalName),
      createdAt: facts.updatedAt,
    })
    .onConflict(['rut', 'docNumber', 'docType'])
    .ignore()
    .returning('rut')
    .execute<{ rut: string }[]>('all', { mapResults: false });
  return rows.length === 0 ? null : em.findOne(Customer, { ...key });
}

/** Puts `facts` in the place of what was stored of a customer; null when there is none with that document. */
export async function replaceCustomer(
  em: EntityManager,
  key: CustomerKey,
  facts: CustomerFacts,
): Promise<Customer | null> {
  const customer = await em.findOne(Customer, { ...key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return customer && em.assign(customer, { ...facts, legalNameSearch: searchText(facts.legalName) });
}

/** Forgets a customer and answers its id; null when there is none with that document. */
export async function removeCustomer(em: EntityManager, key: CustomerKey): Promise<string | null> {
  const customer = await em.findOne(Customer, { ...key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!customer) return null;
  await em.nativeDelete(Customer, { id: customer.id });
  return customer.id;
}

/** A page of an enterprise's customers, in the order of their names. */
export function findCustomers(
  em: EntityManager,
  filter: CustomerFilter,
  page: { skip: number; limit: number },
): Promise<Customer[]> {
  return em.find(Customer, conditionsOf(filter), {
    orderBy: { legalNameSearch: 'asc', docNumber: 'asc', docType: 'asc' },
    offset: page.skip,
    limit: page.limit,
  });
}

/** A page of an enterprise's customers, in the order of their names: those after the name, number and type of one. */
export function listCustomersAfter(
  em: EntityManager,
  filter: CustomerFilter,
  { after, limit }: { after: readonly string[] | null; limit: number },
): Promise<Customer[]> {
  const [legalNameSearch = '', docNumber = '', docType = ''] = after ?? [];
  const type = docType as DocumentType;
  return em.find(
    Customer,
    {
      ...conditionsOf(filter),
      ...(after && {
        $or: [
          { legalNameSearch: { $gt: legalNameSearch } },
          { legalNameSearch, docNumber: { $gt: docNumber } },
          { legalNameSearch, docNumber, docType: { $gt: type } },
        ],
      }),
    },
    { orderBy: { legalNameSearch: 'asc', docNumber: 'asc', docType: 'asc' }, limit },
  );
}

function conditionsOf({ rut, legalName, docNumber, countryCode }: CustomerFilter) {
  return {
    rut,
    ...(docNumber === undefined ? {} : { docNumber }),
    ...(countryCode === undefined ? {} : { countryCode }),
    ...(legalName === undefined ? {} : { legalNameSearch: { $like: containing(searchText(legalName)) } }),
  };
}

/** The pattern of texts that contain `part`, whose own characters have no meaning of their own. */
const containing = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`;
