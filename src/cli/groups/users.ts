import * as z from 'zod';
import { changeMemberRole, removeMember } from '../../commands/people/members.ts';
import { endSessions } from '../../commands/people/sessions.ts';
import { createUser, disableUser, inviteUser } from '../../commands/people/users.ts';
import type { NewInvitation } from '../../commands/steps/people.ts';
import { Person } from '../../db/entities/people.ts';
import { listLiveSessions } from '../../db/people/consoleSessions.ts';
import { type AccountMembership, findPerson, listMemberships } from '../../db/people/people.ts';
import { BY_LENGTH } from '../../domain/operations/supportAction.ts';
import { MEMBER_ROLES, OPERATOR_ROLES } from '../../domain/people/people.ts';
import { Email } from '../../domain/values/email.ts';
import { Refusal } from '../../errors.ts';
import { AccountIdInput, OptionalReasonInput, optionalInput, ReasonInput } from '../inputs.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const ROLES = [...new Set([...OPERATOR_ROLES, ...MEMBER_ROLES])];
/** The address must fit in the audit, which stores it as the actor's name. */
const UserEmail = Email.max(BY_LENGTH).describe('e-mail address of the user');
const EXAMPLE = ['ana@example.com'];

const userRow = (person: Person, memberships: readonly AccountMembership[] = []) => ({
  email: person.email,
  operator_role: person.operatorRole,
  accounts: memberships.map(({ accountId, accountName, role }) => ({
    account_id: accountId,
    name: accountName,
    role,
  })),
  signs_in_by: person.oidcSubject === null ? (person.passwordHash === null ? null : 'password') : 'oidc',
  second_factor: person.sealedTotp !== null,
  created_at: person.createdAt.toISOString(),
  disabled_at: person.disabledAt?.toISOString() ?? null,
});

/** Returns the link of an invitation, which is stored only as a hash. */
const linkOf = (consoleUrl: string, invitation: NewInvitation | null): OutputRow => ({
  invitation_url: invitation && `${consoleUrl}/invitation/${invitation.token}`,
  expires_at: invitation?.expiresAt.toISOString() ?? null,
});

function parsePosition(accountId: string | undefined, role: (typeof ROLES)[number]) {
  const operatorRole = OPERATOR_ROLES.find((known) => known === role);
  const memberRole = MEMBER_ROLES.find((known) => known === role);
  if (accountId !== undefined && memberRole) return { accountId, role: memberRole };
  if (accountId === undefined && operatorRole) return { operatorRole };
  throw new Refusal(
    'INVALID_INPUT',
    `${role} is not a role of ${accountId === undefined ? 'operators' : 'members of accounts'}.`,
  );
}

/** Returns the user with an address. Throws NOT_FOUND if there is none. */
async function requireUser({ orm }: CliDeps, email: string): Promise<Person> {
  const person = await findPerson(orm.em.fork(), email);
  if (!person) throw new Refusal('NOT_FOUND', `There is no user ${email}.`);
  return person;
}

export const userGroup = verbGroup(
  'user',
  'People who sign in to the console: operators, and members of accounts',
  {
    create: actingVerb({
      summary:
        'Give a person access to the console, as an operator or as a member of an account; prints their invitation link, once',
      takes: {
        email: UserEmail.describe('e-mail address for signing in'),
        account: optionalInput(
          AccountIdInput,
          'id of the account that they belong to; without it they are an operator',
        ),
        role: z
          .enum(ROLES)
          .describe('of operators VIEWER, SUPPORT or ADMIN; of members VIEWER, MEMBER or OWNER'),
      },
      examples: [
        '--email ana@example.com --role SUPPORT',
        '--email beto@example.com --account 0c0e1ab1-0000-4000-8000-000000000001 --role OWNER',
      ],
      usageFault({ account, role }) {
        const allowed: readonly unknown[] = account === undefined ? OPERATOR_ROLES : MEMBER_ROLES;
        if (allowed.includes(role)) return undefined;
        return `--role must be one of ${allowed.join(', ')} ${account === undefined ? 'for an operator' : 'for a member of an account'}`;
      },
      async run(deps, { email, account, role }) {
        // Throws without a configured URL, before an invitation exists whose link could not be printed.
        const consoleUrl = deps.consoleUrl();
        const { person, invitation } = await createUser(deps, { email, ...parsePosition(account, role) });
        const memberships = await listMemberships(deps.orm.em.fork(), [person.id]);
        return { ...userRow(person, memberships.get(person.id)), ...linkOf(consoleUrl, invitation) };
      },
    }),
    list: readVerb({
      summary: 'List the users of the console, with their roles',
      columns: 'email operator_role accounts signs_in_by second_factor disabled_at',
      async run({ orm }) {
        const em = orm.em.fork();
        const people = await em.find(Person, {}, { orderBy: { email: 'asc' } });
        const ids = people.map(({ id }) => id);
        const memberships = await listMemberships(em, ids);
        return people.map((person) => userRow(person, memberships.get(person.id)));
      },
    }),
    'invite EMAIL': actingVerb({
      summary:
        'Invite a user again, after a lost password or telephone: prints a link, valid for one day and one use',
      takes: { email: UserEmail },
      examples: EXAMPLE,
      async run(deps, { email }) {
        const consoleUrl = deps.consoleUrl();
        const { person, invitation } = await inviteUser(deps, { email });
        return { email: person.email, ...linkOf(consoleUrl, invitation) };
      },
    }),
    'disable EMAIL': actingVerb({
      summary: 'Disable a user of the console at once; their audit entries stay',
      takes: { email: UserEmail, reason: OptionalReasonInput },
      examples: EXAMPLE,
      run: async (deps, input) => userRow(await disableUser(deps, input)),
    }),
    'sessions EMAIL': actingVerb({
      summary: 'List the sessions of a user; with --end, end them',
      takes: {
        email: UserEmail,
        end: optionalInput(z.string(), 'session_id of a session to end, or the word all', 'session'),
        reason: OptionalReasonInput,
      },
      examples: ['ana@example.com', 'ana@example.com --end all'],
      usageFault: ({ end, reason }) =>
        reason !== undefined && end === undefined ? '--reason needs --end' : undefined,
      async run(deps, { email, end, reason }) {
        if (end !== undefined)
          await endSessions(deps, { email, reason, ...(end === 'all' ? {} : { only: end }) });
        const { id } = await requireUser(deps, email);
        return (await listLiveSessions(deps.orm.em.fork(), id, deps.clock())).map((session) => ({
          session_id: session.id,
          signed_in_by: session.method,
          address: session.address,
          browser: session.browser,
          created_at: session.createdAt.toISOString(),
          seen_at: session.seenAt.toISOString(),
        }));
      },
    }),
    'role EMAIL': actingVerb({
      summary: 'Change the role of a member of an account; the last OWNER cannot be changed',
      takes: {
        email: UserEmail,
        account: AccountIdInput,
        role: z.enum(MEMBER_ROLES).describe('the new role'),
      },
      examples: ['ana@example.com --account 0c0e1ab1-0000-4000-8000-000000000001 --role VIEWER'],
      async run(deps, { email, account: accountId, role }) {
        const { id: personId } = await requireUser(deps, email);
        const changed = await changeMemberRole(deps, { accountId, personId, role });
        return { email: changed.email, account_id: accountId, role };
      },
    }),
    'remove EMAIL': actingVerb({
      summary: 'Remove a member from an account; the last OWNER cannot be removed',
      takes: {
        email: UserEmail,
        account: AccountIdInput,
        reason: ReasonInput.describe('why, for the audit'),
      },
      examples: [
        'ana@example.com --account 0c0e1ab1-0000-4000-8000-000000000001 --reason "Left the company"',
      ],
      async run(deps, { email, account: accountId, reason }) {
        const { id: personId } = await requireUser(deps, email);
        const removed = await removeMember(deps, { accountId, personId, reason });
        return { email: removed.email, account_id: accountId, removed: true };
      },
    }),
  },
);
