/** Which account a page is about, where somebody belongs to several: the one in the query, else the one they looked at last. */
import * as z from 'zod';
import { listAccountsPage } from '../db/consoleAccounts.ts';
import type { AccountMembership } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { type Html, html } from '../page/html.ts';
import { link } from './links.ts';
import type { Filter } from './lists.ts';
import { type Answer, type ConsoleDeps, go, routeOf, type Sent, signedIn, type Visit } from './page.ts';
import { button, choice, hidden } from './parts.ts';
import { mayIn } from './permissions.ts';

/** In queries and forms. */
export const ACCOUNT = { account: z.uuid().optional() } as const;
/** Of an operator's list: the id of an account, or what its name or address holds. */
export const SoughtAccount = z.string().trim().max(255).optional();
const REMEMBERED_SECONDS = 180 * 86_400;

/**
 * The account that a member's page is about, and remembers it; with what they are in it. Refuses one that they do not belong to
 * (NOT_FOUND), as if there were none.
 */
export function chosenAccount(visit: Visit, asked: string | undefined): AccountMembership {
  const { viewer } = signedIn(visit);
  if (viewer.kind !== 'member') throw new TypeError('an operator belongs to no account');
  const of = (id: string | undefined): AccountMembership | undefined =>
    viewer.memberships.find(({ accountId }) => accountId === id);
  const chosen =
    asked === undefined ? (of(visit.cookies.get('account')) ?? viewer.memberships[0]) : of(asked);
  if (!chosen) throw new Refusal('NOT_FOUND', 'This account is none of yours.');
  if (asked !== undefined) visit.cookies.set('account', chosen.accountId, REMEMBERED_SECONDS);
  return chosen;
}

/** Whether somebody may have the page or form that they ask for, of what is that account's. */
export const isAllowedIn = (visit: Visit, accountId: string): boolean =>
  mayIn(signedIn(visit).viewer, accountId, routeOf(visit));

/** The account that a form is about, if somebody may send it for that one; else there is none (NOT_FOUND). */
export function accountOfForm(visit: Visit, accountId: string): AccountMembership {
  if (!isAllowedIn(visit, accountId)) throw new Refusal('NOT_FOUND', 'This account is none of yours.');
  return chosenAccount(visit, accountId);
}

/** Says which account a page is about, and leads to the same of another. */
export function accountBar(visit: Visit, path: string, chosen: AccountMembership): Html {
  const { viewer } = signedIn(visit);
  const { members: words } = visit.texts;
  const all = viewer.kind === 'member' ? viewer.memberships : [];
  const here = accountLine(visit, chosen);
  if (all.length < 2) return here;
  const options = all.map(({ accountId, accountName }) => [accountId, accountName] as const);
  const others = choice(words.otherAccount, { name: 'account', value: chosen.accountId, options });
  const go = button(words.accountGo, 'quiet');
  return html`${here}<form class="filters" method="get" action="${path}">${others}${go}</form>`;
}

/** Says which account a page is about, and what they are in it. */
export const accountLine = ({ texts: { members: words } }: Visit, chosen: AccountMembership): Html =>
  html`<p class="soft">${words.account} <strong>${chosen.accountName}</strong> · ${words.roles[chosen.role]}</p>`;

/** The filter of a list by account: of operators any, of members theirs, where they have several. */
export function accountFilter(visit: Visit): { filters?: readonly Filter[] } {
  const { viewer } = signedIn(visit);
  const { members: words, accounts } = visit.texts;
  if (viewer.kind === 'operator') return { filters: [{ name: 'account', label: accounts.sought }] };
  if (viewer.memberships.length < 2) return {};
  const options = viewer.memberships.map(({ accountId, accountName }) => [accountId, accountName] as const);
  return { filters: [{ name: 'account', label: words.account, options }] };
}

/**
 * The account by which an operator narrows a list. What is no id is looked for among the accounts: where that finds one, its list is
 * the answer; else the accounts that it finds.
 */
export async function operatorsAccount(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly id: string | undefined } | Answer> {
  const { account: text } = query;
  if (text === undefined || z.uuid().safeParse(text).success) return { id: text };
  const found = await listAccountsPage(orm.em.fork(), { text }, { after: null, limit: 2 });
  const [only, other] = found;
  if (only && !other) return go(link(path, { ...query, account: only.id }));
  return go(link('/accounts', { text }), { kind: 'failed', text: visit.texts.accounts.notOne(text) });
}

/** The hidden field by which a form says which account it is about. */
export const accountField = ({ accountId }: Pick<AccountMembership, 'accountId'>): Html =>
  hidden('account', accountId);

/** Where a form about an account leads back to. */
export const backTo =
  (path: string) =>
  ({ sent }: { sent: Sent }): string => {
    const account = z.uuid().safeParse(sent['account']);
    return link(path, { account: account.data });
  };
