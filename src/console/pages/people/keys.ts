import * as z from 'zod';
import { createApiKey, revokeApiKey } from '../../../commands/people/apiKeys.ts';
import { apiKeyPrefix } from '../../../crypto/apiKeys.ts';
import type { ApiKey } from '../../../db/entities/people.ts';
import { listApiKeys } from '../../../db/people/accounts.ts';
import type { AccountMembership } from '../../../db/people/people.ts';
import { REASON_LENGTH } from '../../../domain/operations/supportAction.ts';
import { ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../page/html.ts';
import { mayIn } from '../../access/permissions.ts';
import { ACCOUNT, accountBar, accountField, accountOfForm, backTo, chooseAccount } from '../../accounts.ts';
import { moment } from '../../format.ts';
import { link } from '../../links.ts';
import { type Column, column, csvAnswer, LIST_QUERY, type List, renderList } from '../../lists.ts';
import { ONCE, onceField, showOnce } from '../../once.ts';
import { definePage, go, show, signedIn, type Visit, withActor } from '../../page.ts';
import { button, field, form, mark, panel } from '../../parts.ts';

const LABEL_LENGTH = 100;

/** GET /keys: the API keys of an account. */
export const keysPage = definePage({
  name: 'keys',
  route: 'GET /keys',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ query, visit }, { orm }) {
    const { keys: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const mayMake = mayIn(signedIn(visit).viewer, account.accountId, 'POST /keys');
    const list: List<ApiKey> = {
      name: 'keys',
      label: words.title,
      path: '/keys',
      query: { ...query, account: account.accountId },
      filters: [{ name: 'account', label: visit.texts.members.account }],
      columns: columnsOf(visit, account),
      // An account has few (CFE_MOST_API_KEYS valid ones), which fit on one page.
      read: async ({ after }) => (after ? [] : listApiKeys(orm.em.fork(), account.accountId)),
      key: { parts: ['uuid'], of: ({ id }) => [id] },
      empty: words.none,
    };
    if (query.format === 'csv') return csvAnswer(list);
    const body = html`${accountBar(visit, '/keys', account)}${panel(null, await renderList(visit, list))}
${mayMake && panel(words.make, makeForm(visit, account))}`;
    return show(words.title, body, { live: ['keys'] });
  },
});

function columnsOf(visit: Visit, account: AccountMembership): Column<ApiKey>[] {
  const { environments } = visit.texts;
  const { keys: words } = visit.texts.members;
  const prefix = (key: ApiKey): string => `${apiKeyPrefix(key)}…`;
  return [
    column('label', words.label, 'label'),
    column('prefix', words.prefix, prefix, (key) => html`<code>${prefix(key)}</code>`),
    column('environment', words.environment, 'environment', ({ environment }) => environments[environment]),
    column('created_at', words.created, 'createdAt', (k) => moment(k.createdAt)),
    column('last_used_at', words.used, 'lastUsedAt', ({ lastUsedAt }) =>
      lastUsedAt ? moment(lastUsedAt) : words.usedNever,
    ),
    column('revoked_at', words.state, 'revokedAt', (key) => stateOf(visit, account, key)),
  ];
}

function stateOf(visit: Visit, account: AccountMembership, { id, revokedAt }: ApiKey): Html {
  const { keys: words } = visit.texts.members;
  if (revokedAt !== null) return html`${mark(words.revoked, 'calm')} ${moment(revokedAt)}`;
  if (!mayIn(signedIn(visit).viewer, account.accountId, 'POST /keys/{id}/revoke'))
    return mark(words.live, 'good');
  const revoke = form(visit, `/keys/${id}/revoke`, [
    html`<p>${words.revokeAbout}</p>`,
    accountField(account),
    field(words.reason, { name: 'reason', maxlength: REASON_LENGTH }),
    button(words.revoke),
  ]);
  return html`${mark(words.live, 'good')}<details id="revoke-${id}"><summary>${words.revoke}</summary>${revoke}</details>`;
}

function makeForm(visit: Visit, account: AccountMembership): Html {
  const { keys: words } = visit.texts.members;
  const choices = ENVIRONMENTS.map(
    (one) => html`<option value="${one}">${visit.texts.environments[one]}</option>`,
  );
  return form(
    visit,
    '/keys',
    html`<p>${words.makeAbout}</p>${accountField(account)}${onceField()}
${field(words.label, { name: 'label', maxlength: LABEL_LENGTH })}
<label class="field"><span>${words.environment}</span><select name="environment">${choices}</select></label>
${button(words.makeGo)}`,
  );
}

/** POST /keys: creates a key and shows it once. */
export const sendKey = definePage({
  name: 'key-make',
  route: 'POST /keys',
  form: z.object({
    account: z.uuid(),
    ...ONCE,
    label: z.string().trim().pipe(textSchema(LABEL_LENGTH)),
    environment: z.enum(ENVIRONMENTS),
  }),
  back: backTo('/keys'),
  async handle({ form: { account, once: keyId, label, environment }, visit }, deps) {
    const { keys: words } = visit.texts.members;
    const { accountId, accountName } = accountOfForm(visit, account);
    const made = await createApiKey(withActor(deps, visit), { accountId, environment, label, keyId });
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

/** POST /keys/{id}/revoke. */
export const sendRevokeKey = definePage({
  name: 'key-revoke',
  route: 'POST /keys/{id}/revoke',
  params: z.object({ id: z.uuid() }),
  form: z.object({ account: z.uuid(), reason: z.string().trim().pipe(textSchema(REASON_LENGTH)) }),
  back: backTo('/keys'),
  async handle({ params, form: { account, reason }, visit }, deps) {
    const { accountId } = accountOfForm(visit, account);
    await revokeApiKey(withActor(deps, visit), { keyId: params.id, accountId, reason });
    const text = visit.texts.members.keys.revokeDone;
    return go(link('/keys', { account: accountId }), { kind: 'done', text });
  },
});
