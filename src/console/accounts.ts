/** Chooses the account of a page for people with several: the one in the query, else the last one they opened. */
import * as z from 'zod';
import { listAccountsPage } from '../db/people/consoleAccounts.ts';
import type { AccountMembership } from '../db/people/people.ts';
import { Refusal } from '../errors.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from '../words/console.ts';
import type { Viewer } from './access/access.ts';
import { mayUseForAccount } from './access/permissions.ts';
import { type Field, select, subject } from './fields.ts';
import type { Filter } from './filters.ts';
import { type Declaration, defineForm, type Fields, type Form, type FormRoute } from './form.ts';
import { link } from './links.ts';
import { type Answer, type ConsoleDeps, redirect, routeOf, type Sent, signedIn, type Visit } from './page.ts';
import { button } from './parts.ts';

/** Query parameter that selects the account. */
export const ACCOUNT = { account: z.uuid().optional() } as const;
/** An account's id, or part of its name or e-mail address. */
export const AccountSearch = z.string().trim().max(255).optional();
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

/** Returns whether the viewer may use the requested page or form for that account. */
export const isAllowedForAccount = (visit: Visit, accountId: string): boolean =>
  mayUseForAccount(signedIn(visit).viewer, accountId, routeOf(visit));

/** Renders the account of a page, with a switch to the same page of another account. */
export function renderAccountSwitch(visit: Visit, path: string, chosen: AccountMembership): Html {
  const { viewer } = signedIn(visit);
  const { members: words } = visit.texts;
  const account = renderAccount(visit, chosen);
  const options = accountOptions(viewer);
  if (options.length < 2) return account;
  const choice = select('account', options, chosen.accountId);
  return html`${account}
    <form class="filters" method="get" action="${path}">
      <label class="field"><span>${words.otherAccount}</span>${choice}</label>
      ${button(words.accountSubmit, 'quiet')}
    </form>`;
}

/** Renders the account of a page and the viewer's role in it. */
export const renderAccount = ({ texts: { members: words } }: Visit, chosen: AccountMembership): Html =>
  html`<p class="soft">
    ${words.account} <strong>${chosen.accountName}</strong> · ${words.roles[chosen.role]}
  </p>`;

/** Returns a list's filter by account: any account for operators; their own for members with several. */
export function accountFilter(visit: Visit): { filters?: readonly Filter[] } {
  const { viewer } = signedIn(visit);
  const { members: words, accounts } = visit.texts;
  if (viewer.kind === 'operator') return { filters: [{ name: 'account', label: accounts.accountSearch }] };
  const options = accountOptions(viewer);
  return options.length < 2 ? {} : { filters: [{ name: 'account', label: words.account, options }] };
}

const accountOptions = (viewer: Viewer) =>
  viewer.kind === 'operator'
    ? []
    : viewer.memberships.map(({ accountId, accountName }) => [accountId, accountName] as const);

/**
 * Returns the account id in an operator's filter. Text that is not an id redirects: to the same list for the only account that
 * matches, else to the accounts that match.
 */
export async function resolveAccountFilter(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly id: string | undefined } | Answer> {
  const { account: text } = query;
  if (text === undefined || z.uuid().safeParse(text).success) return { id: text };
  const [only, other] = await listAccountsPage(orm.em.fork(), { text }, { after: null, limit: 2 });
  if (only && !other) return redirect(link(path, { ...query, account: only.id }));
  return redirect(link('/accounts', { text }), {
    kind: 'failed',
    text: visit.texts.accounts.ambiguous(text),
  });
}

/** Defines a form about an account of the viewer, which returns to the account's page at `path`. */
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
      // Hides whether the account exists.
      if (!isAllowedForAccount(visit, account)) throw new Refusal('NOT_FOUND', 'This account is not yours.');
      return chooseAccount(visit, account);
    },
    back: ({ sent }) => accountPagePath(path, sent),
  });

/** Returns `path` for the account of a sent form. */
export const accountPagePath = (path: string, { account }: Sent): string =>
  link(path, { account: z.uuid().safeParse(account).data });
