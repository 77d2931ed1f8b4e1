import * as z from 'zod';
import { setRateLimit } from '../../../commands/people/accounts.ts';
import { removeGrant, setGrant } from '../../../commands/people/grants.ts';
import { endSessions } from '../../../commands/people/sessions.ts';
import { createUser, disableUser, inviteUser } from '../../../commands/people/users.ts';
import { apiKeyPrefix } from '../../../crypto/apiKeys.ts';
import type { Account, ApiKey } from '../../../db/entities/people.ts';
import { listApiKeys, listMembers, type Member, requireAccount } from '../../../db/people/accounts.ts';
import {
  type EnterpriseRole,
  listEnterpriseRoles,
  listRateLimits,
} from '../../../db/people/consoleAccounts.ts';
import { BY_LENGTH, REASON_LENGTH } from '../../../domain/operations/supportAction.ts';
import { MEMBER_ROLES, type MemberRole } from '../../../domain/people/people.ts';
import { HOURLY_LIMITS } from '../../../domain/people/requestLimits.ts';
import { GRANTED_ROLES } from '../../../domain/people/roles.ts';
import { ENVIRONMENTS, type Environment } from '../../../domain/receipts/cfeTypes.ts';
import { Email } from '../../../domain/values/email.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayOpen, type PageRoute } from '../../access/permissions.ts';
import { figure, moment } from '../../format.ts';
import { link } from '../../links.ts';
import { type Column, column, csvAnswer, LIST_QUERY, type List, renderList } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import {
  type Answer,
  type ConsoleDeps,
  definePage,
  go,
  show,
  signedIn,
  type Visit,
  withActor,
} from '../../page.ts';
import { button, choice, field, form, hidden, mark, optionsOf, panel, table } from '../../parts.ts';
import { STATUS_TONES } from '../enterprises/enterprises.ts';

/** The database allows more, but a higher limit would have no effect. */
const MAX_PER_HOUR = 1_000_000_000;
const Id = z.object({ id: z.uuid() });
const PersonOf = z.object({ id: z.uuid(), person: z.uuid() });
const accountPath = (id: string): string => `/accounts/${id}`;
const Reason = z.object({ reason: z.string().trim().pipe(textSchema(REASON_LENGTH)) });
const reasonField = (visit: Visit): Html =>
  field(visit.texts.accounts.reason, { name: 'reason', maxlength: REASON_LENGTH });
/** Returns whether the viewer may send a form about accounts. */
const maySend = (visit: Visit, route: PageRoute): boolean => mayOpen(signedIn(visit).viewer, route);
const FORM = {
  back: ({ params }: { params: { id: string } }) => accountPath(params.id),
} as const;

/** GET /accounts/{id}: an account's enterprises, API keys, rate limits and people. */
export const accountPage = definePage({
  name: 'account',
  route: 'GET /accounts/{id}',
  params: Id,
  query: z.object(LIST_QUERY),
  async handle({ params: { id }, query, visit }, deps) {
    const { accounts: words } = visit.texts;
    const em = deps.orm.em.fork();
    const account = await requireAccount(em, id);
    const at = { path: accountPath(id), query: { ...query }, isPart: true } as const;
    const enterprises = enterprisesList(visit, deps, account, at);
    const keys = keysList(visit, deps, account, at);
    const people = peopleList(visit, deps, account, at);
    if (query.format === 'csv')
      return query.list === 'keys'
        ? csvAnswer(keys)
        : query.list === 'people'
          ? csvAnswer(people)
          : csvAnswer(enterprises);
    const grant = maySend(visit, 'POST /accounts/{id}/grants') && grantForm(visit, id);
    const add = maySend(visit, 'POST /accounts/{id}/people') && addForm(visit, id);
    const body = html`${factsOf(visit, account)}
${panel(words.enterprises, html`${await renderList(visit, enterprises)}${grant}`)}
${panel(words.people, html`${await renderList(visit, people)}${add}`)}
${panel(words.keys, await renderList(visit, keys))}
${panel(words.limits, limitsTable(visit, id, await listRateLimits(em, id)))}`;
    return show(account.name, body, { live: ['accounts', 'keys', 'people'] });
  },
});

interface At {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly isPart: true;
}

function factsOf(visit: Visit, { id, email, isDeveloper, createdAt }: Account): Html {
  const { accounts: words } = visit.texts;
  const developer = isDeveloper && html` · ${mark(words.developer, 'calm')}`;
  const audit = html`<a href="${link('/audit', { account: id })}">${words.audit}</a>`;
  const webhooks = html`<a href="${link('/webhooks', { account: id })}">${visit.texts.webhooks.title}</a>`;
  const since = html`${words.created} ${moment(createdAt)}`;
  return html`<p>${email} · <code>${id}</code> · ${since}${developer} · ${audit} · ${webhooks}</p>`;
}

function enterprisesList(visit: Visit, { orm }: ConsoleDeps, { id }: Account, at: At): List<EnterpriseRole> {
  const { accounts: words } = visit.texts;
  const columns: Column<EnterpriseRole>[] = [
    column('rut', 'RUT', 'rut'),
    column('legal_name', words.enterprise, 'legalName'),
    column('role', words.role, 'role', ({ role }) => visit.texts.members.roles[role]),
    column('status', words.status, 'status', ({ status }) =>
      mark(visit.texts.enterprises.statuses[status], STATUS_TONES[status]),
    ),
  ];
  const remove = ({ rut, role }: EnterpriseRole): Html | null =>
    role === 'OWNER'
      ? null
      : html`<details id="ungrant-${rut}"><summary aria-label="${words.ungrant} ${rut}">${words.ungrant}</summary>${form(
          visit,
          `${accountPath(id)}/grants/${rut}/remove`,
          html`${reasonField(visit)}${button(words.ungrant)}`,
        )}</details>`;
  return {
    ...at,
    name: 'enterprises',
    label: words.enterprises,
    columns: maySend(visit, 'POST /accounts/{id}/grants/{rut}/remove')
      ? [...columns, column('account_id', words.act, () => id, remove)]
      : columns,
    read: ({ after, limit }) => listEnterpriseRoles(orm.em.fork(), id, { after: after?.[0] ?? null, limit }),
    key: { parts: ['text'], of: ({ rut }) => [rut] },
    href: ({ rut }) => `/enterprises/${rut}`,
    empty: words.noEnterprise,
  };
}

function keysList(visit: Visit, { orm }: ConsoleDeps, { id }: Account, at: At): List<ApiKey> {
  const { accounts: words, environments, never } = visit.texts;
  const day = (date: Date | null | undefined): Html | string => (date ? moment(date) : never);
  return {
    ...at,
    name: 'keys',
    label: words.keys,
    columns: [
      column('prefix', words.key, apiKeyPrefix, (key) => html`<code>${apiKeyPrefix(key)}</code>`),
      column('key_id', words.id, 'id', (key) => html`<code>${key.id}</code>`),
      column('label', words.label, (key) => key.label ?? null),
      column('environment', words.environment, 'environment', (key) => environments[key.environment]),
      column('created_at', words.created, 'createdAt', (key) => moment(key.createdAt)),
      column(
        'last_used_at',
        words.used,
        (key) => key.lastUsedAt ?? null,
        (key) => day(key.lastUsedAt),
      ),
      column(
        'revoked_at',
        words.revoked,
        (key) => key.revokedAt ?? null,
        (key) => day(key.revokedAt),
      ),
    ],
    // An account has few keys, which fit on one page.
    read: async ({ after }) => (after ? [] : listApiKeys(orm.em.fork(), id)),
    key: { parts: ['uuid'], of: (key) => [key.id] },
    empty: words.noKey,
  };
}

function peopleList(visit: Visit, { orm }: ConsoleDeps, { id }: Account, at: At): List<Member> {
  const { accounts: words, never } = visit.texts;
  const columns: Column<Member>[] = [
    column(
      'email',
      words.email,
      'email',
      ({ email, disabled }) => html`${email}${disabled && html` ${mark(words.shutOut, 'bad')}`}`,
    ),
    column('role', words.role, 'role', ({ role }) => visit.texts.members.roles[role]),
    column('since', words.created, 'since', ({ since }) => moment(since)),
    column('seen_at', words.seen, 'seenAt', ({ seenAt }) => (seenAt ? moment(seenAt) : never)),
    column('second_factor', words.factor, 'hasSecondFactor', ({ hasSecondFactor }) =>
      hasSecondFactor ? words.yes : words.no,
    ),
  ];
  return {
    ...at,
    name: 'people',
    label: words.people,
    columns: maySend(visit, 'POST /accounts/{id}/people/{person}/invite')
      ? [...columns, column('person_id', words.act, 'personId', (member) => personForms(visit, id, member))]
      : columns,
    // An account has few people, who fit on one page.
    read: async ({ after }) => (after ? [] : listMembers(orm.em.fork(), id)),
    key: { parts: ['uuid'], of: ({ personId }) => [personId] },
    empty: words.noMember,
  };
}

/** Renders the actions on a person, each with its effect. */
function personForms(visit: Visit, id: string, { personId, email, disabled, isOperator }: Member): Html {
  const { accounts: words } = visit.texts;
  if (isOperator) return html`<span class="soft">${words.ofOperators}</span>`;
  const act = (name: string, title: string, about: string | null, fields = reasonField(visit)): Html =>
    html`<details id="${name}-${personId}"><summary aria-label="${title} ${email}">${title}</summary>${form(
      visit,
      `${accountPath(id)}/people/${personId}/${name}`,
      html`${about !== null && html`<p>${about}</p>`}${fields}${button(title)}`,
    )}</details>`;
  const invite = act('invite', words.invite, words.inviteAbout, html``);
  if (disabled) return invite;
  return html`${invite}${act('end', words.end, null)}${act('disable', words.disable, words.disableAbout)}`;
}

const roleChoice = ({ texts }: Visit, roles: readonly MemberRole[]): Html =>
  choice(texts.accounts.role, {
    name: 'role',
    options: optionsOf(roles, texts.members.roles),
  });

function grantForm(visit: Visit, id: string): Html {
  const { accounts: words } = visit.texts;
  return html`<details class="more" id="grant"><summary>${words.grant}</summary>${form(
    visit,
    `${accountPath(id)}/grants`,
    [
      field('RUT', { name: 'rut', maxlength: 12, inputmode: 'numeric' }),
      roleChoice(visit, GRANTED_ROLES),
      reasonField(visit),
      button(words.grantGo),
    ],
  )}</details>`;
}

function addForm(visit: Visit, id: string): Html {
  const { accounts: words } = visit.texts;
  return html`<details class="more" id="add"><summary>${words.add}</summary>${form(
    visit,
    `${accountPath(id)}/people`,
    [
      html`<p>${words.addAbout}</p>`,
      field(words.email, { name: 'email', type: 'email', maxlength: BY_LENGTH }),
      roleChoice(visit, MEMBER_ROLES),
      button(words.addGo),
    ],
  )}</details>`;
}

function limitsTable(visit: Visit, id: string, own: ReadonlyMap<Environment, number>): Html {
  const { accounts: words, environments } = visit.texts;
  const mayLimit = maySend(visit, 'POST /accounts/{id}/limit');
  const rows = ENVIRONMENTS.map((environment) => [
    environments[environment],
    figure(own.get(environment) ?? HOURLY_LIMITS[environment].most, visit.texts),
    own.has(environment) ? words.own : words.usual,
    ...(mayLimit ? [limitForm(visit, id, environment)] : []),
  ]);
  const heads = [words.environment, words.perHour, words.setBy, ...(mayLimit ? [words.act] : [])];
  return table(words.limits, heads, rows, [1]);
}

function limitForm(visit: Visit, id: string, environment: Environment): Html {
  const { accounts: words, environments } = visit.texts;
  const content = form(visit, `${accountPath(id)}/limit`, [
    hidden('environment', environment),
    field(words.perHour, { name: 'per_hour', inputmode: 'numeric', maxlength: 10 }),
    reasonField(visit),
    button(words.set),
  ]);
  const summary = html`<summary aria-label="${words.set}, ${environments[environment]}">${words.set}</summary>`;
  return html`<details id="limit-${environment}">${summary}${content}</details>`;
}

/** POST /accounts/{id}/limit. */
export const sendLimit = definePage({
  ...FORM,
  name: 'account-limit',
  route: 'POST /accounts/{id}/limit',
  params: Id,
  form: z.object({
    environment: z.enum(ENVIRONMENTS),
    per_hour: z.coerce.number().int().min(1).max(MAX_PER_HOUR),
    ...Reason.shape,
  }),
  async handle({ params: { id }, form: { environment, per_hour: perHour, reason }, visit }, deps) {
    await setRateLimit(withActor(deps, visit), { accountId: id, environment, perHour, reason });
    const { accounts: words, environments } = visit.texts;
    return go(accountPath(id), {
      kind: 'done',
      text: words.limited(figure(perHour, visit.texts), environments[environment]),
    });
  },
});

/** POST /accounts/{id}/grants. */
export const sendGrant = definePage({
  ...FORM,
  name: 'account-grant',
  route: 'POST /accounts/{id}/grants',
  params: Id,
  form: z.object({ rut: z.string().trim().pipe(Rut), role: z.enum(GRANTED_ROLES), ...Reason.shape }),
  async handle({ params: { id }, form: { rut, role, reason }, visit }, deps) {
    await setGrant(withActor(deps, visit), { accountId: id, rut, role, reason });
    return go(accountPath(id), { kind: 'done', text: visit.texts.accounts.granted(rut, role) });
  },
});

/** POST /accounts/{id}/grants/{rut}/remove. */
export const sendRemoveGrant = definePage({
  ...FORM,
  name: 'account-grant-remove',
  route: 'POST /accounts/{id}/grants/{rut}/remove',
  params: z.object({ id: z.uuid(), rut: Rut }),
  form: Reason,
  async handle({ params: { id, rut }, form: { reason }, visit }, deps) {
    await removeGrant(withActor(deps, visit), { accountId: id, rut, reason });
    return go(accountPath(id), { kind: 'done', text: visit.texts.accounts.ungranted(rut) });
  },
});

/** POST /accounts/{id}/people: adds a person; shows a link once for a person who cannot sign in yet. */
export const sendPerson = definePage({
  ...FORM,
  name: 'account-person',
  route: 'POST /accounts/{id}/people',
  params: Id,
  form: z.object({ email: z.string().trim().pipe(Email.max(BY_LENGTH)), role: z.enum(MEMBER_ROLES) }),
  async handle({ params: { id }, form: { email, role }, visit }, deps) {
    const { invitation } = await createUser(withActor(deps, visit), { email, accountId: id, role });
    return invitation
      ? linkOnce(visit, deps, id, email, invitation.token)
      : go(accountPath(id), { kind: 'done', text: visit.texts.accounts.added(email) });
  },
});

/** POST /accounts/{id}/people/{person}/invite. */
export const sendInvite = definePage({
  ...FORM,
  name: 'account-person-invite',
  route: 'POST /accounts/{id}/people/{person}/invite',
  params: PersonOf,
  async handle({ params, visit }, deps) {
    const { email } = await memberOf(deps, params);
    const { invitation } = await inviteUser(withActor(deps, visit), { email });
    return linkOnce(visit, deps, params.id, email, invitation.token);
  },
});

/** POST /accounts/{id}/people/{person}/disable. */
export const sendDisable = definePage({
  ...FORM,
  name: 'account-person-disable',
  route: 'POST /accounts/{id}/people/{person}/disable',
  params: PersonOf,
  form: Reason,
  async handle({ params, form: { reason }, visit }, deps) {
    const { email } = await memberOf(deps, params);
    await disableUser(withActor(deps, visit), { email, reason });
    return go(accountPath(params.id), { kind: 'done', text: visit.texts.accounts.disabled(email) });
  },
});

/** POST /accounts/{id}/people/{person}/end: ends their sessions. */
export const sendEnd = definePage({
  ...FORM,
  name: 'account-person-end',
  route: 'POST /accounts/{id}/people/{person}/end',
  params: PersonOf,
  form: Reason,
  async handle({ params, form: { reason }, visit }, deps) {
    const { email } = await memberOf(deps, params);
    const ended = await endSessions(withActor(deps, visit), { email, reason });
    return go(accountPath(params.id), {
      kind: 'done',
      text: visit.texts.accounts.ended(email, figure(ended, visit.texts)),
    });
  },
});

/** Returns a member of an account. Throws NOT_FOUND if the person is not a member. */
async function memberOf(
  { orm }: ConsoleDeps,
  { id, person }: { id: string; person: string },
): Promise<Member> {
  const member = (await listMembers(orm.em.fork(), id)).find(({ personId }) => personId === person);
  if (!member) throw new Refusal('NOT_FOUND', `${person} is no member of the account ${id}.`);
  return member;
}

function linkOnce(
  visit: Visit,
  { consoleUrl }: ConsoleDeps,
  id: string,
  email: string,
  token: string,
): Answer {
  const { accounts: words } = visit.texts;
  return showOnce(visit, {
    title: words.linkTitle,
    about: words.linkAbout(email),
    secret: `${consoleUrl}/invitation/${token}`,
    back: accountPath(id),
  });
}
