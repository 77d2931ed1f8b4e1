import * as z from 'zod';
import { createAccount } from '../../commands/createAccount.ts';
import { updateAccount } from '../../commands/updateAccount.ts';
import { listAccounts, requireAccount } from '../../db/accounts.ts';
import type { Account } from '../../db/entities/Account.ts';
import { Email } from '../../domain/email.ts';
import { text } from '../../domain/text.ts';
import { defineVerb, type Group } from '../verb.ts';

const NAME_LENGTH = 100;
const row = ({ id, name, email, isDeveloper, createdAt }: Account) => ({
  account_id: id,
  name,
  email,
  is_developer: isDeveloper,
  created_at: createdAt.toISOString(),
});

const create = defineVerb({
  name: 'create',
  summary: 'Create a developer account',
  options: [
    { flags: '--name <name>', about: 'whose account it is', required: true },
    { flags: '--email <email>', about: 'e-mail address for notices', required: true },
    { flags: '--developer', about: 'let the account use the sandbox' },
  ],
  examples: [
    '--name "Estudio Sur" --email sur@example.com',
    '--name Pruebas --email p@example.com --developer',
  ],
  input: z.strictObject({ name: text(NAME_LENGTH), email: Email, developer: z.boolean().optional() }),
  async run(deps, { name, email, developer = false }) {
    return row(await createAccount(deps, { name, email, isDeveloper: developer }));
  },
});

const list = defineVerb({
  name: 'list',
  summary: 'List all accounts',
  reads: true,
  examples: ['', '--json'],
  input: z.strictObject({}),
  async run({ orm }) {
    return (await listAccounts(orm.em.fork())).map(row);
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one account',
  reads: true,
  args: { ACCOUNT: 'id of the account' },
  examples: ['0c0e1ab1-0000-4000-8000-000000000001'],
  input: z.strictObject({ account: z.string() }),
  async run({ orm }, { account }) {
    return row(await requireAccount(orm.em.fork(), account));
  },
});

const update = defineVerb({
  name: 'update',
  summary: 'Change an account’s name, its address for notices, or whether it may use the sandbox',
  args: { ACCOUNT: 'id of the account' },
  options: [
    { flags: '--name <name>', about: 'whose account it is' },
    { flags: '--email <email>', about: 'e-mail address for notices' },
    { flags: '--developer <yes>', about: 'whether the account may use the sandbox', choices: ['yes', 'no'] },
  ],
  examples: [
    '0c0e1ab1-0000-4000-8000-000000000001 --name "Estudio Norte"',
    '0c0e1ab1-0000-4000-8000-000000000001 --developer no',
  ],
  input: z.strictObject({
    account: z.string(),
    name: text(NAME_LENGTH).optional(),
    email: Email.optional(),
    developer: z.enum(['yes', 'no']).optional(),
  }),
  usageFault({ name, email, developer }) {
    const nothing = [name, email, developer].every((given) => given === undefined);
    return nothing ? 'give what to change: --name, --email or --developer' : undefined;
  },
  async run(deps, { account: accountId, name, email, developer }) {
    const isDeveloper = developer === undefined ? undefined : developer === 'yes';
    return row(await updateAccount(deps, { accountId, name, email, isDeveloper }));
  },
});

/** `cfe account`: developer accounts, which hold API keys and own enterprises. */
export const account: Group = {
  name: 'account',
  summary: 'Developer accounts, which hold API keys and own enterprises',
  verbs: [create, list, show, update],
};
