import * as z from 'zod';
import { startRun } from '../../commands/operations/runs.ts';
import { type SupportedCfe, supportCfe, supportCfes } from '../../commands/operations/supportCfe.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { countRunTargets } from '../../db/operations/runTargets.ts';
import { readCfeDossier, readCfeHistory } from '../../db/receipts/cfeDossier.ts';
import { searchCfes } from '../../db/receipts/cfeSearch.ts';
import { findCfesById, findStuckCfes } from '../../db/receipts/cfes.ts';
import { STUCK_REASONS } from '../../domain/authority/stuckReason.ts';
import { SUPPORT_ACTIONS } from '../../domain/operations/supportAction.ts';
import { CFE_STATUSES, isFinal } from '../../domain/receipts/cfeStatus.ts';
import { Refusal } from '../../errors.ts';
import { CFE_FILTERS, cfeSearchOf } from '../../lists/cfes.ts';
import { cfeView } from '../../views/receipts/cfe.ts';
import { cfeText, dossierRow } from '../cfePage.ts';
import {
  DryRunOption,
  EnvironmentInput,
  environmentFilter,
  filterOptions,
  flagOption,
  limitOption,
  optionalInput,
  ReasonInput,
  RutInput,
  requireCfeOfRut,
  rutFilter,
} from '../inputs.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';
import { waitForItems } from './bulkRuns.ts';

const CfeId = z.string().describe('its cfe_id, such as 101-1');
const ONE = { rut: RutInput, cfe_id: CfeId, environment: EnvironmentInput };
const EXAMPLES = ['219999830019 101-1', '219999830019 101-1 --environment sandbox'];
const MOST = 1_000;
const ONLY = {
  status: optionalInput(z.enum(CFE_STATUSES), 'only CFEs with this status'),
  stuckReason: optionalInput(z.enum(STUCK_REASONS), 'only CFEs that are stuck for this reason'),
};
/** Inputs that identify single CFEs or select those of `cfe retry`, in either environment. */
const BOTH_ENVIRONMENTS = [
  'numero',
  'receiver',
  'idempotencyKey',
  'externalId',
  'requestId',
  'needsSupport',
  'stuckReason',
] as const;
const RETRY_FILTERS = ['rut', 'environment', 'status', 'stuckReason'] as const;

async function rowOf({ orm, publicUrl }: CliDeps, cfe: Cfe): Promise<OutputRow> {
  return {
    ...cfeView(cfe, { publicUrl: publicUrl() }),
    environment: cfe.environment,
    needs_support: (cfe.stuckReason ?? null) !== null,
    stuck_reason: cfe.stuckReason ?? null,
    workflow_id: cfe.workflowId,
    history: await readCfeHistory(orm.em.fork(), cfe),
  };
}

/** Returns the message, with the final status of the CFE if it has one by now. */
const messageWithEnd = ({ status, rejection }: Cfe, outcome: string, message: string): string => {
  if (!isFinal(status) || outcome === 'nothing_to_do' || outcome === 'dry_run') return message;
  const codes = rejection?.map(({ code }) => code).join(', ');
  return `${message} Ended: ${status}${codes ? ` (${codes})` : ''}.`;
};

export const cfeGroup = verbGroup('cfe', 'CFEs of enterprises: their status, and support', {
  list: readVerb({
    summary: 'List CFEs, newest first: of one enterprise or of all',
    takes: {
      ...filterOptions(CFE_FILTERS),
      environment: environmentFilter(
        'default: production; both with a number, receiver, key or request, or with a filter for support',
      ),
      stuckReason: ONLY.stuckReason,
      needsSupport: flagOption('only CFEs that need support'),
      annulled: flagOption('only CFEs whose number is annulled'),
      limit: limitOption(MOST, 50),
    },
    examples: [
      '--rut 219999830019 --needs-support --json',
      '--serie A --numero 123',
      '--receiver 219999830019 --from 2026-03-01',
      '--request-id 0f5c3c1e-7c55-4b5e-9d0a-000000000001',
    ],
    columns:
      'rut environment cfe_id cfe_type serie numero cfe_status pay_amount currency stuck_reason created_at',
    async run(deps, { limit: most, ...filter }) {
      // A known identifier does not reveal the environment, and a search for work must overlook no CFE.
      const isOfBoth = BOTH_ENVIRONMENTS.some((name) => filter[name] !== undefined);
      const { cfes } = await searchCfes(
        deps.orm.em.fork(),
        null,
        cfeSearchOf({
          ...filter,
          environment: filter.environment ?? (isOfBoth ? undefined : 'production'),
        }),
        { limit: most },
      );
      return Promise.all(cfes.map(async (one) => ({ rut: one.rut, ...(await rowOf(deps, one)) })));
    },
  }),
  'show RUT CFE_ID': readVerb({
    summary: 'Show one CFE: its status, its next step, the possible actions, and its history',
    takes: ONE,
    examples: EXAMPLES,
    async run(deps, input) {
      const em = deps.orm.em.fork();
      const one = await requireCfeOfRut(em, input);
      const dossier = await readCfeDossier(em, one);
      return { ...(await rowOf(deps, one)), ...dossierRow(one, dossier), page: cfeText(one, dossier) };
    },
    plain: 'page',
  }),
  'xml RUT CFE_ID': readVerb({
    summary: 'Print the signed XML of a CFE, byte for byte as it is sent',
    takes: ONE,
    examples: EXAMPLES,
    async run({ orm }, input) {
      const em = orm.em.fork();
      const one = await requireCfeOfRut(em, input);
      await em.populate(one, ['signedXml']);
      const xml = one.signedXml ?? null;
      if (xml === null) throw new Refusal('NOT_FOUND', `The CFE ${input.cfe_id} is not signed yet.`);
      return { xml };
    },
    plain: 'xml',
  }),
  'retry RUT CFE_ID': actingVerb({
    summary:
      'Retry, settle or abandon CFEs that need support: one by its cfe_id, or all that match the filters',
    argsOrOptions: ['rut'],
    takes: {
      rut: rutFilter('RUT of the enterprise'),
      cfe_id: optionalInput(CfeId, 'its cfe_id, such as 101-1'),
      action: z
        .enum(SUPPORT_ACTIONS)
        .default('retry')
        .describe(
          'retry (default): repeat the stuck step; settle: query the authority, send nothing; abandon: end it as REJECTED, when the authority certainly does not have it',
        ),
      reason: ReasonInput,
      environment: environmentFilter('default: production; with filters: both'),
      ...ONLY,
      limit: limitOption(MOST, MOST),
      dryRun: DryRunOption,
    },
    examples: [
      '219999830019 101-1 --reason "new certificate uploaded"',
      '219999830019 101-1 --action abandon --reason "issued again"',
      '--stuck-reason authority.certificate --reason "certificates renewed" --dry-run',
    ],
    columns: 'rut environment cfe_id cfe_status stuck_reason action outcome message',
    usageFault(input) {
      if (input['cfe_id'] !== undefined) {
        const filter = ['status', 'stuckReason', 'limit'].find((name) => input[name] !== undefined);
        return filter === undefined ? undefined : 'CFE_ID cannot be combined with filters';
      }
      if (RETRY_FILTERS.every((name) => input[name] === undefined)) {
        return 'give RUT and CFE_ID, or at least one filter: --rut, --environment, --status, --stuck-reason';
      }
      const isBlind = input['action'] === 'abandon' && input['stuckReason'] === undefined;
      return isBlind ? 'to abandon several CFEs, give their --stuck-reason' : undefined;
    },
    async run(deps, { cfe_id, action, reason, dryRun = false, limit: most, ...filter }) {
      const request = { action, reason, dryRun };
      const rowFor = async ({ cfe: one, outcome, message }: SupportedCfe): Promise<OutputRow> => {
        const end = messageWithEnd(one, outcome, message);
        return { rut: one.rut, ...(await rowOf(deps, one)), action, outcome, message: end };
      };
      const { rut, environment = 'production' } = filter;
      const em = deps.orm.em.fork();
      if (cfe_id !== undefined && rut !== undefined) {
        const { id } = await requireCfeOfRut(em, { rut, cfe_id, environment });
        const supported = await supportCfe(deps, { id, ...request });
        if (supported.outcome === 'refused') throw new Refusal('INVALID_INPUT', supported.message);
        return rowFor(supported);
      }
      if (dryRun) {
        const stuck = await findStuckCfes(em, filter, most);
        const all = await supportCfes(deps, { ids: stuck.map(({ id }) => id), ...request });
        return Promise.all(all.map(rowFor));
      }
      if ((await countRunTargets(em, action, filter)) === 0) return [];
      const run = await startRun(deps, {
        kind: action,
        filter: { ...filter, limit: most },
        reason,
        accounts: null,
      });
      const items = await waitForItems(deps, run.id);
      const ids = items.map(({ subject }) => subject);
      const cfes = await findCfesById(deps.orm.em.fork(), ids);
      return Promise.all(
        items.map(async ({ subject, outcome, message }) => {
          const one = cfes.get(subject);
          const found = one && { rut: one.rut, ...(await rowOf(deps, one)) };
          return { ...found, action, outcome, message, run_id: run.id };
        }),
      );
    },
  }),
});
