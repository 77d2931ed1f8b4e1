import * as z from 'zod';
import { createApiKey, revokeApiKey } from '../../../commands/people/apiKeys.ts';
import { apiKeyPrefix } from '../../../crypto/apiKeys.ts';
import type { ApiKey } from '../../../db/entities/people.ts';
import { listApiKeys } from '../../../db/people/accounts.ts';
import type { AccountMembership } from '../../../db/people/people.ts';
import { KEY_SCOPES } from '../../../domain/people/keyScope.ts';
import { ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayIn } from '../../access/permissions.ts';
import { ACCOUNT, accountBar, accountForm, chooseAccount } from '../../accounts.ts';
import { choice, onceKey, reason, text } from '../../fields.ts';
import { wordsOf } from '../../form.ts';
import { timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { type Column, column, csvAnswer, inMemory, LIST_QUERY, type List, renderList } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, show, signedIn, type Visit } from '../../page.ts';
import { badge, optionsOf, panel } from '../../parts.ts';

const LABEL_LENGTH = 100;

/** GET /keys: the API keys of an account. */
export const keysPage = definePage({
  name: 'keys',
  route: 'GET /keys',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ query, visit }, { orm }) {
    const { keys: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const mayMake = mayIn(signedIn(visit).viewer, account.accountId, newKey.route);
    const list: List<ApiKey> = {
      name: 'keys',
      label: words.title,
      path: '/keys',
      query: { ...query, account: account.accountId },
      filters: [{ name: 'account', label: visit.texts.members.account }],
      columns: [
        ...keyColumns(visit),
        column('revoked_at', words.state, 'revokedAt', (key) => stateOf(visit, account, key)),
      ],
      ...inMemory(() => listApiKeys(orm.em.fork(), account.accountId), 'id'),
      empty: words.none,
    };
    if (query.format === 'csv') return csvAnswer(list);
    const body = html`${accountBar(visit, '/keys', account)}${panel(null, await renderList(visit, list))}
    ${mayMake && newKey.draw(visit, {}, { values: { account: account.accountId } })}`;
    return show(words.title, body, { live: ['keys'] });
  },
});

/** Returns the columns about the keys of an account. */
export function keyColumns({ texts: { environments, members } }: Visit): Column<ApiKey>[] {
  const { keys: words } = members;
  const prefix = (key: ApiKey): string => `${apiKeyPrefix(key)}…`;
  return [
    column('label', words.label, 'label'),
    column('prefix', words.prefix, prefix, (key) => html`<code>${prefix(key)}</code>`),
    column('environment', words.environment, 'environment', ({ environment }) => environments[environment]),
    column('scope', words.scope, 'scope', ({ scope }) => words.scopes[scope]),
    column('created_at', words.created, 'createdAt', (k) => timeOf(k.createdAt)),
    column('last_used_at', words.used, 'lastUsedAt', ({ lastUsedAt }) =>
      lastUsedAt ? timeOf(lastUsedAt) : words.usedNever,
    ),
  ];
}

function stateOf(visit: Visit, { accountId }: AccountMembership, { id, revokedAt }: ApiKey): Html {
  const { keys: words } = visit.texts.members;
  if (revokedAt !== null) return html`${badge(words.revoked, 'calm')} ${timeOf(revokedAt)}`;
  const may = mayIn(signedIn(visit).viewer, accountId, keyRevocation.route);
  return html`${badge(words.live, 'good')}${may && keyRevocation.draw(visit, { id }, { values: { account: accountId } })}`;
}

/** Creates a key and shows it once. */
export const newKey = accountForm('/keys', 'POST /keys', {
  as: 'panel',
  words: ({ members: { keys: words } }) => wordsOf(words, 'make'),
  fields: ({ members: { keys: words }, environments }) => ({
    once: onceKey(),
    label: text(words.label, { schema: textSchema(LABEL_LENGTH) }),
    environment: choice(words.environment, optionsOf(ENVIRONMENTS, environments)),
    scope: choice(words.scope, optionsOf(KEY_SCOPES, words.scopes)),
  }),
  async run(
    { found: { accountId, accountName }, form: { once: keyId, label, environment, scope }, visit },
    deps,
  ) {
    const { keys: words } = visit.texts.members;
    const made = await createApiKey(deps, { accountId, environment, scope, label, keyId });
    const where = `${accountName} · ${label} · ${visit.texts.environments[environment]}`;
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout,
      secret: made.text,
      facts: html`<p><strong>${where}</strong></p>`,
      back: link('/keys', { account: accountId }),
    });
  },
});

export const keyRevocation = accountForm('/keys', 'POST /keys/{id}/revoke', {
  as: 'folded',
  words: ({ members: { keys: words } }) => wordsOf(words, 'revoke'),
  fields: ({ members: { keys: words } }) => ({ reason: reason(words.reason) }),
  command: ({ params: { id }, found: { accountId }, form }, deps) =>
    revokeApiKey(deps, { keyId: id, accountId, reason: form.reason }),
});
