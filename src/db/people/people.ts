import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { MemberRole } from '../../domain/people/people.ts';
import { isUuid } from '../../domain/values/uuid.ts';
import { Refusal } from '../../errors.ts';
import { Account, Invitation, Membership, Person, SavedFilter } from '../entities/people.ts';

/** A membership with the name of its account. */
export interface AccountMembership {
  readonly accountId: string;
  readonly accountName: string;
  readonly role: MemberRole;
}

/** Returns an e-mail address as it is stored and compared. */
export const normalizeEmail = (email: string): string => email.toLowerCase();

/** Stores a person unless one with this address exists; returns the stored one, locked by the open transaction. */
export async function ensurePerson(
  em: EntityManager,
  values: Pick<Person, 'id' | 'email' | 'createdAt'>,
): Promise<Person> {
  await em.execute(
    `insert into person (id, email, created_at) values (?, ?, ?) on conflict (email) do nothing`,
    [values.id, normalizeEmail(values.email), values.createdAt],
  );
  return requirePerson(em, values.email);
}

/** Returns the person with this address, locked until the open transaction ends; throws NOT_FOUND if unknown. */
export async function requirePerson(em: EntityManager, email: string): Promise<Person> {
  const person = await em.findOne(
    Person,
    { email: normalizeEmail(email) },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (!person) throw new Refusal('NOT_FOUND', `There is no user ${normalizeEmail(email)}.`);
  return person;
}

/** Returns the person with this id, locked until the open transaction ends; throws if unknown. */
export function lockPerson(em: EntityManager, id: string): Promise<Person> {
  return em.findOneOrFail(Person, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Returns the person with this address, or null. */
export function findPerson(em: EntityManager, email: string): Promise<Person | null> {
  return em.findOne(Person, { email: normalizeEmail(email) });
}

/** Returns the person with this subject at the OpenID provider, locked until the open transaction ends, or null. */
export function lockPersonBySubject(em: EntityManager, oidcSubject: string): Promise<Person | null> {
  return em.findOne(Person, { oidcSubject }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Stores the role of a person in an account; replaces an earlier one. */
export async function putMembership(em: EntityManager, values: Omit<Membership, symbol>): Promise<void> {
  await em.upsert(Membership, values, {
    onConflictFields: ['personId', 'accountId'],
    onConflictMergeFields: ['role'],
  });
}

/** Returns the memberships of people, by person, sorted by the name of the account. */
export async function listMemberships(
  em: EntityManager,
  personIds: readonly string[],
): Promise<Map<string, AccountMembership[]>> {
  const memberships = await em.find(Membership, { personId: { $in: [...personIds] } });
  const ids = memberships.map(({ accountId }) => accountId);
  const accounts = await em.find(Account, { id: { $in: ids } }, { orderBy: { name: 'asc', id: 'asc' } });
  return new Map(
    personIds.map((personId) => [
      personId,
      accounts.flatMap(({ id, name }) => {
        const held = memberships.find((one) => one.personId === personId && one.accountId === id);
        return held ? [{ accountId: id, accountName: name, role: held.role }] : [];
      }),
    ]),
  );
}

/** Stores an invitation, and ends earlier open ones of the person. */
export async function insertInvitation(
  em: EntityManager,
  values: Omit<Invitation, symbol | 'endedAt'>,
): Promise<void> {
  const { personId, createdAt } = values;
  await em.nativeUpdate(Invitation, { personId, endedAt: null }, { endedAt: createdAt });
  em.create(Invitation, { ...values, endedAt: null });
}

/** Returns the open invitation with this token and its person, or null. */
export async function findInvitation(
  em: EntityManager,
  tokenHash: Buffer,
  now: Date,
): Promise<{ invitation: Invitation; person: Person } | null> {
  const invitation = await em.findOne(Invitation, { tokenHash, endedAt: null, expiresAt: { $gt: now } });
  const person = invitation && (await em.findOne(Person, { id: invitation.personId, disabledAt: null }));
  return invitation && person ? { invitation, person } : null;
}

/**
 * Ends an invitation permanently. Returns false if it had already ended: only one of two concurrent attempts accepts
 * it.
 */
export async function endInvitation(em: EntityManager, id: string, now: Date): Promise<boolean> {
  return (await em.nativeUpdate(Invitation, { id, endedAt: null }, { endedAt: now })) > 0;
}

/** Records that the code of a step was used. Returns false if this step or a later one was used before. */
export async function useTotpStep(em: EntityManager, personId: string, step: number): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    'update person set totp_step = ? where id = ? and coalesce(totp_step, 0) < ? returning id',
    [step, personId, step],
  );
  return rows.length > 0;
}

/** Most saved filters of a person, for one list and in all. */
export const MOST_SAVED_FILTERS = { ofList: 30, inAll: 200 } as const;

/** Returns a person's saved filters for the list at a path, by name. */
export function listSavedFilters(em: EntityManager, personId: string, path: string): Promise<SavedFilter[]> {
  return em.find(
    SavedFilter,
    { personId, path },
    { orderBy: { name: 'asc' }, limit: MOST_SAVED_FILTERS.ofList },
  );
}

/** Counts a person's saved filters, without the one with this name for this list. */
export async function countOtherFilters(
  em: EntityManager,
  { personId, path, name }: Pick<SavedFilter, 'personId' | 'path' | 'name'>,
): Promise<{ ofList: number; inAll: number }> {
  const [row] = await em.execute<{ ofList: number; inAll: number }[]>(
    `select count(*) filter (where path = ?)::int as "ofList", count(*)::int as "inAll"
     from saved_filter where person_id = ? and not (path = ? and name = ?)`,
    [path, personId, path, name],
  );
  return row ?? { ofList: 0, inAll: 0 };
}

/** Saves a filter; replaces one with the same name. */
export async function putSavedFilter(em: EntityManager, filter: Omit<SavedFilter, symbol>): Promise<void> {
  await em.upsert(SavedFilter, filter, {
    onConflictFields: ['personId', 'path', 'name'],
    onConflictMergeFields: ['query'],
  });
}

/** Deletes a person's saved filter; returns false if the person has none with this id. */
export async function deleteSavedFilter(em: EntityManager, personId: string, id: string): Promise<boolean> {
  return isUuid(id) && (await em.nativeDelete(SavedFilter, { id, personId })) > 0;
}
