import * as z from 'zod';
import { createAccount, setRateLimit, updateAccount } from '../../commands/accounts.ts';
import { createApiKey, revokeApiKey } from '../../commands/apiKeys.ts';
import { removeGrant, setGrant } from '../../commands/grants.ts';
import { apiKeyPrefix } from '../../crypto/apiKeys.ts';
import { listApiKeys, requireAccount } from '../../db/accounts.ts';
import type { EnterpriseGrant } from '../../db/entities/enterprises.ts';
import { Account, type ApiKey } from '../../db/entities/people.ts';
import { listGrants } from '../../db/roles.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { Email } from '../../domain/email.ts';
import { GRANTED_ROLES } from '../../domain/roles.ts';
import { textSchema } from '../../domain/text.ts';
import { AccountId, count, flag, OfRut, OptionalReason, onlyRut, optional } from '../inputs.ts';
import { act, group, query } from '../verb.ts';

const EXAMPLE = '0c0e1ab1-0000-4000-8000-000000000001';
const Name = textSchema(100).describe('whose account it is');
const Address = Email.describe('e-mail address for notices');
/** The table could hold more, but beyond this a limit limits nothing. */
const MOST_PER_HOUR = 1_000_000_000;

const accountRow = ({ id, name, email, isDeveloper, createdAt }: Account) => ({
  account_id: id,
  name,
  email,
  is_developer: isDeveloper,
  created_at: createdAt.toISOString(),
});

export const account = group('account', 'Developer accounts, which hold API keys and own enterprises', {
  create: act({
    summary: 'Create a developer account',
    takes: { name: Name, email: Address, developer: flag('let the account use the sandbox') },
    examples: [
      '--name "Estudio Sur" --email sur@example.com',
      '--name Pruebas --email p@example.com --developer',
    ],
    run: async (deps, { developer = false, ...input }) =>
      accountRow(await createAccount(deps, { ...input, isDeveloper: developer })),
  }),
  list: query({
    summary: 'List all accounts',
    run: async ({ orm }) =>
      (await orm.em.fork().find(Account, {}, { orderBy: { createdAt: 'asc', id: 'asc' } })).map(accountRow),
  }),
  'show ACCOUNT': query({
    summary: 'Show one account',
    takes: { account: AccountId },
    examples: [EXAMPLE],
    run: async ({ orm }, { account: id }) => accountRow(await requireAccount(orm.em.fork(), id)),
  }),
  'update ACCOUNT': act({
    summary: 'Change an account’s name, its address for notices, or whether it may use the sandbox',
    takes: {
      account: AccountId,
      name: optional(Name, 'whose account it is'),
      email: optional(Address, 'e-mail address for notices'),
      developer: optional(z.enum(['yes', 'no']), 'whether the account may use the sandbox', 'yes'),
    },
    examples: [`${EXAMPLE} --name "Estudio Norte"`, `${EXAMPLE} --developer no`],
    usageFault({ name, email, developer }) {
      const nothing = [name, email, developer].every((given) => given === undefined);
      return nothing ? 'give what to change: --name, --email or --developer' : undefined;
    },
    async run(deps, { account: accountId, name, email, developer }) {
      const isDeveloper = developer === undefined ? undefined : developer === 'yes';
      return accountRow(await updateAccount(deps, { accountId, name, email, isDeveloper }));
    },
  }),
});

const keyRow = (key: ApiKey) => ({
  key_id: key.id,
  prefix: apiKeyPrefix(key),
  environment: key.environment,
  label: key.label ?? null,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

export const key = group('key', 'API keys of accounts', {
  'create ACCOUNT': act({
    summary: 'Create an API key; it is shown only once',
    takes: {
      account: AccountId,
      environment: z.enum(ENVIRONMENTS).describe('the environment that it opens'),
      label: optional(textSchema(100), 'a name to tell it from others'),
    },
    examples: [`${EXAMPLE} --environment production --label "Caja 1"`],
    async run(deps, { account: accountId, environment, label }) {
      const made = await createApiKey(
        { ...deps, apiKeys: deps.apiKeys() },
        { accountId, environment, ...(label === undefined ? {} : { label }) },
      );
      return { key_id: made.key.id, api_key: made.text, environment, label: made.key.label ?? null };
    },
  }),
  'list ACCOUNT': query({
    summary: 'List the API keys of an account, including revoked ones',
    takes: { account: AccountId },
    examples: [EXAMPLE],
    async run({ orm }, { account: accountId }) {
      const em = orm.em.fork();
      return (await listApiKeys(em, (await requireAccount(em, accountId)).id)).map(keyRow);
    },
  }),
  'revoke KEY': act({
    summary: 'Revoke an API key and all its tokens, for good',
    takes: { key: z.string().describe('key_id of the key'), reason: OptionalReason },
    examples: [
      '4be0643f-1d98-4d3c-97cd-ca98a65347dd',
      '4be0643f-1d98-4d3c-97cd-ca98a65347dd --reason "It was in a log"',
    ],
    run: async (deps, { key: keyId, reason }) => keyRow(await revokeApiKey(deps, { keyId, reason })),
  }),
});

const grantRow = ({ accountId, rut, role }: Omit<EnterpriseGrant, symbol>) => ({
  account_id: accountId,
  rut,
  role,
});

export const grant = group('grant', 'What accounts may do for enterprises of others', {
  'set ACCOUNT RUT': act({
    summary: 'Let an account act for an enterprise of another account',
    takes: {
      account: AccountId,
      rut: OfRut,
      role: z
        .enum(GRANTED_ROLES)
        .describe('MEMBER may do everything but change certificates, plan and start date; VIEWER may read'),
      reason: OptionalReason,
    },
    examples: [`${EXAMPLE} 219999830019 --role MEMBER`],
    run: async (deps, { account: accountId, ...input }) =>
      grantRow(await setGrant(deps, { accountId, ...input })),
  }),
  'remove ACCOUNT RUT': act({
    summary: 'Remove what an account was granted',
    takes: { account: AccountId, rut: OfRut, reason: OptionalReason },
    examples: [`${EXAMPLE} 219999830019`],
    async run(deps, { account: accountId, rut, reason }) {
      await removeGrant(deps, { accountId, rut, reason });
      return { account_id: accountId, rut, role: null };
    },
  }),
  list: query({
    summary: 'List grants: all, of one account, or for one enterprise',
    takes: {
      account: optional(z.string(), 'only grants of this account'),
      rut: onlyRut('only grants for this enterprise'),
    },
    examples: ['', '--rut 219999830019'],
    async run({ orm }, { account: of, rut }) {
      const em = orm.em.fork();
      const accountId = of === undefined ? undefined : (await requireAccount(em, of)).id;
      return (await listGrants(em, { accountId, rut })).map(grantRow);
    },
  }),
});

export const limit = group('limit', 'How many requests an hour accounts may make', {
  'set ACCOUNT': act({
    summary: 'Set how many requests an hour an account may make',
    takes: {
      account: AccountId,
      environment: z.enum(ENVIRONMENTS).describe('the environment of the limit'),
      perHour: count(1, MOST_PER_HOUR).describe('requests an hour'),
      reason: OptionalReason,
    },
    examples: [`${EXAMPLE} --environment production --per-hour 5000`],
    async run(deps, { account: accountId, ...input }) {
      const set = await setRateLimit(deps, { accountId, ...input });
      return { account_id: set.accountId, environment: set.environment, per_hour: set.perHour };
    },
  }),
});
