import * as z from 'zod';
import {
  changeMemberRole,
  inviteMember,
  removeMember,
  withdrawMemberInvitation,
} from '../../../commands/people/members.ts';
import type { AccountInvitation } from '../../../db/entities/people.ts';
import { listAccountInvitations, listMembers, type Member } from '../../../db/people/accounts.ts';
import type { AccountMembership } from '../../../db/people/people.ts';
import { BY_LENGTH, REASON_LENGTH } from '../../../domain/operations/supportAction.ts';
import { MEMBER_ROLES } from '../../../domain/people/people.ts';
import { Email } from '../../../domain/values/email.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayIn, type PageRoute } from '../../access/permissions.ts';
import { ACCOUNT, accountBar, accountField, accountOfForm, backTo, chooseAccount } from '../../accounts.ts';
import { moment } from '../../format.ts';
import { link } from '../../links.ts';
import { type Column, column, csvAnswer, LIST_QUERY, type List, renderList } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, go, show, signedIn, type Visit, withActor } from '../../page.ts';
import { button, field, form, mark, nothing, panel, table } from '../../parts.ts';

const FORM = { back: backTo('/members') } as const;
const OF = { account: z.uuid() } as const;

/** GET /members: the people of an account, and its open invitations. */
export const membersPage = definePage({
  name: 'members',
  route: 'GET /members',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ query, visit }, { orm }) {
    const { members: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const em = orm.em.fork();
    const list: List<Member> = {
      name: 'members',
      label: words.title,
      path: '/members',
      query: { ...query, account: account.accountId },
      filters: [{ name: 'account', label: visit.texts.members.account }],
      columns: columnsOf(visit, account),
      // An account has few people, who fit on one page.
      read: async ({ after }) => (after ? [] : listMembers(em, account.accountId)),
      key: { parts: ['uuid'], of: ({ personId }) => [personId] },
      empty: words.title,
    };
    if (query.format === 'csv') return csvAnswer(list);
    const may = (route: PageRoute): boolean => mayIn(signedIn(visit).viewer, account.accountId, route);
    const mayWithdraw = may('POST /members/invitations/{id}/withdraw');
    const invited = mayWithdraw ? await listAccountInvitations(em, account.accountId, visit.now) : [];
    const body = html`${accountBar(visit, '/members', account)}${panel(null, await renderList(visit, list))}
${mayWithdraw && panel(words.open, invitedTable(visit, account, invited))}
${may('POST /members') && panel(words.invite, inviteForm(visit, account))}
<p class="soft">${words.lost}</p>`;
    return show(words.title, body, { live: ['people'] });
  },
});

function columnsOf(visit: Visit, account: AccountMembership): Column<Member>[] {
  const { members: words, roles } = visit.texts.members;
  const columns: Column<Member>[] = [
    column(
      'email',
      words.email,
      'email',
      ({ email, disabled }) => html`${email}${disabled && html` ${mark(words.shutOut, 'bad')}`}`,
    ),
    column('role', words.role, 'role', ({ role }) => roles[role]),
    column('since', words.since, 'since', ({ since }) => moment(since)),
    column('seen_at', words.seen, 'seenAt', ({ seenAt }) => (seenAt ? moment(seenAt) : visit.texts.never)),
    column('second_factor', words.factor, 'hasSecondFactor', ({ hasSecondFactor }) =>
      hasSecondFactor ? words.yes : words.no,
    ),
  ];
  const act = column<Member>('person_id', words.act, 'personId', (member) =>
    memberForms(visit, account, member),
  );
  const mayChange = mayIn(signedIn(visit).viewer, account.accountId, 'POST /members/{id}/role');
  return mayChange ? [...columns, act] : columns;
}

const roleChoice = ({ texts: { members: words } }: Visit, present: string): Html =>
  html`<select name="role" aria-label="${words.members.role}">${MEMBER_ROLES.map(
    (one) =>
      html`<option value="${one}"${one === present && html` selected`}>${words.roles[one]}: ${words.rolesAbout[one]}</option>`,
  )}</select>`;

function memberForms(visit: Visit, account: AccountMembership, { personId, email, role }: Member): Html {
  const { members: words } = visit.texts.members;
  const change = form(
    visit,
    `/members/${personId}/role`,
    html`${accountField(account)}<p>${roleChoice(visit, role)}</p>${button(words.change)}`,
  );
  const remove = form(visit, `/members/${personId}/remove`, [
    accountField(account),
    html`<p>${words.removeAbout}</p>`,
    field(words.removeReason, { name: 'reason', maxlength: REASON_LENGTH }),
    button(words.remove),
  ]);
  const renderFolded = (name: string, title: string, content: Html): Html => {
    const summary = html`<summary aria-label="${title} ${email}">${title}</summary>`;
    return html`<details id="${name}-${personId}">${summary}${content}</details>`;
  };
  return html`${renderFolded('change', words.change, change)}${renderFolded('remove', words.remove, remove)}`;
}

function invitedTable(visit: Visit, account: AccountMembership, invited: readonly AccountInvitation[]): Html {
  const { members: words, roles } = visit.texts.members;
  if (invited.length === 0) return nothing(words.openNone);
  const rows = invited.map(({ id, email, role, expiresAt }) => [
    email,
    roles[role],
    moment(expiresAt),
    form(
      visit,
      `/members/invitations/${id}/withdraw`,
      html`${accountField(account)}${button(words.withdraw, 'quiet')}`,
      'inline',
    ),
  ]);
  return table(words.open, [words.email, words.role, words.expires, words.act], rows);
}

function inviteForm(visit: Visit, account: AccountMembership): Html {
  const { members: words } = visit.texts.members;
  return form(
    visit,
    '/members',
    html`<p>${words.inviteAbout}</p>${accountField(account)}
${field(words.email, { name: 'email', type: 'email', maxlength: BY_LENGTH })}
<div class="field"><span>${words.role}</span>${roleChoice(visit, 'VIEWER')}</div>
${button(words.inviteGo)}`,
  );
}

/** POST /members: invites a person and shows the link once. */
export const sendMemberInvitation = definePage({
  ...FORM,
  name: 'member-invite',
  route: 'POST /members',
  form: z.object({
    ...OF,
    email: z.string().trim().pipe(Email.max(BY_LENGTH)),
    role: z.enum(MEMBER_ROLES),
  }),
  async handle({ form: { account, email, role }, visit }, deps) {
    const { members: words } = visit.texts.members;
    const { accountId, accountName } = accountOfForm(visit, account);
    const { token } = await inviteMember(withActor(deps, visit), { accountId, email, role });
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout(email),
      secret: `${deps.consoleUrl}/join/${token}`,
      facts: html`<p><strong>${accountName} · ${visit.texts.members.roles[role]}</strong></p>`,
      back: link('/members', { account: accountId }),
    });
  },
});

/** POST /members/invitations/{id}/withdraw. */
export const sendWithdrawInvitation = definePage({
  ...FORM,
  name: 'member-withdraw',
  route: 'POST /members/invitations/{id}/withdraw',
  params: z.object({ id: z.uuid() }),
  form: z.object(OF),
  async handle({ params, form: { account }, visit }, deps) {
    const { accountId } = accountOfForm(visit, account);
    await withdrawMemberInvitation(withActor(deps, visit), { accountId, invitationId: params.id });
    const text = visit.texts.members.members.withdrawn;
    return go(link('/members', { account: accountId }), { kind: 'done', text });
  },
});

/** POST /members/{id}/role. */
export const sendMemberRole = definePage({
  ...FORM,
  name: 'member-role',
  route: 'POST /members/{id}/role',
  params: z.object({ id: z.uuid() }),
  form: z.object({ ...OF, role: z.enum(MEMBER_ROLES) }),
  async handle({ params, form: { account, role }, visit }, deps) {
    const { members: words, roles } = visit.texts.members;
    const { accountId } = accountOfForm(visit, account);
    const { email } = await changeMemberRole(withActor(deps, visit), {
      accountId,
      personId: params.id,
      role,
    });
    const text = words.changed(email, roles[role]);
    return go(link('/members', { account: accountId }), { kind: 'done', text });
  },
});

/** POST /members/{id}/remove. */
export const sendRemoveMember = definePage({
  ...FORM,
  name: 'member-remove',
  route: 'POST /members/{id}/remove',
  params: z.object({ id: z.uuid() }),
  form: z.object({ ...OF, reason: z.string().trim().pipe(textSchema(REASON_LENGTH)) }),
  async handle({ params, form: { account, reason }, visit }, deps) {
    const { members: words } = visit.texts.members;
    const { accountId } = accountOfForm(visit, account);
    const { email } = await removeMember(withActor(deps, visit), { accountId, personId: params.id, reason });
    return go(link('/members', { account: accountId }), { kind: 'done', text: words.removed(email) });
  },
});
