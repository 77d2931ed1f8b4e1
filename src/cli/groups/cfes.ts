import { hash } from 'node:crypto';
import * as z from 'zod';
import { startRun } from '../../commands/operations/runs.ts';
import { type SupportedCfe, supportCfe, supportCfes } from '../../commands/operations/supportCfe.ts';
import { creditByHand, previewCreditByHand } from '../../commands/receipts/creditByHand.ts';
import { readCredit } from '../../commands/receipts/creditCfe.ts';
import { IDEMPOTENCY_KEY_TEXT } from '../../commands/steps/comparableKey.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { countRunTargets } from '../../db/operations/runTargets.ts';
import { readCfeDossier, readCfeHistory } from '../../db/receipts/cfeDossier.ts';
import { findCfesById, findStuckCfes } from '../../db/receipts/cfes.ts';
import { listNotes } from '../../db/receipts/references.ts';
import { STUCK_REASONS } from '../../domain/authority/stuckReason.ts';
import { SUPPORT_ACTIONS } from '../../domain/operations/supportAction.ts';
import { omitUndefined } from '../../domain/receipts/cfeContent.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { CFE_STATUSES, isFinal } from '../../domain/receipts/cfeStatus.ts';
import { canonicalJson } from '../../domain/values/canonicalJson.ts';
import { JsonNumber } from '../../domain/values/decimal.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { LENGTHS } from '../../domain/values/lengths.ts';
import { textSchema } from '../../domain/values/text.ts';
import { Refusal } from '../../errors.ts';
import { CFES } from '../../lists/cfes.ts';
import { cfeView } from '../../views/receipts/cfe.ts';
import { cfeDetailView } from '../../views/receipts/cfeDetail.ts';
import { creditView } from '../../views/receipts/credit.ts';
import { cfeText, dossierRow } from '../cfePage.ts';
import {
  DryRunOption,
  EnvironmentInput,
  environmentFilter,
  flagOption,
  limitOption,
  optionalInput,
  ReasonInput,
  RutInput,
  requireCfeOfRut,
  rutFilter,
} from '../inputs.ts';
import { listVerb } from '../listVerb.ts';
import { actingVerb, type CliDeps, equippedDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';
import { waitForItems } from './bulkRuns.ts';

const CfeId = z.string().describe('its cfe_id, such as 101-1');
const CFE_INPUTS = { rut: RutInput, cfe_id: CfeId, environment: EnvironmentInput };
const EXAMPLES = ['219999830019 101-1', '219999830019 101-1 --environment sandbox'];
const MAX_CFES = 1_000;
const SUPPORT_FILTERS = {
  status: optionalInput(z.enum(CFE_STATUSES), 'only CFEs with this status'),
  stuckReason: optionalInput(z.enum(STUCK_REASONS), 'only CFEs that are stuck for this reason'),
};
/** Inputs that search both environments: they identify single CFEs, or select CFEs that need support. */
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

async function cfeRow({ orm, publicUrl }: CliDeps, cfe: Cfe): Promise<OutputRow> {
  return {
    ...cfeView(cfe, { publicUrl: publicUrl() }),
    environment: cfe.environment,
    needs_support: (cfe.stuckReason ?? null) !== null,
    stuck_reason: cfe.stuckReason ?? null,
    workflow_id: cfe.workflowId,
    history: await readCfeHistory(orm.em.fork(), cfe),
  };
}

/** Adds the final status of the CFE, if it has one, to the message of a support action. */
const addFinalStatus = ({ status, rejection }: Cfe, outcome: string, message: string): string => {
  if (!isFinal(status) || outcome === 'nothing_to_do' || outcome === 'dry_run') return message;
  const codes = rejection?.map(({ code }) => code).join(', ');
  return `${message} Ended: ${status}${codes ? ` (${codes})` : ''}.`;
};

/** Typed parts of lines, `1=2,3=0.5`: the number of each line and how much of it. */
const LineParts = z
  .string()
  .refine((typed) => typed.split(',').every((part) => /^\d+=\d+(\.\d+)?$/.test(part)), {
    params: { expected: 'numbers of lines and how much of each, such as 1=2,3=0.5' },
  })
  .transform((typed) =>
    typed.split(',').map((part) => {
      const [number = '', much = ''] = part.split('=');
      return [new JsonNumber(number), new JsonNumber(much)] as const;
    }),
  );
const Decimal = z
  .string()
  .refine((typed) => /^\d+(\.\d+)?$/.test(typed), { params: { expected: 'a number such as 12.5' } })
  .transform((typed) => new JsonNumber(typed));

/** Returns the default key of a note. It ignores the reason, so that repeating a command cannot issue a second note. */
const defaultNoteKey = (cfe: Cfe, scope: object): string =>
  `cli:${hash('sha256', canonicalJson([cfe.rut, cfe.environment, formatCfeId(cfe), scope]), 'base64url')}`;

/** Returns a typed key with the prefix that keeps it apart from the keys of customers. */
const prefixKey = (typed: string): string => (typed.startsWith('cli:') ? typed : `cli:${typed}`);

export const cfeGroup = verbGroup('cfe', 'CFEs of enterprises: their status, and support', {
  list: listVerb(CFES, {
    summary: 'List CFEs, newest first: of one enterprise or of all',
    takes: {
      environment: environmentFilter(
        'default: production; both with a number, receiver, key or request, or with a filter for support',
      ),
      stuckReason: SUPPORT_FILTERS.stuckReason,
      needsSupport: flagOption('only CFEs that need support'),
      annulled: flagOption('only CFEs whose number is annulled'),
    },
    limit: [MAX_CFES, 50],
    examples: [
      '--rut 219999830019 --needs-support --json',
      '--serie A --numero 123',
      '--receiver 219999830019 --from 2026-03-01',
      '--request-id 0f5c3c1e-7c55-4b5e-9d0a-000000000001',
    ],
    columns:
      'rut environment cfe_id cfe_type serie numero cfe_status pay_amount currency stuck_reason created_at',
    search(_, filter) {
      const searchesBoth = BOTH_ENVIRONMENTS.some((name) => filter[name] !== undefined);
      const environment = filter.environment ?? (searchesBoth ? undefined : 'production');
      return { ...filter, environment, accounts: null };
    },
    rows: (deps, cfes) =>
      Promise.all(cfes.map(async (one) => ({ rut: one.rut, ...(await cfeRow(deps, one)) }))),
  }),
  'show RUT CFE_ID': readVerb({
    summary: 'Show one CFE: its content, its status, its next step, the possible actions, and its history',
    takes: CFE_INPUTS,
    examples: EXAMPLES,
    async run(deps, input) {
      const em = deps.orm.em.fork();
      const cfe = await requireCfeOfRut(em, input);
      await em.populate(cfe, ['extra']);
      const dossier = await readCfeDossier(em, cfe);
      const urls = { publicUrl: deps.publicUrl() };
      const { document, notes } = cfeDetailView(cfe, await listNotes(em.fork(), cfe.id), urls);
      const row = { ...(await cfeRow(deps, cfe)), document, notes, ...dossierRow(cfe, dossier) };
      return { ...row, page: cfeText(cfe, dossier) };
    },
    plain: 'page',
  }),
  'xml RUT CFE_ID': readVerb({
    summary: 'Print the signed XML of a CFE, byte for byte as it is sent',
    takes: CFE_INPUTS,
    examples: EXAMPLES,
    async run({ orm }, input) {
      const em = orm.em.fork();
      const cfe = await requireCfeOfRut(em, input);
      await em.populate(cfe, ['signedXml']);
      const xml = cfe.signedXml ?? null;
      if (xml === null) throw new Refusal('NOT_FOUND', `The CFE ${input.cfe_id} is not signed yet.`);
      return { xml };
    },
    plain: 'xml',
  }),
  'credit RUT CFE_ID': readVerb({
    summary: 'Show what is left of a CFE to credit, per line, and its credit notes',
    takes: CFE_INPUTS,
    examples: EXAMPLES,
    async run(deps, input) {
      const cfe = await requireCfeOfRut(deps.orm.em.fork(), input);
      const { left, notes } = await readCredit(deps, cfe);
      const view = creditView(left, notes);
      return { cfe_id: formatCfeId(cfe), currency: cfe.currency, ...view.left, notes: view.notes };
    },
  }),
  'credit-note RUT CFE_ID': actingVerb({
    summary:
      'Issue a credit note for all that is left of a CFE, or a part; repeated, it returns the first note',
    takes: {
      ...CFE_INPUTS,
      percent: optionalInput(Decimal, 'this percentage of the whole CFE'),
      amount: optionalInput(Decimal, 'this amount, in the currency of the CFE'),
      lines: optionalInput(LineParts, 'quantities of lines, such as 1=2,3=0.5', 'parts'),
      lineAmounts: optionalInput(LineParts, 'amounts of lines, such as 2=150.00', 'parts'),
      reason: textSchema(LENGTHS.referenceReason).meta({
        description: 'why; printed on the note and kept in the audit',
        placeholder: 'text',
      }),
      idempotencyKey: optionalInput(
        z.string().regex(IDEMPOTENCY_KEY_TEXT),
        'another key issues a second equal note; default: a key derived from the CFE and the credited part',
      ),
      dryRun: DryRunOption,
    },
    examples: [
      '219999830019 101-1 --reason "goods returned" --dry-run',
      '219999830019 101-1 --percent 10 --reason "discount"',
      '219999830019 101-1 --lines 1=2,3=0.5 --reason "goods returned"',
    ],
    async run(deps, { percent, amount, lines, lineAmounts, reason, idempotencyKey, dryRun, ...input }) {
      const cfe = await requireCfeOfRut(deps.orm.em.fork(), input);
      const { rut, environment, accountId } = cfe;
      const parts = [
        ...(lines ?? []).map(([line_number, count]) => ({ line_number, count })),
        ...(lineAmounts ?? []).map(([line_number, sum]) => ({ line_number, amount: sum })),
      ].toSorted((a, b) => Number(a.line_number.text) - Number(b.line_number.text));
      const scope = omitUndefined({ percent, amount, lines: parts.length > 0 ? parts : undefined });
      const credit = { cfe, accountId, body: { ...scope, reason } };
      const row = { rut, environment, credits: formatCfeId(cfe) };
      const issueDeps = { ...deps, equipped: () => equippedDeps(deps) };
      if (dryRun) {
        const { content } = await previewCreditByHand(issueDeps, credit);
        const { type, totals } = content;
        return { ...row, cfe_type: type, currency: totals.currency, pay_amount: exactNumber(totals.pay) };
      }
      const key = idempotencyKey === undefined ? defaultNoteKey(cfe, scope) : prefixKey(idempotencyKey);
      const issued = await creditByHand(
        { ...issueDeps, requestHash: deps.requestHash() },
        { ...credit, why: reason, expected: undefined, idempotencyKey: key },
      );
      const note = await requireCfeOfRut(deps.orm.em.fork(), { ...input, cfe_id: formatCfeId(issued.note) });
      if (issued.repeated && note.status === 'REJECTED')
        throw new Refusal(
          'INVALID_INPUT',
          `This command issued ${formatCfeId(note)} before, which was REJECTED; give another --idempotency-key for a new note.`,
        );
      return { ...row, ...(await cfeRow(deps, note)), idempotency_key: key, repeated: issued.repeated };
    },
    columns:
      'rut environment credits cfe_type cfe_id cfe_status currency pay_amount idempotency_key repeated',
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
      ...SUPPORT_FILTERS,
      limit: limitOption(MAX_CFES, MAX_CFES),
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
      const needsReason = input['action'] === 'abandon' && input['stuckReason'] === undefined;
      return needsReason ? 'to abandon several CFEs, give their --stuck-reason' : undefined;
    },
    async run(deps, { cfe_id, action, reason, dryRun = false, limit, ...filter }) {
      const request = { action, reason, dryRun };
      const rowFor = async ({ cfe, outcome, message }: SupportedCfe): Promise<OutputRow> => ({
        rut: cfe.rut,
        ...(await cfeRow(deps, cfe)),
        action,
        outcome,
        message: addFinalStatus(cfe, outcome, message),
      });
      const { rut, environment = 'production' } = filter;
      const em = deps.orm.em.fork();
      if (cfe_id !== undefined && rut !== undefined) {
        const { id } = await requireCfeOfRut(em, { rut, cfe_id, environment });
        const supported = await supportCfe(deps, { id, ...request });
        if (supported.outcome === 'refused') throw new Refusal('INVALID_INPUT', supported.message);
        return rowFor(supported);
      }
      if (dryRun) {
        const stuck = await findStuckCfes(em, filter, limit);
        const supported = await supportCfes(deps, { ids: stuck.map(({ id }) => id), ...request });
        return Promise.all(supported.map(rowFor));
      }
      if ((await countRunTargets(em, action, filter)) === 0) return [];
      const run = await startRun(deps, {
        kind: action,
        filter: { ...filter, limit },
        reason,
        accounts: null,
      });
      const items = await waitForItems(deps, run.id);
      const ids = items.map(({ subject }) => subject);
      const cfes = await findCfesById(deps.orm.em.fork(), ids);
      return Promise.all(
        items.map(async ({ subject, outcome, message }) => {
          const cfe = cfes.get(subject);
          const row = cfe && { rut: cfe.rut, ...(await cfeRow(deps, cfe)) };
          return { ...row, action, outcome, message, run_id: run.id };
        }),
      );
    },
  }),
});
