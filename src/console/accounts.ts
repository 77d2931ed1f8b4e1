/** Chooses the account of a page for people with several: the one in the query, else the last one they opened. */
import * as z from 'zod';
import { listAccountsPage } from '../db/people/consoleAccounts.ts';
import type { AccountMembership } from '../db/people/people.ts';
import { Refusal } from '../errors.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from '../words/console.ts';
import { mayIn } from './access/permissions.ts';
import { type Field, select, subject } from './fields.ts';
import type { Filter } from './filters.ts';
import { type Declaration, defineForm, type Fields, type Form, type FormRoute } from './form.ts';
import { link } from './links.ts';
import { type Answer, type ConsoleDeps, redirect, routeOf, type Sent, signedIn, type Visit } from './page.ts';
import { button } from './parts.ts';

/** Field of queries and forms. */
export const ACCOUNT = { account: z.uuid().optional() } as const;
/** An account's id, or part of its name or e-mail address, in an operator's list. */
export const SoughtAccount = z.string().trim().max(255).optional();
const REMEMBERED_SECONDS = 180 * 86_400;
type Account = { readonly account: Field<string> };

/** Returns the account of a member's page with their role, and remembers it. Throws NOT_FOUND for an account of others. */
export function chooseAccount(visit: Visit, requested: string | undefined): AccountMembership {
  const { viewer } = signedIn(visit);
  if (viewer.kind !== 'member') throw new TypeError('an operator belongs to no account');
  const find = (id: string | undefined): AccountMembership | undefined =>
    viewer.memberships.find(({ accountId }) => accountId === id);
  const chosen =
    requested === undefined ? (find(visit.cookies.get('account')) ?? viewer.memberships[0]) : find(requested);
  if (!chosen) throw new Refusal('NOT_FOUND', 'This account is not yours.');
  if (requested !== undefined) visit.cookies.set('account', chosen.accountId, REMEMBERED_SECONDS);
  return chosen;
}

/** Returns whether the viewer may open the requested page or form for that account. */
export const isAllowedIn = (visit: Visit, accountId: string): boolean =>
  mayIn(signedIn(visit).viewer, accountId, routeOf(visit));

/** Renders the account of a page, with a switch to the same page of another account. */
export function accountBar(visit: Visit, path: string, chosen: AccountMembership): Html {
  const { viewer } = signedIn(visit);
  const { members: words } = visit.texts;
  const all = viewer.kind === 'member' ? viewer.memberships : [];
  const here = accountLine(visit, chosen);
  if (all.length < 2) return here;
  const options = all.map(({ accountId, accountName }) => [accountId, accountName] as const);
  const others = select('account', options, chosen.accountId);
  return html`${here}
    <form class="filters" method="get" action="${path}">
      <label class="field"><span>${words.otherAccount}</span>${others}</label>
      ${button(words.accountGo, 'quiet')}
    </form>`;
}

/** Renders the account of a page and the viewer's role in it. */
export const accountLine = ({ texts: { members: words } }: Visit, chosen: AccountMembership): Html =>
  html`<p class="soft">
    ${words.account} <strong>${chosen.accountName}</strong> · ${words.roles[chosen.role]}
  </p>`;

/** Returns a list's filter by account: any account for operators; their own for members with several. */
export function accountFilter(visit: Visit): { filters?: readonly Filter[] } {
  const { viewer } = signedIn(visit);
  const { members: words, accounts } = visit.texts;
  if (viewer.kind === 'operator') return { filters: [{ name: 'account', label: accounts.sought }] };
  if (viewer.memberships.length < 2) return {};
  const options = viewer.memberships.map(({ accountId, accountName }) => [accountId, accountName] as const);
  return { filters: [{ name: 'account', label: words.account, options }] };
}

/**
 * Returns the id of the account by which an operator filters a list. A text that is not an id redirects: to the list of the
 * only account that matches, else to the accounts that match.
 */
export async function findOperatorsAccount(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly id: string | undefined } | Answer> {
  const { account: text } = query;
  if (text === undefined || z.uuid().safeParse(text).success) return { id: text };
  const found = await listAccountsPage(orm.em.fork(), { text }, { after: null, limit: 2 });
  const [only, other] = found;
  if (only && !other) return redirect(link(path, { ...query, account: only.id }));
  return redirect(link('/accounts', { text }), { kind: 'failed', text: visit.texts.accounts.notOne(text) });
}

/** Defines a form about an account of the viewer, which leads back to the account's page at `path`. */
export const accountForm = <R extends FormRoute, F extends Fields>(
  path: string,
  route: R,
  declaration: Omit<Declaration<R, F & Account, AccountMembership>, 'find' | 'back' | 'fields'> & {
    fields?(texts: Texts): F;
  },
): Form<R, F & Account> =>
  defineForm<R, F & Account, AccountMembership>(route, {
    ...declaration,
    fields: (texts) =>
      ({ account: subject(z.uuid()), ...declaration.fields?.(texts) }) as unknown as F & Account,
    find({ form, visit }) {
      const { account } = form as { account: string };
      // A form for another's account is refused like one for no account.
      if (!isAllowedIn(visit, account)) throw new Refusal('NOT_FOUND', 'This account is not yours.');
      return chooseAccount(visit, account);
    },
    back: ({ sent }) => backTo(path, sent),
  });

/** Returns the page to which a form about an account leads back. */
export const backTo = (path: string, { account }: Sent): string =>
  link(path, { account: z.uuid().safeParse(account).data });
