import * as z from 'zod';
import {
  changeMemberRole,
  inviteMember,
  removeMember,
  withdrawMemberInvitation,
} from '../../../commands/people/members.ts';
import type { AccountInvitation } from '../../../db/entities/people.ts';
import { listAccountInvitations, type Member } from '../../../db/people/accounts.ts';
import type { AccountMembership } from '../../../db/people/people.ts';
import { BY_LENGTH } from '../../../domain/operations/supportAction.ts';
import { MEMBER_ROLES, type MemberRole } from '../../../domain/people/people.ts';
import { MEMBERS } from '../../../lists/people.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { mayUseForAccount, type PageRoute } from '../../access/permissions.ts';
import { ACCOUNT, accountForm, chooseAccount, renderAccountSwitch } from '../../accounts.ts';
import { choice, email, type Field, reason } from '../../fields.ts';
import { LIST_QUERY } from '../../filters.ts';
import { formWords } from '../../form.ts';
import { timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { csvAnswer, type Headings, listPart } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, show, signedIn, type Visit } from '../../page.ts';
import { badge, panel, renderEmpty, table } from '../../parts.ts';

/** GET /members: the people of an account, and its open invitations. */
export const membersPage = definePage({
  name: 'members',
  route: 'GET /members',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ query, visit }, deps) {
    const { members: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const list = listPart(visit, deps, MEMBERS, {
      label: words.title,
      path: '/members',
      query: { ...query, account: account.accountId },
      search: { accountId: account.accountId },
      filters: [{ name: 'account', label: visit.texts.members.account }],
      headings: {
        ...memberHeadings(visit),
        person_id: mayUseForAccount(signedIn(visit).viewer, account.accountId, roleChange.route) && [
          words.act,
          (member) => memberForms(visit, account, member),
        ],
      },
      empty: words.title,
    });
    const csv = csvAnswer(query, [list]);
    if (csv) return csv;
    const may = (route: PageRoute): boolean =>
      mayUseForAccount(signedIn(visit).viewer, account.accountId, route);
    const mayWithdraw = may(invitationWithdrawal.route);
    const values = { account: account.accountId, role: 'VIEWER' };
    const invited = mayWithdraw
      ? await listAccountInvitations(deps.orm.em.fork(), account.accountId, visit.now)
      : [];
    const body = html`${renderAccountSwitch(visit, '/members', account)}${panel(null, await list.render())}
      ${mayWithdraw && panel(words.open, invitedTable(visit, account, invited))}
      ${may(newInvitation.route) && newInvitation.draw(visit, {}, { values })}
      <p class="soft">${words.lost}</p>`;
    return show(words.title, body, { live: ['people'] });
  },
});

/** Returns the headings about the people of an account. */
export function memberHeadings({ texts }: Visit): Headings<Member, typeof MEMBERS.columns> {
  const { members: words, roles } = texts.members;
  return {
    email: [
      words.email,
      ({ email, disabled }) => html`${email}${disabled && html` ${badge(words.shutOut, 'bad')}`}`,
    ],
    role: [words.role, ({ role }) => roles[role]],
    since: [words.since, ({ since }) => timeOf(since)],
    seen_at: [words.seen, ({ seenAt }) => (seenAt ? timeOf(seenAt) : texts.never)],
    second_factor: [words.factor, ({ hasSecondFactor }) => (hasSecondFactor ? words.yes : words.no)],
  };
}

const roleChoice = ({ members: words }: Texts): Field<MemberRole> =>
  choice(
    words.members.role,
    MEMBER_ROLES.map((one) => [one, `${words.roles[one]}: ${words.rolesAbout[one]}`] as const),
  );

function memberForms(
  visit: Visit,
  { accountId }: AccountMembership,
  { personId, email, role }: Member,
): Html {
  const values = { account: accountId };
  const change = roleChange.draw(
    visit,
    { id: personId },
    { values: { ...values, role }, subjectName: email },
  );
  return html`${change}${memberRemoval.draw(visit, { id: personId }, { values, subjectName: email })}`;
}

function invitedTable(visit: Visit, account: AccountMembership, invited: readonly AccountInvitation[]): Html {
  const { members: words, roles } = visit.texts.members;
  if (invited.length === 0) return renderEmpty(words.openNone);
  const rows = invited.map(({ id, email, role, expiresAt }) => [
    email,
    roles[role],
    timeOf(expiresAt),
    invitationWithdrawal.draw(visit, { id }, { values: { account: account.accountId } }),
  ]);
  return table(words.open, [words.email, words.role, words.expires, words.act], rows);
}

/** Invites a person and shows the link once. */
export const newInvitation = accountForm('/members', 'POST /members', {
  as: 'panel',
  words: (texts) => formWords(texts.members.members, 'invite'),
  fields: (texts) => ({ email: email(texts.members.members.email, BY_LENGTH), role: roleChoice(texts) }),
  async run({ target: { accountId, accountName }, form: { email, role }, visit }, deps) {
    const { members: words, roles } = visit.texts.members;
    const { token } = await inviteMember(deps, { accountId, email, role });
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout(email),
      secret: `${deps.consoleUrl}/join/${token}`,
      facts: html`<p><strong>${accountName} · ${roles[role]}</strong></p>`,
      back: link('/members', { account: accountId }),
    });
  },
});

export const invitationWithdrawal = accountForm('/members', 'POST /members/invitations/{id}/withdraw', {
  as: 'inline',
  words: ({ members: { members: words } }) => ({
    done: words.withdrawn,
    submit: words.withdraw,
    isQuiet: true,
  }),
  command: ({ params: { id }, target: { accountId } }, deps) =>
    withdrawMemberInvitation(deps, { accountId, invitationId: id }),
});

export const roleChange = accountForm('/members', 'POST /members/{id}/role', {
  as: 'folded',
  words: (texts) => ({ title: texts.members.members.change }),
  fields: (texts) => ({ role: roleChoice(texts) }),
  async run({ params: { id }, target: { accountId }, form: { role }, visit }, deps) {
    const { members: words, roles } = visit.texts.members;
    const { email } = await changeMemberRole(deps, { accountId, personId: id, role });
    return words.changed(email, roles[role]);
  },
});

export const memberRemoval = accountForm('/members', 'POST /members/{id}/remove', {
  as: 'folded',
  words: ({ members: { members: words } }) => formWords(words, 'remove'),
  fields: ({ members: { members: words } }) => ({ reason: reason(words.removeReason) }),
  async run({ params: { id }, target: { accountId }, form: { reason }, visit }, deps) {
    const { email } = await removeMember(deps, { accountId, personId: id, reason });
    return visit.texts.members.members.removed(email);
  },
});
