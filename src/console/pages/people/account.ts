import * as z from 'zod';
import { setRateLimit } from '../../../commands/people/accounts.ts';
import { removeGrant, setGrant } from '../../../commands/people/grants.ts';
import { endSessions } from '../../../commands/people/sessions.ts';
import { createUser, disableUser, inviteUser } from '../../../commands/people/users.ts';
import type { Account } from '../../../db/entities/people.ts';
import { listMembers, type Member, requireAccount } from '../../../db/people/accounts.ts';
import { type EnterpriseRole, listRateLimits } from '../../../db/people/consoleAccounts.ts';
import { BY_LENGTH } from '../../../domain/operations/supportAction.ts';
import { MEMBER_ROLES } from '../../../domain/people/people.ts';
import { RATE_LIMITS } from '../../../domain/people/rateLimits.ts';
import { GRANTED_ROLES } from '../../../domain/people/roles.ts';
import { ENVIRONMENTS, type Environment } from '../../../domain/receipts/cfeTypes.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { HELD_ENTERPRISES, KEYS, MEMBERS } from '../../../lists/people.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayOpen, type PageRoute } from '../../access/permissions.ts';
import { choice, email, number, reason, subject, text } from '../../fields.ts';
import { LIST_QUERY } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { csvAnswer, type ListPart, listPart } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { type Answer, type ConsoleDeps, definePage, show, signedIn, type Visit } from '../../page.ts';
import { badge, optionsOf, panel, table } from '../../parts.ts';
import { STATUS_TONES } from '../enterprises/enterprises.ts';
import { keyHeadings } from './keys.ts';
import { memberHeadings } from './members.ts';

/** Higher limits would have no effect. */
const MAX_PER_HOUR = 1_000_000_000;
const accountPath = (id: string): string => `/accounts/${id}`;
const maySend = (visit: Visit, route: PageRoute): boolean => mayOpen(signedIn(visit).viewer, route);

/** GET /accounts/{id}: an account's enterprises, API keys, rate limits and people. */
export const accountPage = definePage({
  name: 'account',
  route: 'GET /accounts/{id}',
  query: z.object(LIST_QUERY),
  async handle({ params: { id }, query, visit }, deps) {
    const { accounts: words } = visit.texts;
    const em = deps.orm.em.fork();
    const account = await requireAccount(em, id);
    const address = { path: accountPath(id), query: { ...query }, isPart: true } as const;
    const enterprises = enterprisesList(visit, deps, account, address);
    const keys = keysList(visit, deps, account, address);
    const people = peopleList(visit, deps, account, address);
    const csv = csvAnswer(query, [enterprises, people, keys]);
    if (csv) return csv;
    const grant = maySend(visit, newGrant.route) && newGrant.draw(visit, { id });
    const add = maySend(visit, newPerson.route) && newPerson.draw(visit, { id });
    const body = html`${factsOf(visit, account)}
    ${panel(words.enterprises, html`${await enterprises.render()}${grant}`)}
    ${panel(words.people, html`${await people.render()}${add}`)} ${panel(words.keys, await keys.render())}
    ${panel(words.limits, limitsTable(visit, id, await listRateLimits(em, id)))}`;
    return show(account.name, body, { live: ['accounts', 'keys', 'people'] });
  },
});

interface ListAddress {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly isPart: true;
}

function factsOf(visit: Visit, { id, email, isDeveloper, createdAt }: Account): Html {
  const { accounts: words } = visit.texts;
  const developer = isDeveloper && html` · ${badge(words.developer, 'calm')}`;
  const audit = html`<a href="${link('/audit', { account: id })}">${words.audit}</a>`;
  const webhooks = html`<a href="${link('/webhooks', { account: id })}">${visit.texts.webhooks.title}</a>`;
  const since = html`${words.created} ${timeOf(createdAt)}`;
  return html`<p>${email} · <code>${id}</code> · ${since}${developer} · ${audit} · ${webhooks}</p>`;
}

function enterprisesList(visit: Visit, deps: ConsoleDeps, { id }: Account, address: ListAddress): ListPart {
  const { accounts: words } = visit.texts;
  const remove = ({ rut, role }: EnterpriseRole): Html | null =>
    role === 'OWNER' ? null : grantRemoval.draw(visit, { id, rut }, { subjectName: rut });
  return listPart(visit, deps, HELD_ENTERPRISES, {
    ...address,
    label: words.enterprises,
    search: { accountId: id },
    headings: {
      rut: 'RUT',
      legal_name: words.enterprise,
      role: [words.role, ({ role }) => visit.texts.members.roles[role]],
      status: [
        words.status,
        ({ status }) => badge(visit.texts.enterprises.statuses[status], STATUS_TONES[status]),
      ],
      account_id: maySend(visit, grantRemoval.route) && [words.act, remove],
    },
    href: ({ rut }) => `/enterprises/${rut}`,
    empty: words.noEnterprise,
  });
}

function keysList(visit: Visit, deps: ConsoleDeps, { id }: Account, address: ListAddress): ListPart {
  const { accounts: words } = visit.texts;
  return listPart(visit, deps, KEYS, {
    ...address,
    label: words.keys,
    search: { accountId: id },
    headings: {
      ...keyHeadings(visit),
      key_id: [words.id, (key) => html`<code>${key.id}</code>`],
      revoked_at: [words.revoked, ({ revokedAt }) => revokedAt && timeOf(revokedAt)],
    },
    empty: words.noKey,
  });
}

function peopleList(visit: Visit, deps: ConsoleDeps, { id }: Account, address: ListAddress): ListPart {
  const { accounts: words } = visit.texts;
  return listPart(visit, deps, MEMBERS, {
    ...address,
    label: words.people,
    search: { accountId: id },
    headings: {
      ...memberHeadings(visit),
      person_id: maySend(visit, personInvitation.route) && [
        words.act,
        (member) => personForms(visit, id, member),
      ],
    },
    empty: words.noMember,
  });
}

/** Renders the actions on a person. */
function personForms(visit: Visit, id: string, { personId, email, disabled, isOperator }: Member): Html {
  const { accounts: words } = visit.texts;
  if (isOperator) return html`<span class="soft">${words.ofOperators}</span>`;
  const drawForm = (form: typeof personInvitation | typeof personEnd | typeof personDisabling): Html =>
    form.draw(visit, { id, person: personId }, { subjectName: email });
  const invite = drawForm(personInvitation);
  return disabled ? invite : html`${invite}${drawForm(personEnd)}${drawForm(personDisabling)}`;
}

function limitsTable(visit: Visit, id: string, limits: ReadonlyMap<Environment, number>): Html {
  const { accounts: words, environments } = visit.texts;
  const mayLimit = maySend(visit, requestLimitChange.route);
  const rows = ENVIRONMENTS.map((environment) => [
    environments[environment],
    figure(limits.get(environment) ?? RATE_LIMITS[environment].most, visit.texts),
    limits.has(environment) ? words.own : words.usual,
    ...(mayLimit
      ? [
          requestLimitChange.draw(
            visit,
            { id },
            { values: { environment }, subjectName: environments[environment] },
          ),
        ]
      : []),
  ]);
  const heads = [words.environment, words.perHour, words.setBy, ...(mayLimit ? [words.act] : [])];
  return table(words.limits, heads, rows, [1]);
}

const FORM = {
  as: 'folded',
  back: ({ params }: { params: { id: string } }) => accountPath(params.id),
} as const;

export const requestLimitChange = defineForm('POST /accounts/{id}/limit', {
  ...FORM,
  words: ({ accounts: words }) => ({ title: words.set }),
  fields: ({ accounts: words }) => ({
    environment: subject(z.enum(ENVIRONMENTS)),
    per_hour: number(words.perHour, { minimum: 1, maximum: MAX_PER_HOUR }),
    reason: reason(words.reason),
  }),
  async run({ params: { id }, form: { per_hour: perHour, ...sent }, visit }, deps) {
    await setRateLimit(deps, { accountId: id, perHour, ...sent });
    const { accounts: words, environments } = visit.texts;
    return words.limited(figure(perHour, visit.texts), environments[sent.environment]);
  },
});

export const newGrant = defineForm('POST /accounts/{id}/grants', {
  ...FORM,
  words: ({ accounts: words }) => formWords(words, 'grant'),
  fields: ({ accounts: words, members }) => ({
    rut: text('RUT', { schema: Rut, maxlength: 12, inputmode: 'numeric' }),
    role: choice(words.role, optionsOf(GRANTED_ROLES, members.roles)),
    reason: reason(words.reason),
  }),
  async run({ params: { id }, form, visit }, deps) {
    await setGrant(deps, { accountId: id, ...form });
    return visit.texts.accounts.granted(form.rut, form.role);
  },
});

export const grantRemoval = defineForm('POST /accounts/{id}/grants/{rut}/remove', {
  ...FORM,
  words: ({ accounts: words }) => ({ title: words.ungrant }),
  fields: ({ accounts: words }) => ({ reason: reason(words.reason) }),
  async run({ params: { id, rut }, form, visit }, deps) {
    await removeGrant(deps, { accountId: id, rut, ...form });
    return visit.texts.accounts.ungranted(rut);
  },
});

/** Adds a person; if they cannot sign in yet, shows an invitation link once. */
export const newPerson = defineForm('POST /accounts/{id}/people', {
  ...FORM,
  words: ({ accounts: words }) => formWords(words, 'add'),
  fields: ({ accounts: words, members }) => ({
    email: email(words.email, BY_LENGTH),
    role: choice(words.role, optionsOf(MEMBER_ROLES, members.roles)),
  }),
  async run({ params: { id }, form, visit }, deps) {
    const { invitation } = await createUser(deps, { accountId: id, ...form });
    if (!invitation) return visit.texts.accounts.added(form.email);
    return showLinkOnce(visit, deps, { id, email: form.email, token: invitation.token });
  },
});

/** Returns a member of an account. Throws NOT_FOUND if the person is not a member. */
async function requireMember(
  { orm }: ConsoleDeps,
  { id, person }: { id: string; person: string },
): Promise<Member> {
  const member = (await listMembers(orm.em.fork(), id)).find(({ personId }) => personId === person);
  if (!member) throw new Refusal('NOT_FOUND', `${person} is no member of the account ${id}.`);
  return member;
}

const PERSON = {
  ...FORM,
  find: ({ params }: { params: { id: string; person: string } }, deps: ConsoleDeps) =>
    requireMember(deps, params),
} as const;

export const personInvitation = defineForm('POST /accounts/{id}/people/{person}/invite', {
  ...PERSON,
  words: ({ accounts: words }) => formWords(words, 'invite'),
  async run({ params: { id }, target: { email }, visit }, deps) {
    const { invitation } = await inviteUser(deps, { email });
    return showLinkOnce(visit, deps, { id, email, token: invitation.token });
  },
});

export const personDisabling = defineForm('POST /accounts/{id}/people/{person}/disable', {
  ...PERSON,
  words: ({ accounts: words }) => formWords(words, 'disable'),
  fields: ({ accounts: words }) => ({ reason: reason(words.reason) }),
  async run({ target: { email }, form, visit }, deps) {
    await disableUser(deps, { email, ...form });
    return visit.texts.accounts.disabled(email);
  },
});

/** Ends all sessions of a person. */
export const personEnd = defineForm('POST /accounts/{id}/people/{person}/end', {
  ...PERSON,
  words: ({ accounts: words }) => ({ title: words.end }),
  fields: ({ accounts: words }) => ({ reason: reason(words.reason) }),
  async run({ target: { email }, form, visit }, deps) {
    const ended = await endSessions(deps, { email, ...form });
    return visit.texts.accounts.ended(email, figure(ended, visit.texts));
  },
});

function showLinkOnce(
  visit: Visit,
  { consoleUrl }: ConsoleDeps,
  { id, email, token }: { id: string; email: string; token: string },
): Answer {
  const { accounts: words } = visit.texts;
  return showOnce(visit, {
    title: words.linkTitle,
    about: words.linkAbout(email),
    secret: `${consoleUrl}/invitation/${token}`,
    back: accountPath(id),
  });
}
