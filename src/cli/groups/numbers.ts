import * as z from 'zod';
import { annulNumbers } from '../../commands/numbers/annulNumbers.ts';
import { reconcileNumbers } from '../../db/numbers/numbers.ts';
import { LAST_NUMBER } from '../../domain/operations/parseSearch.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType, cfeTypeOfCode } from '../../domain/receipts/cfeTypes.ts';
import { ANNULMENTS } from '../../lists/numbers.ts';
import { EnvironmentInput, ReasonInput, RutInput, rutFilter, wholeNumberInput } from '../inputs.ts';
import { listVerb } from '../listVerb.ts';
import { actingVerb, readVerb, verbGroup } from '../verb.ts';

/** Names of types, and the authority's codes. */
const TYPES = CFE_TYPE_NAMES.flatMap((name) => [name, String(CFE_TYPES[name].code)]);

export const annulmentGroup = verbGroup(
  'annulment',
  'Annulled numbers, which will never be a valid CFE: list them with their reasons, and annul by hand',
  {
    list: listVerb(ANNULMENTS, {
      summary: 'List the annulled numbers of an enterprise, the latest first',
      takes: { rut: RutInput, environment: EnvironmentInput },
      limit: [100_000, 1_000],
      examples: ['--rut 219999830019', '--rut 219999830019 --environment sandbox --json'],
      search: (_, filter) => ({ ...filter, isOperator: true }),
    }),
    'add RUT': actingVerb({
      summary: 'Annul unused numbers, permanently; the daily report informs the authority',
      takes: {
        rut: RutInput,
        type: z.enum(TYPES).describe('name or code of the type, such as ETICKET or 101'),
        serie: z.string().describe('serie of the CAE'),
        from: wholeNumberInput(1, LAST_NUMBER).describe('first number to annul'),
        to: wholeNumberInput(1, LAST_NUMBER).describe('last number to annul'),
        reason: ReasonInput,
        environment: EnvironmentInput,
      },
      examples: [
        '219999830019 --type ETICKET --serie A --from 501 --to 600 --reason "printed on paper by mistake"',
      ],
      usageFault: ({ from, to }) => (Number(from) > Number(to) ? '--to must not be below --from' : undefined),
      async run(deps, { type: nameOrCode, ...input }) {
        const type = cfeTypeOfCode(Number(nameOrCode)) ?? (nameOrCode as CfeType);
        const annulled = await annulNumbers(deps, { ...input, type });
        return annulled.map((span) => ({
          cfe_type: type,
          serie: span.serie,
          from: span.fromNumber,
          to: span.toNumber,
          reason: span.reason,
          typed_reason: span.typedReason,
          annulled_at: span.annulledAt.toISOString(),
        }));
      },
    }),
  },
);

export const numbersGroup = verbGroup(
  'numbers',
  'The numbers of CAEs: proof that every number is accounted for',
  {
    reconcile: readVerb({
      summary:
        'Prove for every CAE that given = issued + annulled + waiting; exit code 1 when a number is unaccounted for',
      takes: { rut: rutFilter('only CAEs of this enterprise') },
      examples: ['', '--rut 219999830019 --json'],
      async run({ orm }, { rut }) {
        const caes = await reconcileNumbers(orm.em.fork(), { rut });
        return caes.map(({ authorizationNumber, type, ...cae }) => ({
          rut: cae.rut,
          environment: cae.environment,
          authorization_number: authorizationNumber,
          cfe_type: type,
          serie: cae.serie,
          given: cae.given,
          issued: cae.issued,
          annulled: cae.annulled,
          waiting: cae.waiting,
          elsewhere: cae.elsewhere,
        }));
      },
      isWell: (rows) =>
        rows.every(
          ({ given, issued, annulled, waiting }) =>
            given === Number(issued) + Number(annulled) + Number(waiting),
        ),
    }),
  },
);
