import * as z from 'zod';
import { changePermission } from '../../commands/changePermission.ts';
import { resumeEnterprise } from '../../commands/resumeEnterprise.ts';
import { suspendEnterprise } from '../../commands/suspendEnterprise.ts';
import { transferEnterprise } from '../../commands/transferEnterprise.ts';
import { enterpriseObjectOf, enterpriseObjects } from '../../db/enterpriseObjects.ts';
import { findEnterprise, listEnterprises } from '../../db/enterprises.ts';
import type { Enterprise } from '../../db/entities/Enterprise.ts';
import type { EnterpriseObject } from '../../domain/enterpriseObject.ts';
import { PERMISSIONS } from '../../domain/enterpriseStatus.ts';
import { Rut } from '../../domain/rut.ts';
import { REASON_LENGTH } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { Refusal } from '../../errors.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise' };
const EXAMPLES = ['219999830019'];

/** The enterprise object as the API tells it, without the role, which is a caller's. */
async function oneOf({ orm, clock }: CliDeps, rut: string): Promise<Row> {
  const em = orm.em.fork();
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  return rowOf(await enterpriseObjectOf(em, enterprise, clock()), enterprise);
}

const rowOf = (object: EnterpriseObject, enterprise: Enterprise | undefined): Row => ({
  ...object,
  role: null,
  owner_account_id: enterprise?.ownerAccountId ?? null,
  suspension_reason: enterprise?.suspensionReason ?? null,
});

const list = defineVerb({
  name: 'list',
  summary: 'List all enterprises',
  reads: true,
  examples: ['', '--json'],
  columns: ['rut', 'legal_name', 'status', 'is_authorized_issuer', 'scheduled_ready_date', 'plan_metadata'],
  input: z.strictObject({}),
  async run({ orm, clock }) {
    const em = orm.em.fork();
    const enterprises = await listEnterprises(em);
    const objects = await enterpriseObjects(em, enterprises, clock());
    return objects.map((object, i) => rowOf(object, enterprises[i]));
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one enterprise',
  reads: true,
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ rut: Rut }),
  run: (deps, { rut }) => oneOf(deps, rut),
});

const suspend = defineVerb({
  name: 'suspend',
  summary: 'Stop an enterprise from issuing; CFEs already taken are still sent',
  args: ARGS,
  options: [
    { flags: '--reason <text>', about: 'why; kept while the enterprise is suspended', required: true },
  ],
  examples: ['219999830019 --reason "Falta de pago"'],
  input: z.strictObject({ rut: Rut, reason: text(REASON_LENGTH) }),
  async run(deps, { rut, reason }) {
    await suspendEnterprise(deps, { rut, reason });
    return oneOf(deps, rut);
  },
});

const resume = defineVerb({
  name: 'resume',
  summary: 'Let a suspended enterprise issue again',
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ rut: Rut }),
  async run(deps, { rut }) {
    await resumeEnterprise(deps, { rut });
    return oneOf(deps, rut);
  },
});

const permissions = defineVerb({
  name: 'permissions',
  summary: 'Grant a permission of the authority, or withdraw it, where its answer cannot be had by machine',
  args: ARGS,
  options: [
    { flags: '--grant <permission>', about: `the permission to grant: ${PERMISSIONS.join(' or ')}` },
    { flags: '--withdraw <permission>', about: 'the permission to withdraw' },
    {
      flags: '--reason <text>',
      about: 'why, such as the notice of the authority; kept in the audit',
      required: true,
    },
  ],
  examples: ['219999830019 --grant PROD --reason "Resolution 1234/2026 of DGI"'],
  input: z.strictObject({
    rut: Rut,
    grant: z.enum(PERMISSIONS).optional(),
    withdraw: z.enum(PERMISSIONS).optional(),
    reason: text(REASON_LENGTH),
  }),
  async run(deps, { rut, grant, withdraw, reason }) {
    const permission = grant ?? withdraw;
    if (permission === undefined || (grant !== undefined && withdraw !== undefined)) {
      throw new Refusal('INVALID_INPUT', 'Exactly one of --grant and --withdraw must be given.');
    }
    await changePermission(deps, { rut, permission, held: grant !== undefined, reason });
    return oneOf(deps, rut);
  },
});

const transfer = defineVerb({
  name: 'transfer',
  summary: 'Make another account the owner; the one before has no role there any more',
  args: { ...ARGS, ACCOUNT: 'id of the account that will own it' },
  options: [
    { flags: '--reason <text>', about: 'how the account proved that the company is theirs', required: true },
  ],
  examples: ['219999830019 0c0e1ab1-0000-4000-8000-000000000001 --reason "Poder notarial del 3/11"'],
  input: z.strictObject({ rut: Rut, account: z.string(), reason: text(REASON_LENGTH) }),
  async run(deps, { rut, account, reason }) {
    await transferEnterprise(deps, { rut, accountId: account, reason });
    return oneOf(deps, rut);
  },
});

/** `cfe enterprise`: the enterprises that issue. */
export const enterprise: Group = {
  name: 'enterprise',
  summary: 'Enterprises, which issue CFEs',
  verbs: [list, show, suspend, resume, transfer, permissions],
};
