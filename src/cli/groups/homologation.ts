import * as z from 'zod';
import {
  readApplicationFacts,
  requireLastTestRun,
  startTestRun,
  stopTestRun,
} from '../../commands/enterprises/homologation.ts';
import type { TestRunState } from '../../db/enterprises/homologations.ts';
import { applicationSheet } from '../../domain/enterprises/application.ts';
import { TEST_RUN_SIZE, TEST_SETS } from '../../domain/enterprises/homologation.ts';
import { CFE_TYPE_NAMES, type CfeType } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { homologationView } from '../../views/enterprises/homologation.ts';
import { FIELD_NAMES } from '../../words/application.ts';
import { OptionalReasonInput, optionalInput, ReasonInput, RutInput, wholeNumberInput } from '../inputs.ts';
import { actingVerb, equippedDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';

/** Types separated by commas: `ETICKET,ETICKET_NC`. */
const Types = z
  .string()
  .refine((typed) => typed.split(',').every((name) => CFE_TYPE_NAMES.some((known) => known === name)), {
    params: { expected: `types of CFEs separated by commas: ${CFE_TYPE_NAMES.join(', ')}` },
  })
  .transform((typed) => typed.split(',') as CfeType[]);

const testRunRow = (state: TestRunState): OutputRow => ({
  rut: state.run.rut,
  ...homologationView(state),
  workflow_id: state.run.workflowId,
});

export const homologationGroup = verbGroup(
  'homologation',
  'Test runs, with which a company passes the authority’s tests in the sandbox',
  {
    'start RUT': actingVerb({
      summary: 'Start a test run; while one is active, show that one',
      takes: {
        rut: RutInput,
        set: z.enum(TEST_SETS).describe('TESTING: 50 received of six types; SIMULATION: one of each type'),
        types: optionalInput(Types, 'only these types; default: those of the set', 'types'),
        each: optionalInput(
          wholeNumberInput(TEST_RUN_SIZE.least, TEST_RUN_SIZE.most),
          `receipts of each type (TESTING); default: ${TEST_RUN_SIZE.usual}`,
          'count',
        ),
        reason: ReasonInput,
      },
      examples: ['219999830019 --set TESTING --reason "the company enters the regime"'],
      async run(deps, input) {
        return testRunRow(await startTestRun(equippedDeps(deps), { ...input, accountId: null }));
      },
    }),
    'show RUT': readVerb({
      summary: 'Show the last test run: counts per type, the report, and the steps that are left',
      takes: { rut: RutInput },
      examples: ['219999830019 --json'],
      run: async ({ orm }, { rut }) => testRunRow(await requireLastTestRun(orm.em.fork(), rut)),
    }),
    'sheet RUT': readVerb({
      summary: 'Write the sheet of the postulación as a PDF: each field of the form, and the sworn statement',
      takes: {
        rut: RutInput,
        out: z.string().min(1).meta({ description: 'the file to write', placeholder: 'file' }),
      },
      examples: ['219999830019 --out postulacion.pdf'],
      async run(deps, { rut, out }) {
        const facts = await readApplicationFacts(deps.orm.em.fork(), rut);
        const sheet = applicationSheet({ ...facts, provider: deps.provider(), publicUrl: deps.publicUrl() });
        const heading = { legalName: facts.enterprise.legalName, date: montevideoDate(deps.clock()) };
        deps.writeFile(out, await deps.drawSheet(sheet, heading));
        return sheet.fields.map(({ field, value }) => ({ field, name: FIELD_NAMES[field], value }));
      },
      columns: 'name value',
    }),
    'stop RUT': actingVerb({
      summary: 'Stop the active test run; numbers already used stay used',
      takes: { rut: RutInput, reason: OptionalReasonInput },
      examples: ['219999830019 --reason "started on the wrong day"'],
      run: async (deps, input) => testRunRow(await stopTestRun(deps, input)),
    }),
  },
);
