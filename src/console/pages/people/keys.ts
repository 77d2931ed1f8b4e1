import * as z from 'zod';
import { createApiKey, revokeApiKey } from '../../../commands/people/apiKeys.ts';
import { apiKeyPrefix } from '../../../crypto/apiKeys.ts';
import type { ApiKey } from '../../../db/entities/people.ts';
import type { AccountMembership } from '../../../db/people/people.ts';
import { KEY_SCOPES } from '../../../domain/people/keyScope.ts';
import { ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { KEYS } from '../../../lists/people.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayUseForAccount } from '../../access/permissions.ts';
import { ACCOUNT, accountForm, chooseAccount, renderAccountSwitch } from '../../accounts.ts';
import { choice, onceKey, reason, text } from '../../fields.ts';
import { LIST_QUERY } from '../../filters.ts';
import { formWords } from '../../form.ts';
import { timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { csvAnswer, type Headings, listPart } from '../../lists.ts';
import { showOnce } from '../../once.ts';
import { definePage, show, signedIn, type Visit } from '../../page.ts';
import { badge, optionsOf, panel } from '../../parts.ts';

const LABEL_LENGTH = 100;

/** GET /keys: the API keys of an account. */
export const keysPage = definePage({
  name: 'keys',
  route: 'GET /keys',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ query, visit }, deps) {
    const { keys: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const mayCreate = mayUseForAccount(signedIn(visit).viewer, account.accountId, newKey.route);
    const list = listPart(visit, deps, KEYS, {
      label: words.title,
      path: '/keys',
      query: { ...query, account: account.accountId },
      search: { accountId: account.accountId },
      filters: [{ name: 'account', label: visit.texts.members.account }],
      headings: {
        ...keyHeadings(visit),
        revoked_at: [words.state, (key) => renderState(visit, account, key)],
      },
      empty: words.none,
    });
    const csv = csvAnswer(query, [list]);
    if (csv) return csv;
    const body = html`${renderAccountSwitch(visit, '/keys', account)}${panel(null, await list.render())}
    ${mayCreate && newKey.draw(visit, {}, { values: { account: account.accountId } })}`;
    return show(words.title, body, { live: ['keys'] });
  },
});

/** Returns the headings about the keys of an account. */
export function keyHeadings({
  texts: { environments, members },
}: Visit): Headings<ApiKey, typeof KEYS.columns> {
  const { keys: words } = members;
  return {
    label: words.label,
    prefix: [words.prefix, (key) => html`<code>${apiKeyPrefix(key)}…</code>`],
    environment: [words.environment, ({ environment }) => environments[environment]],
    scope: [words.scope, ({ scope }) => words.scopes[scope]],
    created_at: [words.created, ({ createdAt }) => timeOf(createdAt)],
    last_used_at: [words.used, ({ lastUsedAt }) => (lastUsedAt ? timeOf(lastUsedAt) : words.usedNever)],
  };
}

function renderState(visit: Visit, { accountId }: AccountMembership, { id, revokedAt }: ApiKey): Html {
  const { keys: words } = visit.texts.members;
  if (revokedAt !== null) return html`${badge(words.revoked, 'calm')} ${timeOf(revokedAt)}`;
  const mayRevoke = mayUseForAccount(signedIn(visit).viewer, accountId, keyRevocation.route);
  return html`${badge(words.live, 'good')}${mayRevoke && keyRevocation.draw(visit, { id }, { values: { account: accountId } })}`;
}

/** Creates a key and shows it once. */
export const newKey = accountForm('/keys', 'POST /keys', {
  as: 'panel',
  words: ({ members: { keys: words } }) => formWords(words, 'make'),
  fields: ({ members: { keys: words }, environments }) => ({
    once: onceKey(),
    label: text(words.label, { schema: textSchema(LABEL_LENGTH) }),
    environment: choice(words.environment, optionsOf(ENVIRONMENTS, environments)),
    scope: choice(words.scope, optionsOf(KEY_SCOPES, words.scopes)),
  }),
  async run(
    { target: { accountId, accountName }, form: { once: keyId, label, environment, scope }, visit },
    deps,
  ) {
    const { keys: words } = visit.texts.members;
    const created = await createApiKey(deps, { accountId, environment, scope, label, keyId });
    const description = `${accountName} · ${label} · ${visit.texts.environments[environment]}`;
    return showOnce(visit, {
      title: words.onceTitle,
      about: words.onceAbout,
      secret: created.text,
      facts: html`<p><strong>${description}</strong></p>`,
      back: link('/keys', { account: accountId }),
    });
  },
});

export const keyRevocation = accountForm('/keys', 'POST /keys/{id}/revoke', {
  as: 'folded',
  words: ({ members: { keys: words } }) => formWords(words, 'revoke'),
  fields: ({ members: { keys: words } }) => ({ reason: reason(words.reason) }),
  command: ({ params: { id }, target: { accountId }, form }, deps) =>
    revokeApiKey(deps, { keyId: id, accountId, reason: form.reason }),
});
