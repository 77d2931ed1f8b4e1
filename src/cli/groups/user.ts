import * as z from 'zod';
import { changeMemberRole } from '../../commands/changeMemberRole.ts';
import { createUser } from '../../commands/createUser.ts';
import { disableUser } from '../../commands/disableUser.ts';
import { endSessions } from '../../commands/endSessions.ts';
import { inviteUser } from '../../commands/inviteUser.ts';
import { removeMember } from '../../commands/removeMember.ts';
import type { NewInvitation } from '../../commands/steps/people.ts';
import { liveSessionsOf } from '../../db/consoleSessions.ts';
import type { Person } from '../../db/entities/Person.ts';
import { findPerson, listPeople, type MembershipOf, membershipsOf } from '../../db/people.ts';
import { Email } from '../../domain/email.ts';
import { MEMBER_ROLES, OPERATOR_ROLES } from '../../domain/people.ts';
import { BY_LENGTH, REASON_LENGTH } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { Refusal } from '../../errors.ts';
import { REASON, Why } from '../reason.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ROLES = [...new Set([...OPERATOR_ROLES, ...MEMBER_ROLES])];
/** As long as the name of who acts may be, for the audit. */
const UserEmail = Email.max(BY_LENGTH);
const EMAIL = { EMAIL: 'e-mail address of the user' };
const EXAMPLE = ['ana@example.com'];

const row = (person: Person, memberships: readonly MembershipOf[] = []) => ({
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

/** The link of an invitation, which is shown only now. */
const linkOf = (consoleUrl: string, invitation: NewInvitation | null): Row => ({
  invitation_url: invitation && `${consoleUrl}/invitation/${invitation.token}`,
  expires_at: invitation?.expiresAt.toISOString() ?? null,
});

const create = defineVerb({
  name: 'create',
  summary:
    'Let a person into the console, as an operator or as a member of an account; prints the link that invites them, once',
  options: [
    { flags: '--email <email>', about: 'e-mail address, by which they sign in', required: true },
    {
      flags: '--account <account>',
      about: 'id of the account that they belong to; without it they are an operator',
    },
    {
      flags: '--role <role>',
      about: 'of operators VIEWER, SUPPORT or ADMIN; of members VIEWER, MEMBER or OWNER',
      required: true,
      choices: ROLES,
    },
  ],
  examples: [
    '--email ana@example.com --role SUPPORT',
    '--email beto@example.com --account 0c0e1ab1-0000-4000-8000-000000000001 --role OWNER',
  ],
  input: z.strictObject({ email: UserEmail, account: z.string().optional(), role: z.enum(ROLES) }),
  usageFault({ account, role }) {
    const allowed: readonly unknown[] = account === undefined ? OPERATOR_ROLES : MEMBER_ROLES;
    if (allowed.includes(role)) return undefined;
    return `--role must be one of ${allowed.join(', ')} ${account === undefined ? 'for an operator' : 'for a member of an account'}`;
  },
  async run(deps, { email, account, role }) {
    // Before anything is done: a link that cannot be printed would be lost.
    const consoleUrl = deps.consoleUrl();
    const { person, invitation } = await createUser(deps, { email, ...positionOf(account, role) });
    const memberships = await membershipsOf(deps.orm.em.fork(), [person.id]);
    return { ...row(person, memberships.get(person.id)), ...linkOf(consoleUrl, invitation) };
  },
});

function positionOf(accountId: string | undefined, role: (typeof ROLES)[number]) {
  const operatorRole = OPERATOR_ROLES.find((known) => known === role);
  const memberRole = MEMBER_ROLES.find((known) => known === role);
  if (accountId !== undefined && memberRole) return { accountId, role: memberRole };
  if (accountId === undefined && operatorRole) return { operatorRole };
  throw new Refusal(
    'INVALID_INPUT',
    `${role} is no role of ${accountId === undefined ? 'operators' : 'members of accounts'}.`,
  );
}

const list = defineVerb({
  name: 'list',
  summary: 'List who may sign in to the console, and as what',
  reads: true,
  examples: [''],
  columns: ['email', 'operator_role', 'accounts', 'signs_in_by', 'second_factor', 'disabled_at'],
  input: z.strictObject({}),
  async run({ orm }) {
    const em = orm.em.fork();
    const people = await listPeople(em);
    const memberships = await membershipsOf(
      em,
      people.map(({ id }) => id),
    );
    return people.map((person) => row(person, memberships.get(person.id)));
  },
});

const invite = defineVerb({
  name: 'invite',
  summary: 'Invite a user anew, for a lost password or telephone: prints a link, good for a day and once',
  args: EMAIL,
  examples: EXAMPLE,
  input: z.strictObject({ email: UserEmail }),
  async run(deps, { email }) {
    const consoleUrl = deps.consoleUrl();
    const { person, invitation } = await inviteUser(deps, { email });
    return { email: person.email, ...linkOf(consoleUrl, invitation) };
  },
});

const disable = defineVerb({
  name: 'disable',
  summary: 'Shut a user out of the console at once; what they did stays in the audit',
  args: EMAIL,
  options: [REASON],
  examples: EXAMPLE,
  input: z.strictObject({ email: UserEmail, ...Why }),
  async run(deps, { email, reason }) {
    return row(await disableUser(deps, { email, reason }));
  },
});

const sessions = defineVerb({
  name: 'sessions',
  summary: 'List where a user is signed in; with --end, sign them out there',
  args: EMAIL,
  options: [{ flags: '--end <session>', about: 'session_id of a session to end, or the word all' }, REASON],
  examples: ['ana@example.com', 'ana@example.com --end all'],
  input: z.strictObject({ email: UserEmail, end: z.string().optional(), ...Why }),
  usageFault: ({ end, reason }) =>
    reason !== undefined && end === undefined ? '--reason goes with --end' : undefined,
  async run(deps, { email, end, reason }) {
    if (end !== undefined)
      await endSessions(deps, { email, reason, ...(end === 'all' ? {} : { only: end }) });
    const em = deps.orm.em.fork();
    const person = await findPerson(em, email);
    if (!person) throw new Refusal('NOT_FOUND', `There is no user ${email}.`);
    return (await liveSessionsOf(em, person.id, deps.clock())).map((session) => ({
      session_id: session.id,
      signed_in_by: session.method,
      address: session.address,
      browser: session.browser,
      created_at: session.createdAt.toISOString(),
      seen_at: session.seenAt.toISOString(),
    }));
  },
});

const ACCOUNT_OPTION = { flags: '--account <account>', about: 'id of the account', required: true } as const;

/** The id of a user, whom a person names by their address. Refuses an unknown one (NOT_FOUND). */
async function idOf({ orm }: CliDeps, email: string): Promise<string> {
  const person = await findPerson(orm.em.fork(), email);
  if (!person) throw new Refusal('NOT_FOUND', `There is no user ${email}.`);
  return person.id;
}

const role = defineVerb({
  name: 'role',
  summary: 'Change what a member of an account is there; the last OWNER stays one',
  args: EMAIL,
  options: [
    ACCOUNT_OPTION,
    { flags: '--role <role>', about: 'what they are from now on', required: true, choices: MEMBER_ROLES },
  ],
  examples: ['ana@example.com --account 0c0e1ab1-0000-4000-8000-000000000001 --role VIEWER'],
  input: z.strictObject({ email: UserEmail, account: z.string(), role: z.enum(MEMBER_ROLES) }),
  async run(deps, { email, account: accountId, role: to }) {
    const personId = await idOf(deps, email);
    const changed = await changeMemberRole(deps, { accountId, personId, role: to });
    return { email: changed.email, account_id: accountId, role: to };
  },
});

const remove = defineVerb({
  name: 'remove',
  summary: 'Take a member out of an account; the last OWNER stays',
  args: EMAIL,
  options: [ACCOUNT_OPTION, { flags: '--reason <text>', about: 'why, for the audit', required: true }],
  examples: ['ana@example.com --account 0c0e1ab1-0000-4000-8000-000000000001 --reason "Left the company"'],
  input: z.strictObject({ email: UserEmail, account: z.string(), reason: text(REASON_LENGTH) }),
  async run(deps, { email, account: accountId, reason }) {
    const personId = await idOf(deps, email);
    const removed = await removeMember(deps, { accountId, personId, reason });
    return { email: removed.email, account_id: accountId, removed: true };
  },
});

/** `cfe user`: who signs in to the console. */
export const user: Group = {
  name: 'user',
  summary: 'People who sign in to the console: operators, and members of accounts',
  verbs: [create, list, invite, disable, sessions, role, remove],
};
