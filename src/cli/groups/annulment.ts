import * as z from 'zod';
import { annulNumbers } from '../../commands/annulNumbers.ts';
import { listAnnulments } from '../../db/annulments.ts';
import type { Annulment } from '../../db/entities/Annulment.ts';
import {
  CFE_TYPE_NAMES,
  CFE_TYPES,
  type CfeType,
  cfeTypeOfCode,
  ENVIRONMENTS,
} from '../../domain/cfeTypes.ts';
import { Rut } from '../../domain/rut.ts';
import { REASON_LENGTH } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { defineVerb, type Group, type Row } from '../verb.ts';

const LAST_NUMBER = 9_999_999;
const MOST = 100_000;
const USUAL = 1_000;
/** A type by its name or by the authority's code. */
const TYPES = CFE_TYPE_NAMES.flatMap((name) => [name, String(CFE_TYPES[name].code)]);
const ENVIRONMENT = {
  flags: '--environment <environment>',
  about: 'default: production',
  choices: ENVIRONMENTS,
} as const;

const rowOf = ({ type, serie, fromNumber, toNumber, reason, annulledAt }: Annulment): Row => ({
  cfe_type: type,
  serie,
  from: fromNumber,
  to: toNumber,
  reason,
  annulled_at: annulledAt.toISOString(),
});

const list = defineVerb({
  name: 'list',
  summary: 'List the annulled numbers of an enterprise, the latest first',
  reads: true,
  options: [
    { flags: '--rut <rut>', about: 'RUT of the enterprise', required: true },
    ENVIRONMENT,
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: ['--rut 219999830019', '--rut 219999830019 --environment sandbox --json'],
  input: z.strictObject({
    rut: Rut,
    environment: z.enum(ENVIRONMENTS).optional(),
    limit: z.int().optional(),
  }),
  async run({ orm }, { rut, environment = 'production', limit = USUAL }) {
    return (await listAnnulments(orm.em.fork(), { rut, environment }, limit)).map(rowOf);
  },
});

const add = defineVerb({
  name: 'add',
  summary: 'Annul numbers that were never given, for ever; the daily report tells the authority',
  args: { RUT: 'RUT of the enterprise' },
  options: [
    {
      flags: '--type <type>',
      about: 'name or code of the type, such as ETICKET or 101',
      required: true,
      choices: TYPES,
    },
    { flags: '--serie <serie>', about: 'serie of the CAE', required: true },
    { flags: '--from <n>', about: 'first number to annul', required: true, wholeNumber: [1, LAST_NUMBER] },
    { flags: '--to <n>', about: 'last number to annul', required: true, wholeNumber: [1, LAST_NUMBER] },
    { flags: '--reason <reason>', about: 'why; kept in the audit', required: true },
    ENVIRONMENT,
  ],
  examples: [
    '219999830019 --type ETICKET --serie A --from 501 --to 600 --reason "printed on paper by mistake"',
  ],
  input: z.strictObject({
    rut: Rut,
    type: z.enum(TYPES),
    serie: z.string(),
    from: z.int(),
    to: z.int(),
    reason: text(REASON_LENGTH),
    environment: z.enum(ENVIRONMENTS).optional(),
  }),
  usageFault: ({ from, to }) => (Number(from) > Number(to) ? '--to must not be below --from' : undefined),
  async run(deps, { type: named, environment = 'production', ...input }) {
    const type = cfeTypeOfCode(Number(named)) ?? (named as CfeType);
    return (await annulNumbers(deps, { ...input, type, environment })).map(rowOf);
  },
});

/** `cfe annulment`: numbers that are no valid CFE and never will be. */
export const annulment: Group = {
  name: 'annulment',
  summary: 'Numbers that are no valid CFE and never will be: which, why, and annulling by hand',
  verbs: [list, add],
};
