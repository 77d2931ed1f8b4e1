import * as z from 'zod';
import { createApiKey } from '../../commands/createApiKey.ts';
import { revokeApiKey } from '../../commands/revokeApiKey.ts';
import { apiKeyPrefix } from '../../crypto/apiKeys.ts';
import { listApiKeys, requireAccount } from '../../db/accounts.ts';
import type { ApiKey } from '../../db/entities/ApiKey.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { REASON_LENGTH } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { defineVerb, type Group } from '../verb.ts';

const LABEL_LENGTH = 100;
const row = (key: ApiKey) => ({
  key_id: key.id,
  prefix: apiKeyPrefix(key),
  environment: key.environment,
  label: key.label ?? null,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

const create = defineVerb({
  name: 'create',
  summary: 'Create an API key; it is shown only once',
  args: { ACCOUNT: 'id of the account' },
  options: [
    {
      flags: '--environment <environment>',
      about: 'the environment that it opens',
      required: true,
      choices: ENVIRONMENTS,
    },
    { flags: '--label <label>', about: 'a name to tell it from others' },
  ],
  examples: ['0c0e1ab1-0000-4000-8000-000000000001 --environment production --label "Caja 1"'],
  input: z.strictObject({
    account: z.string(),
    environment: z.enum(ENVIRONMENTS),
    label: text(LABEL_LENGTH).optional(),
  }),
  async run(deps, { account: accountId, environment, label }) {
    const made = await createApiKey(
      { ...deps, apiKeys: deps.apiKeys() },
      { accountId, environment, ...(label === undefined ? {} : { label }) },
    );
    return { key_id: made.key.id, api_key: made.text, environment, label: made.key.label ?? null };
  },
});

const list = defineVerb({
  name: 'list',
  summary: 'List the API keys of an account, including revoked ones',
  reads: true,
  args: { ACCOUNT: 'id of the account' },
  examples: ['0c0e1ab1-0000-4000-8000-000000000001'],
  input: z.strictObject({ account: z.string() }),
  async run({ orm }, { account }) {
    const em = orm.em.fork();
    const { id } = await requireAccount(em, account);
    return (await listApiKeys(em, id)).map(row);
  },
});

const revoke = defineVerb({
  name: 'revoke',
  summary: 'Revoke an API key and all its tokens, for good',
  args: { KEY: 'key_id of the key' },
  options: [{ flags: '--reason <text>', about: 'why, for the audit' }],
  examples: [
    '4be0643f-1d98-4d3c-97cd-ca98a65347dd',
    '4be0643f-1d98-4d3c-97cd-ca98a65347dd --reason "It was in a log"',
  ],
  input: z.strictObject({ key: z.string(), reason: text(REASON_LENGTH).optional() }),
  async run(deps, { key: keyId, reason }) {
    return row(await revokeApiKey(deps, { keyId, reason }));
  },
});

/** `cfe key`: the API keys of accounts. */
export const key: Group = {
  name: 'key',
  summary: 'API keys of accounts',
  verbs: [create, list, revoke],
};
