/** The members of accounts, and who is invited to become one. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { MemberRole } from '../domain/people.ts';
import { isUuid } from '../domain/uuid.ts';
import { milliseconds } from './clock.ts';
import { AccountInvitation } from './entities/AccountInvitation.ts';
import { Membership } from './entities/Membership.ts';
import { storedEmail } from './people.ts';

/** A member of an account. */
export interface Member {
  readonly personId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly since: Date;
  /** When they last used the console; null for never. */
  readonly seenAt: Date | null;
  readonly hasSecondFactor: boolean;
  readonly disabled: boolean;
}

/** The members of an account, by address. */
export async function listMembers(em: EntityManager, accountId: string): Promise<Member[]> {
  interface Row extends Omit<Member, 'since' | 'seenAt'> {
    since: number;
    seenAt: number | null;
  }
  const rows = await em.execute<Row[]>(
    `select p.id as "personId", p.email, m.role, ${milliseconds('m.created_at')} as since,
       (select ${milliseconds('max(s.seen_at)')} from console_session s where s.person_id = p.id) as "seenAt",
       p.sealed_totp is not null as "hasSecondFactor", p.disabled_at is not null as disabled
     from membership m join person p on p.id = m.person_id where m.account_id = ? order by p.email`,
    [accountId],
  );
  return rows.map(({ since, seenAt, ...row }) => ({
    ...row,
    since: new Date(since),
    seenAt: seenAt === null ? null : new Date(seenAt),
  }));
}

/** What a person is in an account, or null. */
export async function findMembership(
  em: EntityManager,
  personId: string,
  accountId: string,
): Promise<Membership | null> {
  return isUuid(personId) && isUuid(accountId) ? em.findOne(Membership, { personId, accountId }) : null;
}

/** How many accounts a person belongs to. */
export const countMemberships = (em: EntityManager, personId: string): Promise<number> =>
  em.count(Membership, { personId });

/** How many OWNERs an account has beside this person who can act: those who were shut out count for nothing. */
export async function countOtherOwners(
  em: EntityManager,
  accountId: string,
  personId: string,
): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(
    `select count(*)::int as count from membership m join person p on p.id = m.person_id
     where m.account_id = ? and m.role = 'OWNER' and m.person_id <> ? and p.disabled_at is null`,
    [accountId, personId],
  );
  return row?.count ?? 0;
}

/** Takes a person out of an account. */
export async function deleteMembership(
  em: EntityManager,
  { personId, accountId }: Pick<Membership, 'personId' | 'accountId'>,
): Promise<void> {
  await em.nativeDelete(Membership, { personId, accountId });
}

/** Stores an invitation into an account; the one before it for the same address ends. */
export async function insertAccountInvitation(
  em: EntityManager,
  values: Omit<AccountInvitation, symbol | 'endedAt'>,
): Promise<void> {
  const { accountId, createdAt } = values;
  const email = storedEmail(values.email);
  await em.nativeUpdate(AccountInvitation, { accountId, email, endedAt: null }, { endedAt: createdAt });
  em.create(AccountInvitation, { ...values, email, endedAt: null });
}

/** The invitations into an account that are still good, by address. */
export function listAccountInvitations(
  em: EntityManager,
  accountId: string,
  now: Date,
): Promise<AccountInvitation[]> {
  return em.find(
    AccountInvitation,
    { accountId, endedAt: null, expiresAt: { $gt: now } },
    { orderBy: { email: 'asc' } },
  );
}

/** How many invitations into an account were made since then. */
export const countAccountInvitations = (em: EntityManager, accountId: string, since: Date): Promise<number> =>
  em.count(AccountInvitation, { accountId, createdAt: { $gt: since } });

/** The invitation into an account with this token that is still good, or null. */
export function openAccountInvitation(
  em: EntityManager,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountInvitation | null> {
  return em.findOne(AccountInvitation, { tokenHash, endedAt: null, expiresAt: { $gt: now } });
}

/** Ends an invitation into an account for good; answers it, or null where another did before. */
export async function endAccountInvitation(
  em: EntityManager,
  { id, accountId }: { id: string; accountId: string },
  now: Date,
): Promise<AccountInvitation | null> {
  if (!isUuid(id)) return null;
  const found = await em.findOne(AccountInvitation, { id, accountId });
  const where = { id, accountId, endedAt: null };
  return found && (await em.nativeUpdate(AccountInvitation, where, { endedAt: now })) > 0 ? found : null;
}
