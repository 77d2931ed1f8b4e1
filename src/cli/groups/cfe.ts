import * as z from 'zod';
import { startRun } from '../../commands/startRun.ts';
import { type Supported, supportCfe, supportCfes } from '../../commands/supportCfe.ts';
import { cfeDossier } from '../../db/cfeDossier.ts';
import { cfeHistory } from '../../db/cfeHistory.ts';
import { searchCfes } from '../../db/cfeSearch.ts';
import { cfesById, stuckCfes } from '../../db/cfes.ts';
import type { Cfe } from '../../db/entities/Cfe.ts';
import { countMatching } from '../../db/matching.ts';
import { CFE_STATUSES, isFinal } from '../../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES, ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { date, Moment, spanOf } from '../../domain/dates.ts';
import { LENGTHS } from '../../domain/lengths.ts';
import { Rut } from '../../domain/rut.ts';
import { LAST_NUMBER, LONGEST_SOUGHT, Serie } from '../../domain/soughtCfe.ts';
import { STUCK_REASONS } from '../../domain/stuckReason.ts';
import { REASON_LENGTH, SUPPORT_ACTIONS } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { Refusal } from '../../errors.ts';
import { cfeText, dossierRow } from '../cfePage.ts';
import { oneCfe } from '../oneCfe.ts';
import { endedItems } from '../runs.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise', CFE_ID: 'its cfe_id, such as 101-1' };
const EXAMPLES = ['219999830019 101-1', '219999830019 101-1 --environment sandbox'];
const ENVIRONMENT = {
  flags: '--environment <environment>',
  about: 'default: production',
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
    workflow_id: cfe.workflowId,
    history: await cfeHistory(orm.em.fork(), cfe),
  };
}

async function known({ orm }: CliDeps, { environment = 'production', ...named }: z.output<typeof ONE>) {
  const em = orm.em.fork();
  return { em, cfe: await oneCfe(em, { ...named, environment }) };
}

/** What names single CFEs, or asks for those that `cfe retry` acts on: of whichever environment. */
const OF_BOTH = ['numero', 'receiver', 'idempotencyKey', 'requestId', 'needsSupport', 'stuckReason'] as const;

const list = defineVerb({
  name: 'list',
  summary: 'List CFEs, newest first: of one enterprise or of all',
  reads: true,
  options: [
    { flags: '--rut <rut>', about: 'only CFEs of this enterprise' },
    {
      flags: '--environment <environment>',
      about:
        'default: production; both where a number, receiver, key or request is given, or what waits for a person is asked for',
      choices: ENVIRONMENTS,
    },
    { flags: '--type <type>', about: 'only CFEs of this type', choices: CFE_TYPE_NAMES },
    { flags: '--status <status>', about: 'only CFEs with this status', choices: CFE_STATUSES },
    { flags: '--needs-support', about: 'only CFEs that wait for a person' },
    {
      flags: '--stuck-reason <reason>',
      about: 'only CFEs that are stuck for this reason',
      choices: STUCK_REASONS,
    },
    { flags: '--annulled', about: 'only CFEs whose number is annulled' },
    { flags: '--serie <serie>', about: 'only CFEs of this serie' },
    { flags: '--numero <n>', about: 'only CFEs with this number', wholeNumber: [1, LAST_NUMBER] },
    { flags: '--receiver <document>', about: 'only CFEs to the receiver with this document' },
    { flags: '--idempotency-key <key>', about: 'only CFEs that were issued with this Idempotency-Key' },
    { flags: '--request-id <id>', about: 'only CFEs that this request (X-Request-Id) issued' },
    { flags: '--from <date>', about: 'only CFEs emitted on this day or later' },
    { flags: '--to <date>', about: 'only CFEs emitted on this day or earlier' },
    {
      flags: '--created-from <moment>',
      about: 'only CFEs taken at this day in Montevideo, or moment, or later',
    },
    {
      flags: '--created-to <moment>',
      about: 'only CFEs taken at this day in Montevideo, or moment, or earlier',
    },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: [
    '--rut 219999830019 --needs-support --json',
    '--serie A --numero 123',
    '--receiver 219999830019 --from 2026-03-01',
    '--request-id 0f5c3c1e-7c55-4b5e-9d0a-000000000001',
  ],
  columns: [
    'rut',
    'environment',
    'cfe_id',
    'cfe_type',
    'serie',
    'numero',
    'cfe_status',
    'pay_amount',
    'currency',
    'stuck_reason',
    'created_at',
  ],
  input: z.strictObject({
    rut: Rut.optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    type: z.enum(CFE_TYPE_NAMES).optional(),
    status: z.enum(CFE_STATUSES).optional(),
    needsSupport: z.literal(true).optional(),
    stuckReason: z.enum(STUCK_REASONS).optional(),
    annulled: z.literal(true).optional(),
    serie: Serie.optional(),
    numero: z.int().optional(),
    receiver: text(LENGTHS.foreignDocument).optional(),
    idempotencyKey: text(LONGEST_SOUGHT).optional(),
    requestId: text(LONGEST_SOUGHT).optional(),
    from: date().optional(),
    to: date().optional(),
    createdFrom: Moment.optional(),
    createdTo: Moment.optional(),
    limit: z.int().optional(),
  }),
  async run(deps, { limit = USUAL, createdFrom, createdTo, ...filter }) {
    // Who has a name of a CFE need not know where it was issued; who looks for work overlooks none.
    const isOfBoth = OF_BOTH.some((name) => filter[name] !== undefined);
    const { cfes } = await searchCfes(
      deps.orm.em.fork(),
      null,
      {
        ...filter,
        environment: filter.environment ?? (isOfBoth ? undefined : 'production'),
        createdFrom: createdFrom === undefined ? undefined : spanOf(createdFrom).from,
        createdBefore: createdTo === undefined ? undefined : spanOf(createdTo).before,
      },
      { limit },
    );
    return Promise.all(cfes.map(async (cfe) => ({ rut: cfe.rut, ...(await rowOf(deps, cfe)) })));
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one CFE: where it stands, what comes next, what can be done, and what happened to it',
  reads: true,
  args: ARGS,
  options: [ENVIRONMENT],
  examples: EXAMPLES,
  input: ONE,
  async run(deps, input) {
    const { em, cfe } = await known(deps, input);
    const dossier = await cfeDossier(em, cfe);
    return { ...(await rowOf(deps, cfe)), ...dossierRow(cfe, dossier), page: cfeText(cfe, dossier) };
  },
  plain: 'page',
});

const xml = defineVerb({
  name: 'xml',
  summary: 'Print the signed XML of a CFE, byte for byte as it is sent',
  reads: true,
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

/** What was done, and as what the CFE has ended by then. */
const endOf = ({ status, rejection }: Cfe, outcome: string, message: string): string => {
  if (!isFinal(status) || outcome === 'nothing_to_do' || outcome === 'dry_run') return message;
  const codes = rejection?.map(({ code }) => code).join(', ');
  return `${message} Ended: ${status}${codes ? ` (${codes})` : ''}.`;
};

const FILTERS = ['rut', 'environment', 'status', 'stuckReason'] as const;

const retry = defineVerb({
  name: 'retry',
  summary:
    'Retry, settle or abandon CFEs that wait for support: one by its cfe_id, or all that match the filters',
  args: { '[RUT]': 'RUT of the enterprise', '[CFE_ID]': 'its cfe_id, such as 101-1' },
  options: [
    {
      flags: '--action <action>',
      about:
        'retry (default): take the stuck step again; settle: ask the authority, send nothing; abandon: end it as REJECTED, when the authority surely does not have it',
      choices: SUPPORT_ACTIONS,
    },
    { flags: '--reason <text>', about: 'why; kept in the audit', required: true },
    {
      flags: '--environment <environment>',
      about: 'default: production; with filters: both',
      choices: ENVIRONMENTS,
    },
    { flags: '--rut <rut>', about: 'only CFEs of this enterprise' },
    { flags: '--status <status>', about: 'only CFEs with this status', choices: CFE_STATUSES },
    {
      flags: '--stuck-reason <reason>',
      about: 'only CFEs that are stuck for this reason',
      choices: STUCK_REASONS,
    },
    { flags: '--limit <n>', about: `at most this many; default: ${MOST}`, wholeNumber: [1, MOST] },
    { flags: '--dry-run', about: 'only show what would be done' },
  ],
  examples: [
    '219999830019 101-1 --reason "new certificate uploaded"',
    '219999830019 101-1 --action abandon --reason "issued anew"',
    '--stuck-reason authority.certificate --reason "certificates renewed" --dry-run',
  ],
  columns: ['rut', 'environment', 'cfe_id', 'cfe_status', 'stuck_reason', 'action', 'outcome', 'message'],
  input: z.strictObject({
    rut: Rut.optional(),
    cfe_id: z.string().optional(),
    action: z.enum(SUPPORT_ACTIONS).optional(),
    reason: text(REASON_LENGTH),
    environment: z.enum(ENVIRONMENTS).optional(),
    status: z.enum(CFE_STATUSES).optional(),
    stuckReason: z.enum(STUCK_REASONS).optional(),
    limit: z.int().optional(),
    dryRun: z.literal(true).optional(),
  }),
  usageFault(input) {
    if (input['cfe_id'] !== undefined) {
      const filter = ['status', 'stuckReason', 'limit'].find((name) => input[name] !== undefined);
      return filter === undefined ? undefined : 'CFE_ID cannot be combined with filters';
    }
    if (FILTERS.every((name) => input[name] === undefined)) {
      return 'give RUT and CFE_ID, or at least one filter: --rut, --environment, --status, --stuck-reason';
    }
    const isBlind = input['action'] === 'abandon' && input['stuckReason'] === undefined;
    return isBlind ? 'to abandon several CFEs, give their --stuck-reason' : undefined;
  },
  async run(deps, { cfe_id, action = 'retry', reason, dryRun = false, limit = MOST, ...filter }) {
    const wish = { action, reason, dryRun };
    const rowFor = async ({ cfe, outcome, message }: Supported): Promise<Row> => {
      return {
        rut: cfe.rut,
        ...(await rowOf(deps, cfe)),
        action,
        outcome,
        message: endOf(cfe, outcome, message),
      };
    };
    const { rut, environment } = filter;
    if (cfe_id !== undefined && rut !== undefined) {
      const { cfe: one } = await known(deps, { rut, cfe_id, environment });
      const supported = await supportCfe(deps, { id: one.id, ...wish });
      if (supported.outcome === 'refused') throw new Refusal('INVALID_INPUT', supported.message);
      return rowFor(supported);
    }
    if (dryRun) {
      const stuck = await stuckCfes(deps.orm.em.fork(), filter, limit);
      const all = await supportCfes(deps, { ids: stuck.map(({ id }) => id), ...wish });
      return Promise.all(all.map(rowFor));
    }
    if ((await countMatching(deps.orm.em.fork(), action, filter)) === 0) return [];
    const run = await startRun(deps, { kind: action, filter: { ...filter, limit }, reason, seen: null });
    const items = await endedItems(deps, run.id);
    const cfes = await cfesById(
      deps.orm.em.fork(),
      items.map(({ subject }) => subject),
    );
    return Promise.all(
      items.map(async ({ subject, outcome, message }) => {
        const cfe = cfes.get(subject);
        const found = cfe && { rut: cfe.rut, ...(await rowOf(deps, cfe)) };
        return { ...found, action, outcome, message, run_id: run.id };
      }),
    );
  },
});

/** `cfe cfe`: the CFEs of enterprises, for support. */
export const cfe: Group = {
  name: 'cfe',
  summary: 'CFEs of enterprises: their status, and support',
  verbs: [list, show, xml, retry],
};
