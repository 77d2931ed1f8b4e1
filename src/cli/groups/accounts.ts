import * as z from 'zod';
import { createAccount, setRateLimit, updateAccount } from '../../commands/people/accounts.ts';
import { createApiKey, revokeApiKey } from '../../commands/people/apiKeys.ts';
import { removeGrant, setGrant } from '../../commands/people/grants.ts';
import type { EnterpriseGrant } from '../../db/entities/enterprises.ts';
import type { Account } from '../../db/entities/people.ts';
import { requireAccount } from '../../db/people/accounts.ts';
import { listGrants } from '../../db/people/roles.ts';
import { KEY_SCOPES } from '../../domain/people/keyScope.ts';
import { GRANTED_ROLES } from '../../domain/people/roles.ts';
import { ENVIRONMENTS } from '../../domain/receipts/cfeTypes.ts';
import { Email } from '../../domain/values/email.ts';
import { textSchema } from '../../domain/values/text.ts';
import { ACCOUNTS, KEYS } from '../../lists/people.ts';
import {
  AccountIdInput,
  flagOption,
  OptionalReasonInput,
  optionalInput,
  RutInput,
  rutFilter,
  wholeNumberInput,
} from '../inputs.ts';
import { listedRow, listVerb } from '../listVerb.ts';
import { actingVerb, readVerb, verbGroup } from '../verb.ts';

const ACCOUNT_EXAMPLE = '0c0e1ab1-0000-4000-8000-000000000001';
const Name = textSchema(100).describe('name of the account holder');
const Address = Email.describe('e-mail address for notices');
/** Higher limits would have no effect. */
const MAX_PER_HOUR = 1_000_000_000;

const accountRow = ({ id, name, email, isDeveloper, createdAt }: Account) => ({
  account_id: id,
  name,
  email,
  is_developer: isDeveloper,
  created_at: createdAt.toISOString(),
});

export const accountGroup = verbGroup(
  'account',
  'Developer accounts, which hold API keys and own enterprises',
  {
    create: actingVerb({
      summary: 'Create a developer account',
      takes: { name: Name, email: Address, developer: flagOption('let the account use the sandbox') },
      examples: [
        '--name "Estudio Sur" --email sur@example.com',
        '--name Pruebas --email p@example.com --developer',
      ],
      run: async (deps, { developer = false, ...input }) =>
        accountRow(await createAccount(deps, { ...input, isDeveloper: developer })),
    }),
    list: listVerb(ACCOUNTS, {
      summary: 'List accounts by name',
      columns: 'account_id name email is_developer created_at',
      search: (_, filter) => filter,
    }),
    'show ACCOUNT': readVerb({
      summary: 'Show one account',
      takes: { account: AccountIdInput },
      examples: [ACCOUNT_EXAMPLE],
      run: async ({ orm }, { account: id }) => accountRow(await requireAccount(orm.em.fork(), id)),
    }),
    'update ACCOUNT': actingVerb({
      summary: 'Change an account’s name, its address for notices, or whether it may use the sandbox',
      takes: {
        account: AccountIdInput,
        name: optionalInput(Name, 'name of the account holder'),
        email: optionalInput(Address, 'e-mail address for notices'),
        developer: optionalInput(z.enum(['yes', 'no']), 'whether the account may use the sandbox', 'yes'),
      },
      examples: [`${ACCOUNT_EXAMPLE} --name "Estudio Norte"`, `${ACCOUNT_EXAMPLE} --developer no`],
      usageFault({ name, email, developer }) {
        const hasNoChange = [name, email, developer].every((value) => value === undefined);
        return hasNoChange ? 'give at least one change: --name, --email or --developer' : undefined;
      },
      async run(deps, { account: accountId, name, email, developer }) {
        const isDeveloper = developer === undefined ? undefined : developer === 'yes';
        return accountRow(await updateAccount(deps, { accountId, name, email, isDeveloper }));
      },
    }),
  },
);

export const keyGroup = verbGroup('key', 'API keys of accounts', {
  'create ACCOUNT': actingVerb({
    summary: 'Create an API key; it is shown only once',
    takes: {
      account: AccountIdInput,
      environment: z.enum(ENVIRONMENTS).describe('the environment of the key'),
      scope: z
        .enum(KEY_SCOPES)
        .default('full')
        .describe('read: the key cannot issue or change anything; default: full'),
      label: optionalInput(textSchema(100), 'a name to distinguish it from others'),
    },
    examples: [
      `${ACCOUNT_EXAMPLE} --environment production --label "Caja 1"`,
      `${ACCOUNT_EXAMPLE} --environment production --scope read --label "Contador"`,
    ],
    async run(deps, { account: accountId, environment, scope, label }) {
      const created = await createApiKey(
        { ...deps, apiKeys: deps.apiKeys() },
        { accountId, environment, scope, ...(label === undefined ? {} : { label }) },
      );
      const { key, text } = created;
      return { key_id: key.id, api_key: text, environment, scope, label: key.label ?? null };
    },
  }),
  'list ACCOUNT': listVerb(KEYS, {
    summary: 'List the API keys of an account, including revoked ones',
    takes: { account: AccountIdInput },
    examples: [ACCOUNT_EXAMPLE],
    async search({ orm }, { account }) {
      return { accountId: (await requireAccount(orm.em.fork(), account)).id };
    },
  }),
  'revoke KEY': actingVerb({
    summary: 'Revoke an API key and all its tokens, permanently',
    takes: { key: z.string().describe('key_id of the key'), reason: OptionalReasonInput },
    examples: [
      '4be0643f-1d98-4d3c-97cd-ca98a65347dd',
      '4be0643f-1d98-4d3c-97cd-ca98a65347dd --reason "It was in a log"',
    ],
    run: async (deps, { key: keyId, reason }) => listedRow(KEYS, await revokeApiKey(deps, { keyId, reason })),
  }),
});

const grantRow = ({ accountId, rut, role }: Omit<EnterpriseGrant, symbol>) => ({
  account_id: accountId,
  rut,
  role,
});

export const grantGroup = verbGroup('grant', 'Roles of accounts at enterprises of others', {
  'set ACCOUNT RUT': actingVerb({
    summary: 'Let an account act for an enterprise of another account',
    takes: {
      account: AccountIdInput,
      rut: RutInput,
      role: z
        .enum(GRANTED_ROLES)
        .describe(
          'MEMBER may do everything except change certificates, plan and start date; VIEWER may read',
        ),
      reason: OptionalReasonInput,
    },
    examples: [`${ACCOUNT_EXAMPLE} 219999830019 --role MEMBER`],
    run: async (deps, { account: accountId, ...input }) =>
      grantRow(await setGrant(deps, { accountId, ...input })),
  }),
  'remove ACCOUNT RUT': actingVerb({
    summary: 'Remove the role that an account was granted',
    takes: { account: AccountIdInput, rut: RutInput, reason: OptionalReasonInput },
    examples: [`${ACCOUNT_EXAMPLE} 219999830019`],
    async run(deps, { account: accountId, rut, reason }) {
      await removeGrant(deps, { accountId, rut, reason });
      return { account_id: accountId, rut, role: null };
    },
  }),
  list: readVerb({
    summary: 'List grants: all, of one account, or for one enterprise',
    takes: {
      account: optionalInput(z.string(), 'only grants of this account'),
      rut: rutFilter('only grants for this enterprise'),
    },
    examples: ['', '--rut 219999830019'],
    async run({ orm }, { account, rut }) {
      const em = orm.em.fork();
      const accountId = account === undefined ? undefined : (await requireAccount(em, account)).id;
      return (await listGrants(em, { accountId, rut })).map(grantRow);
    },
  }),
});

export const limitGroup = verbGroup('limit', 'How many requests an hour accounts may make', {
  'set ACCOUNT': actingVerb({
    summary: 'Set how many requests an hour an account may make',
    takes: {
      account: AccountIdInput,
      environment: z.enum(ENVIRONMENTS).describe('the environment of the limit'),
      perHour: wholeNumberInput(1, MAX_PER_HOUR).describe('requests an hour'),
      reason: OptionalReasonInput,
    },
    examples: [`${ACCOUNT_EXAMPLE} --environment production --per-hour 5000`],
    async run(deps, { account: accountId, ...input }) {
      const set = await setRateLimit(deps, { accountId, ...input });
      return { account_id: set.accountId, environment: set.environment, per_hour: set.perHour };
    },
  }),
});
