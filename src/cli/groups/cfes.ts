import * as z from 'zod';
import { startRun } from '../../commands/runs.ts';
import { type SupportedCfe, supportCfe, supportCfes } from '../../commands/supportCfe.ts';
import { readCfeDossier, readCfeHistory } from '../../db/cfeDossier.ts';
import { searchCfes } from '../../db/cfeSearch.ts';
import { findCfesById, findStuckCfes } from '../../db/cfes.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { countRunTargets } from '../../db/matching.ts';
import { CFE_STATUSES, isFinal } from '../../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES } from '../../domain/cfeTypes.ts';
import { Moment, spanOfMoment } from '../../domain/dates.ts';
import { LENGTHS } from '../../domain/lengths.ts';
import { LAST_NUMBER, LONGEST_SEARCH, Serie } from '../../domain/parseSearch.ts';
import { STUCK_REASONS } from '../../domain/stuckReason.ts';
import { SUPPORT_ACTIONS } from '../../domain/supportAction.ts';
import { textSchema } from '../../domain/text.ts';
import { Refusal } from '../../errors.ts';
import { cfeView } from '../../views/cfe.ts';
import { cfeText, dossierRow } from '../cfePage.ts';
import {
  anyEnvironment,
  count,
  DryRun,
  day,
  flag,
  InEnvironment,
  limit,
  OfRut,
  oneCfe,
  onlyRut,
  optional,
  Reason,
} from '../inputs.ts';
import { act, type CliDeps, group, query, type Row } from '../verb.ts';
import { endedItems } from './bulkRuns.ts';

const CfeId = z.string().describe('its cfe_id, such as 101-1');
const ONE = { rut: OfRut, cfe_id: CfeId, environment: InEnvironment };
const EXAMPLES = ['219999830019 101-1', '219999830019 101-1 --environment sandbox'];
const MOST = 1_000;
const ONLY = {
  status: optional(z.enum(CFE_STATUSES), 'only CFEs with this status'),
  stuckReason: optional(z.enum(STUCK_REASONS), 'only CFEs that are stuck for this reason'),
};
/** What names single CFEs, or asks for those that `cfe retry` acts on: of whichever environment. */
const OF_BOTH = ['numero', 'receiver', 'idempotencyKey', 'requestId', 'needsSupport', 'stuckReason'] as const;
const RETRY_FILTERS = ['rut', 'environment', 'status', 'stuckReason'] as const;

const moment = (description: string) => optional(Moment, description, 'moment');

async function rowOf({ orm, publicUrl }: CliDeps, cfe: Cfe): Promise<Row> {
  return {
    ...cfeView(cfe, { publicUrl: publicUrl() }),
    environment: cfe.environment,
    needs_support: (cfe.stuckReason ?? null) !== null,
    stuck_reason: cfe.stuckReason ?? null,
    workflow_id: cfe.workflowId,
    history: await readCfeHistory(orm.em.fork(), cfe),
  };
}

/** What was done, and as what the CFE has ended by then. */
const endOf = ({ status, rejection }: Cfe, outcome: string, message: string): string => {
  if (!isFinal(status) || outcome === 'nothing_to_do' || outcome === 'dry_run') return message;
  const codes = rejection?.map(({ code }) => code).join(', ');
  return `${message} Ended: ${status}${codes ? ` (${codes})` : ''}.`;
};

export const cfe = group('cfe', 'CFEs of enterprises: their status, and support', {
  list: query({
    summary: 'List CFEs, newest first: of one enterprise or of all',
    takes: {
      rut: onlyRut('only CFEs of this enterprise'),
      environment: anyEnvironment(
        'default: production; both where a number, receiver, key or request is given, or what waits for a person is asked for',
      ),
      type: optional(z.enum(CFE_TYPE_NAMES), 'only CFEs of this type'),
      ...ONLY,
      needsSupport: flag('only CFEs that wait for a person'),
      annulled: flag('only CFEs whose number is annulled'),
      serie: optional(Serie, 'only CFEs of this serie'),
      numero: optional(count(1, LAST_NUMBER), 'only CFEs with this number'),
      receiver: optional(
        textSchema(LENGTHS.foreignDocument),
        'only CFEs to the receiver with this document',
        'document',
      ),
      idempotencyKey: optional(
        textSchema(LONGEST_SEARCH),
        'only CFEs that were issued with this Idempotency-Key',
      ),
      requestId: optional(textSchema(LONGEST_SEARCH), 'only CFEs that this request (X-Request-Id) issued'),
      from: day('only CFEs emitted on this day or later'),
      to: day('only CFEs emitted on this day or earlier'),
      createdFrom: moment('only CFEs taken at this day in Montevideo, or moment, or later'),
      createdTo: moment('only CFEs taken at this day in Montevideo, or moment, or earlier'),
      limit: limit(MOST, 50),
    },
    examples: [
      '--rut 219999830019 --needs-support --json',
      '--serie A --numero 123',
      '--receiver 219999830019 --from 2026-03-01',
      '--request-id 0f5c3c1e-7c55-4b5e-9d0a-000000000001',
    ],
    columns:
      'rut environment cfe_id cfe_type serie numero cfe_status pay_amount currency stuck_reason created_at',
    async run(deps, { limit: most, createdFrom, createdTo, ...filter }) {
      // Who has a name of a CFE need not know where it was issued; who looks for work overlooks none.
      const isOfBoth = OF_BOTH.some((name) => filter[name] !== undefined);
      const { cfes } = await searchCfes(
        deps.orm.em.fork(),
        null,
        {
          ...filter,
          environment: filter.environment ?? (isOfBoth ? undefined : 'production'),
          createdFrom: createdFrom === undefined ? undefined : spanOfMoment(createdFrom).from,
          createdBefore: createdTo === undefined ? undefined : spanOfMoment(createdTo).before,
        },
        { limit: most },
      );
      return Promise.all(cfes.map(async (one) => ({ rut: one.rut, ...(await rowOf(deps, one)) })));
    },
  }),
  'show RUT CFE_ID': query({
    summary: 'Show one CFE: where it stands, what comes next, what can be done, and what happened to it',
    takes: ONE,
    examples: EXAMPLES,
    async run(deps, input) {
      const em = deps.orm.em.fork();
      const one = await oneCfe(em, input);
      const dossier = await readCfeDossier(em, one);
      return { ...(await rowOf(deps, one)), ...dossierRow(one, dossier), page: cfeText(one, dossier) };
    },
    plain: 'page',
  }),
  'xml RUT CFE_ID': query({
    summary: 'Print the signed XML of a CFE, byte for byte as it is sent',
    takes: ONE,
    examples: EXAMPLES,
    async run({ orm }, input) {
      const em = orm.em.fork();
      const one = await oneCfe(em, input);
      await em.populate(one, ['signedXml']);
      const xml = one.signedXml ?? null;
      if (xml === null) throw new Refusal('NOT_FOUND', `The CFE ${input.cfe_id} is not signed yet.`);
      return { xml };
    },
    plain: 'xml',
  }),
  'retry RUT CFE_ID': act({
    summary:
      'Retry, settle or abandon CFEs that wait for support: one by its cfe_id, or all that match the filters',
    argsOrOptions: ['rut'],
    takes: {
      rut: onlyRut('RUT of the enterprise'),
      cfe_id: optional(CfeId, 'its cfe_id, such as 101-1'),
      action: z
        .enum(SUPPORT_ACTIONS)
        .default('retry')
        .describe(
          'retry (default): take the stuck step again; settle: ask the authority, send nothing; abandon: end it as REJECTED, when the authority surely does not have it',
        ),
      reason: Reason,
      environment: anyEnvironment('default: production; with filters: both'),
      ...ONLY,
      limit: limit(MOST, MOST),
      dryRun: DryRun,
    },
    examples: [
      '219999830019 101-1 --reason "new certificate uploaded"',
      '219999830019 101-1 --action abandon --reason "issued anew"',
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
      const wish = { action, reason, dryRun };
      const rowFor = async ({ cfe: one, outcome, message }: SupportedCfe): Promise<Row> => {
        const end = endOf(one, outcome, message);
        return { rut: one.rut, ...(await rowOf(deps, one)), action, outcome, message: end };
      };
      const { rut, environment = 'production' } = filter;
      const em = deps.orm.em.fork();
      if (cfe_id !== undefined && rut !== undefined) {
        const { id } = await oneCfe(em, { rut, cfe_id, environment });
        const supported = await supportCfe(deps, { id, ...wish });
        if (supported.outcome === 'refused') throw new Refusal('INVALID_INPUT', supported.message);
        return rowFor(supported);
      }
      if (dryRun) {
        const stuck = await findStuckCfes(em, filter, most);
        const all = await supportCfes(deps, { ids: stuck.map(({ id }) => id), ...wish });
        return Promise.all(all.map(rowFor));
      }
      if ((await countRunTargets(em, action, filter)) === 0) return [];
      const run = await startRun(deps, {
        kind: action,
        filter: { ...filter, limit: most },
        reason,
        seen: null,
      });
      const items = await endedItems(deps, run.id);
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
