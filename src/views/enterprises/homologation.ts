import * as z from 'zod';
import type { TestRunState } from '../../db/enterprises/homologations.ts';
import { checklistOf } from '../../domain/enterprises/homologation.ts';
import {
  CfeTypeName,
  ReportStatusName,
  TestRunStatusName,
  TestSetName,
} from '../../domain/requests/enums.ts';
import { homologationEn as words } from '../../words/en/homologation.ts';
import { countField, DateText, textField } from '../formats.ts';

/** A test run (docs/contract.md#test-run). */
export const HomologationView = z
  .object({
    homologation_id: textField('Id of the run.', '5b3e0c1a-0000-4000-8000-000000000009'),
    set: TestSetName,
    status: TestRunStatusName,
    day: DateText.meta({
      description:
        'The day on which all its receipts are signed, in Montevideo; to be stated in the application.',
    }),
    types: z
      .array(
        z
          .object({
            cfe_type: CfeTypeName,
            wanted: countField('Receipts of the run.', 52),
            received: countField('Accepted or observed by the authority.', 52),
            rejected: countField('Rejected by it; they do not count, and are in the report.', 0),
            pending: countField('Not issued yet, or without a verdict.', 0),
          })
          .meta({ id: 'HomologationType', description: 'The receipts of one type.' }),
      )
      .meta({ description: 'The types of the run.' }),
    report: z
      .object({
        status: ReportStatusName.nullable().meta({ description: 'Null before it is asked for.' }),
        sequence: z
          .int()
          .nullable()
          .meta({ description: 'Number of its last sent submission; null before the first.', examples: [1] }),
      })
      .meta({ id: 'HomologationReport', description: 'The daily report of `day` in the test environment.' }),
    checklist: z
      .array(
        z
          .object({
            code: textField('The step, for programs.', 'process'),
            text: textField(
              'The step, for people.',
              'Ask for the user of Homologación; date of the passed test: 2026-11-20',
            ),
            done: z.boolean().meta({
              description: 'Whether it is done. Steps that only the authority’s portal shows stay `false`.',
              examples: [false],
            }),
          })
          .meta({ id: 'HomologationStep', description: 'One step of the test.' }),
      )
      .meta({ description: 'All steps in order; the last ones are clicks at the authority’s portal.' }),
    failure: z
      .object({
        code: textField('Why, for programs.', 'homologation.too_few'),
        message: textField('Why, for people.', 'DGI received fewer receipts of a type than it asks for.'),
      })
      .nullable()
      .meta({ description: 'Why it failed; null otherwise.' }),
  })
  .meta({ id: 'Homologation', description: 'A test run with which an enterprise enters the regime.' });

/** Returns the view of a run. */
export function homologationView({ run, counts, report }: TestRunState): z.input<typeof HomologationView> {
  const steps = checklistOf({ set: run.testSet, counts, hasAnnulled: run.annulledAt !== null, report });
  return {
    homologation_id: run.id,
    set: run.testSet,
    status: run.status,
    day: run.day,
    types: counts.map(({ type, ...counted }) => ({ cfe_type: type, ...counted })),
    report: { status: report?.status ?? null, sequence: report?.sequence ?? null },
    checklist: steps.map(({ code, done }) => ({ code, text: words.checklist[code](run.day), done })),
    failure:
      run.failureCode === null
        ? null
        : {
            code: run.failureCode,
            message: `${words.failure[run.failureCode]}${run.failureDetail === null ? '' : ` (${run.failureDetail})`}.`,
          },
  };
}
