import * as z from 'zod';
import { cfeHistory } from '../../db/cfeHistory.ts';
import { findCfe, listCfesForOperators } from '../../db/cfes.ts';
import type { Cfe } from '../../db/entities/Cfe.ts';
import { parseCfeId } from '../../domain/cfeId.ts';
import { CFE_STATUSES } from '../../domain/cfeStatus.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { cfeWorkflowId } from '../../temporal.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise', CFE_ID: 'its cfe_id, such as 101-1' };
const EXAMPLES = ['219999830019 101-1', '219999830019 101-1 --environment sandbox'];
const ENVIRONMENT = {
  flags: '--environment <environment>',
  about: 'production unless told',
  choices: ENVIRONMENTS,
} as const;
const ONE = z.strictObject({ rut: Rut, cfe_id: z.string(), environment: z.enum(ENVIRONMENTS).optional() });
const MOST = 1_000;
const USUAL = 50;

async function rowOf({ orm, cfeObject }: CliDeps, cfe: Cfe): Promise<Row> {
  return {
    ...cfeObject(cfe),
    environment: cfe.environment,
    needs_support: (cfe.stuckReason ?? null) !== null,
    stuck_reason: cfe.stuckReason ?? null,
    workflow_id: cfeWorkflowId(cfe.id),
    history: await cfeHistory(orm.em.fork(), cfe),
  };
}

async function known({ orm }: CliDeps, { rut, cfe_id, environment = 'production' }: z.output<typeof ONE>) {
  const parts = parseCfeId(cfe_id);
  const em = orm.em.fork();
  const cfe = parts ? await findCfe(em, { rut, environment, ...parts }) : null;
  if (!cfe) throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no CFE ${cfe_id} in ${environment}.`);
  return { em, cfe };
}

const list = defineVerb({
  name: 'list',
  summary: 'CFEs of an enterprise, newest first',
  options: [
    { flags: '--rut <rut>', about: 'RUT of the enterprise', required: true },
    ENVIRONMENT,
    { flags: '--status <status>', about: 'where they stand', choices: CFE_STATUSES },
    { flags: '--needs-support', about: 'only those that wait for a person' },
    { flags: '--stuck-reason <reason>', about: 'only those that wait for a person for this reason' },
    { flags: '--annulled', about: 'only those whose number is to be annulled at the authority' },
    { flags: '--limit <n>', about: `how many at most; ${USUAL} unless told`, wholeNumber: [1, MOST] },
  ],
  examples: ['--rut 219999830019', '--rut 219999830019 --needs-support --json'],
  columns: ['cfe_id', 'cfe_type', 'serie', 'numero', 'cfe_status', 'pay_amount', 'currency', 'stuck_reason'],
  input: z.strictObject({
    rut: Rut,
    environment: z.enum(ENVIRONMENTS).optional(),
    status: z.enum(CFE_STATUSES).optional(),
    needsSupport: z.literal(true).optional(),
    stuckReason: z.string().optional(),
    annulled: z.literal(true).optional(),
    limit: z.int().optional(),
  }),
  async run(deps, { environment = 'production', limit = USUAL, ...filter }) {
    const em = deps.orm.em.fork();
    const cfes = await listCfesForOperators(em, { ...filter, environment }, limit);
    return Promise.all(cfes.map((cfe) => rowOf(deps, cfe)));
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'One CFE, and what happened to it',
  args: ARGS,
  options: [ENVIRONMENT],
  examples: EXAMPLES,
  input: ONE,
  async run(deps, input) {
    return rowOf(deps, (await known(deps, input)).cfe);
  },
});

const xml = defineVerb({
  name: 'xml',
  summary: 'The signed XML of a CFE, byte for byte as it is sent',
  args: ARGS,
  options: [ENVIRONMENT],
  examples: EXAMPLES,
  input: ONE,
  async run(deps, input) {
    const { em, cfe } = await known(deps, input);
    await em.populate(cfe, ['signedXml']);
    const text = cfe.signedXml ?? null;
    if (text === null) throw new Refusal('NOT_FOUND', `The CFE ${input.cfe_id} is not signed yet.`);
    return { xml: text };
  },
  plain: 'xml',
});

/** `cfe cfe`: the CFEs of enterprises, for those who look after them. */
export const cfe: Group = {
  name: 'cfe',
  summary: 'CFEs of enterprises, and where they stand',
  verbs: [list, show, xml],
};
