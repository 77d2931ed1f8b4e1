import * as z from 'zod';
import { removeGrant } from '../../commands/removeGrant.ts';
import { setGrant } from '../../commands/setGrant.ts';
import { requireAccount } from '../../db/accounts.ts';
import type { EnterpriseGrant } from '../../db/entities/EnterpriseGrant.ts';
import { listGrants } from '../../db/grants.ts';
import { GRANTED_ROLES } from '../../domain/grantedRole.ts';
import { Rut } from '../../domain/rut.ts';
import { REASON, Why } from '../reason.ts';
import { defineVerb, type Group } from '../verb.ts';

const ARGS = { ACCOUNT: 'id of the account', RUT: 'RUT of the enterprise' };
const row = ({ accountId, rut, role }: Omit<EnterpriseGrant, symbol>) => ({
  account_id: accountId,
  rut,
  role,
});

const set = defineVerb({
  name: 'set',
  summary: 'Let an account act for an enterprise of another account',
  args: ARGS,
  options: [
    {
      flags: '--role <role>',
      about: 'MEMBER may do everything but change certificates, plan and start date; VIEWER may read',
      required: true,
      choices: GRANTED_ROLES,
    },
    REASON,
  ],
  examples: ['0c0e1ab1-0000-4000-8000-000000000001 219999830019 --role MEMBER'],
  input: z.strictObject({ account: z.string(), rut: Rut, role: z.enum(GRANTED_ROLES), ...Why }),
  async run(deps, { account: accountId, rut, role, reason }) {
    return row(await setGrant(deps, { accountId, rut, role, reason }));
  },
});

const remove = defineVerb({
  name: 'remove',
  summary: 'Remove what an account was granted',
  args: ARGS,
  options: [REASON],
  examples: ['0c0e1ab1-0000-4000-8000-000000000001 219999830019'],
  input: z.strictObject({ account: z.string(), rut: Rut, ...Why }),
  async run(deps, { account, rut, reason }) {
    await removeGrant(deps, { accountId: account, rut, reason });
    return { account_id: account, rut, role: null };
  },
});

const list = defineVerb({
  name: 'list',
  summary: 'List grants: all, of one account, or for one enterprise',
  reads: true,
  options: [
    { flags: '--account <account>', about: 'only grants of this account' },
    { flags: '--rut <rut>', about: 'only grants for this enterprise' },
  ],
  examples: ['', '--rut 219999830019'],
  input: z.strictObject({ account: z.string().optional(), rut: Rut.optional() }),
  async run({ orm }, { account, rut }) {
    const em = orm.em.fork();
    const accountId = account === undefined ? undefined : (await requireAccount(em, account)).id;
    return (await listGrants(em, { accountId, rut })).map(row);
  },
});

/** `cfe grant`: what accounts may do for enterprises of others. */
export const grant: Group = {
  name: 'grant',
  summary: 'What accounts may do for enterprises of others',
  verbs: [set, remove, list],
};
