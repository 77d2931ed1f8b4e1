import * as z from 'zod';
import { createAccount } from '../../../commands/people/accounts.ts';
import { listOrder } from '../../../db/page.ts';
import { type ListedAccount, listAccountsPage } from '../../../db/people/consoleAccounts.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { html } from '../../../page/html.ts';
import { mayOpen } from '../../access/permissions.ts';
import { email, text, tick } from '../../fields.ts';
import { defineForm, wordsOf } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { type Column, column, figureColumn, filterFields, listQuery, showList } from '../../lists.ts';
import { definePage, redirect, signedIn, type Visit } from '../../page.ts';

const NAME_LENGTH = 100;
const FILTERS = { text: z.string().max(254) } as const;

/** GET /accounts: all accounts, by name. */
export const accountListPage = definePage({
  name: 'accounts',
  route: 'GET /accounts',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { accounts: words } = visit.texts;
    return showList<ListedAccount>(visit, deps, {
      title: words.title,
      live: ['accounts'],
      name: 'accounts',
      path: '/accounts',
      query,
      filters: filterFields(FILTERS, { text: { label: words.text, type: 'search' } }),
      columns: columnsOf(visit),
      read: (page) => listAccountsPage(deps.orm.em.fork(), { text: query.text }, page),
      key: listOrder({ name: 'text', id: 'uuid' }),
      href: ({ id }) => `/accounts/${id}`,
      empty: words.empty,
      ...(mayOpen(signedIn(visit).viewer, newAccount.route) ? { below: newAccount.draw(visit, {}) } : {}),
    });
  },
});

function columnsOf({ texts }: Visit): Column<ListedAccount>[] {
  const { accounts: words } = texts;
  return [
    column('name', words.name, 'name'),
    column('email', words.email, 'email'),
    column('is_developer', words.developer, 'isDeveloper', ({ isDeveloper }) =>
      isDeveloper ? words.yes : words.no,
    ),
    figureColumn('enterprises', words.enterprises, 'enterprises', ({ enterprises }) =>
      figure(enterprises, texts),
    ),
    figureColumn('people', words.people, 'members', ({ members }) => figure(members, texts)),
    column('created_at', words.created, 'createdAt', ({ createdAt }) => timeOf(createdAt)),
    column('account_id', words.id, 'id', ({ id }) => html`<code>${id}</code>`),
  ];
}

export const newAccount = defineForm('POST /accounts', {
  as: 'panel',
  words: ({ accounts: words }) => wordsOf(words, 'create'),
  fields: ({ accounts: words }) => ({
    name: text(words.name, { schema: textSchema(NAME_LENGTH) }),
    email: email(words.email),
    developer: tick(words.developerAbout),
  }),
  back: () => '/accounts',
  async run({ form: { name, email, developer }, visit }, deps) {
    const { id } = await createAccount(deps, { name, email, isDeveloper: developer });
    return redirect(`/accounts/${id}`, { kind: 'done', text: visit.texts.accounts.createdDone(name) });
  },
});
