import { createAccount } from '../../../commands/people/accounts.ts';
import type { ListedAccount } from '../../../db/people/consoleAccounts.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { filterValues } from '../../../lists/list.ts';
import { ACCOUNTS } from '../../../lists/people.ts';
import { html } from '../../../page/html.ts';
import { mayOpen } from '../../access/permissions.ts';
import { email, text, tick } from '../../fields.ts';
import { filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import { definePage, redirect, signedIn, type Visit } from '../../page.ts';

const NAME_LENGTH = 100;
const FILTERS = filterSchemas(ACCOUNTS);

/** GET /accounts: all accounts, by name. */
export const accountListPage = definePage({
  name: 'accounts',
  route: 'GET /accounts',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { accounts: words } = visit.texts;
    return showList(visit, deps, ACCOUNTS, {
      title: words.title,
      live: ['accounts'],
      search: filterValues(ACCOUNTS, query),
      path: '/accounts',
      query,
      filters: filterFields(FILTERS, { text: { label: words.text, type: 'search' } }),
      headings: headingsOf(visit),
      href: ({ id }) => `/accounts/${id}`,
      empty: words.empty,
      ...(mayOpen(signedIn(visit).viewer, newAccount.route) ? { below: newAccount.draw(visit, {}) } : {}),
    });
  },
});

function headingsOf({ texts }: Visit): Headings<ListedAccount, typeof ACCOUNTS.columns> {
  const { accounts: words } = texts;
  return {
    name: words.name,
    email: words.email,
    is_developer: [words.developer, ({ isDeveloper }) => (isDeveloper ? words.yes : words.no)],
    enterprises: figures(words.enterprises, ({ enterprises }) => figure(enterprises, texts)),
    people: figures(words.people, ({ members }) => figure(members, texts)),
    created_at: [words.created, ({ createdAt }) => timeOf(createdAt)],
    account_id: [words.id, ({ id }) => html`<code>${id}</code>`],
  };
}

export const newAccount = defineForm('POST /accounts', {
  as: 'panel',
  words: ({ accounts: words }) => formWords(words, 'create'),
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
