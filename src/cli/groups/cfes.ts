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

/** Returns the message, with the final status of the CFE if it has one by now. */
const messageWithEnd = ({ status, rejection }: Cfe, outcome: string, message: string): string => {
  if (!isFinal(status) || outcome === 'nothing_to_do' || outcome === 'dry_run') return message;
  const codes = rejection?.map(({ code }) => code).join(', ');
  return `${message} Ended: ${status}${codes ? ` (${codes})` : ''}.`;
};

/** Parts of lines as typed, `1=2,3=0.5`: the number of each line and how much of it. */
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

/**
 * Returns the key of a note that names none. The same note, asked for again, has the same, also with other words as its
 * reason: the service then answers which note was issued.
 */
const keyOfNote = (cfe: Cfe, scope: object): string =>
  `cli:${hash('sha256', canonicalJson([cfe.rut, cfe.environment, formatCfeId(cfe), scope]), 'base64url')}`;

/** Keys of the command line never meet those that customers choose. */
const keyOfCli = (typed: string): string => (typed.startsWith('cli:') ? typed : `cli:${typed}`);

/** Returns what issuing in either environment needs. */
const issuingDeps = (deps: CliDeps) => ({
  ...deps,
  equipped: () => ({
    ...deps,
    testKit: deps.testKit(),
    sealer: deps.sealer(),
    certificateAuthorities: deps.certificateAuthorities(),
  }),
});

export const cfeGroup = verbGroup('cfe', 'CFEs of enterprises: their status, and support', {
  list: listVerb(CFES, {
    summary: 'List CFEs, newest first: of one enterprise or of all',
    takes: {
      environment: environmentFilter(
        'default: production; both with a number, receiver, key or request, or with a filter for support',
      ),
      stuckReason: ONLY.stuckReason,
      needsSupport: flagOption('only CFEs that need support'),
      annulled: flagOption('only CFEs whose number is annulled'),
    },
    limit: [MOST, 50],
    examples: [
      '--rut 219999830019 --needs-support --json',
      '--serie A --numero 123',
      '--receiver 219999830019 --from 2026-03-01',
      '--request-id 0f5c3c1e-7c55-4b5e-9d0a-000000000001',
    ],
    columns:
      'rut environment cfe_id cfe_type serie numero cfe_status pay_amount currency stuck_reason created_at',
    search(_, filter) {
      // A known identifier does not reveal the environment, and a search for work must overlook no CFE.
      const isOfBoth = BOTH_ENVIRONMENTS.some((name) => filter[name] !== undefined);
      const environment = filter.environment ?? (isOfBoth ? undefined : 'production');
      return { ...filter, environment, accounts: null };
    },
    rows: (deps, cfes) =>
      Promise.all(cfes.map(async (one) => ({ rut: one.rut, ...(await cfeRow(deps, one)) }))),
  }),
  'show RUT CFE_ID': readVerb({
    summary: 'Show one CFE: its content, its status, its next step, the possible actions, and its history',
    takes: ONE,
    examples: EXAMPLES,
    async run(deps, input) {
      const em = deps.orm.em.fork();
      const one = await requireCfeOfRut(em, input);
      await em.populate(one, ['extra']);
      const dossier = await readCfeDossier(em, one);
      const { document, notes } = cfeDetailView(one, await listNotes(em.fork(), one.id), {
        publicUrl: deps.publicUrl(),
      });
      const shown = { ...(await cfeRow(deps, one)), document, notes, ...dossierRow(one, dossier) };
      return { ...shown, page: cfeText(one, dossier) };
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
  'credit RUT CFE_ID': readVerb({
    summary: 'Show what is left of a CFE to credit, per line, and its credit notes',
    takes: ONE,
    examples: EXAMPLES,
    async run(deps, input) {
      const one = await requireCfeOfRut(deps.orm.em.fork(), input);
      const { left, notes } = await readCredit(deps, one);
      const { left: figures, notes: issued } = creditView(left, notes);
      return { cfe_id: formatCfeId(one), currency: one.currency, ...figures, notes: issued };
    },
  }),
  'credit-note RUT CFE_ID': actingVerb({
    summary:
      'Issue a credit note for all that is left of a CFE, or a part; repeated, it answers the first note',
    takes: {
      ...ONE,
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
        'to issue another note that is equal to an earlier one; default: made of the note',
      ),
      dryRun: DryRunOption,
    },
    examples: [
      '219999830019 101-1 --reason "goods returned" --dry-run',
      '219999830019 101-1 --percent 10 --reason "discount"',
      '219999830019 101-1 --lines 1=2,3=0.5 --reason "goods returned"',
    ],
    async run(deps, { percent, amount, lines, lineAmounts, reason, idempotencyKey, dryRun, ...one }) {
      const cfe = await requireCfeOfRut(deps.orm.em.fork(), one);
      const { rut, environment, accountId } = cfe;
      const parts = [
        ...(lines ?? []).map(([line_number, count]) => ({ line_number, count })),
        ...(lineAmounts ?? []).map(([line_number, sum]) => ({ line_number, amount: sum })),
      ].toSorted((a, b) => Number(a.line_number.text) - Number(b.line_number.text));
      const scope = omitUndefined({ percent, amount, lines: parts.length > 0 ? parts : undefined });
      const body = { ...scope, reason };
      const asked = { cfe, accountId, body };
      const row = { rut, environment, credits: formatCfeId(cfe) };
      const issuing = issuingDeps(deps);
      if (dryRun) {
        const { content } = await previewCreditByHand(issuing, asked);
        const { type, totals } = content;
        return { ...row, cfe_type: type, currency: totals.currency, pay_amount: exactNumber(totals.pay) };
      }
      const key = idempotencyKey === undefined ? keyOfNote(cfe, scope) : keyOfCli(idempotencyKey);
      const issued = await creditByHand(
        { ...issuing, requestHash: deps.requestHash() },
        { ...asked, why: reason, expected: undefined, idempotencyKey: key },
      );
      const note = await requireCfeOfRut(deps.orm.em.fork(), { ...one, cfe_id: formatCfeId(issued.note) });
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
        return { rut: one.rut, ...(await cfeRow(deps, one)), action, outcome, message: end };
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
          const found = one && { rut: one.rut, ...(await cfeRow(deps, one)) };
          return { ...found, action, outcome, message, run_id: run.id };
        }),
      );
    },
  }),
});
