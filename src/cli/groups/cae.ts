import * as z from 'zod';
import { uploadCae } from '../../commands/uploadCae.ts';
import { listCaes } from '../../db/caes.ts';
import { findEnterprise } from '../../db/enterprises.ts';
import { usedLately } from '../../db/warnings.ts';
import { caeStatus } from '../../domain/cae.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { caeObject } from '../../domain/enterpriseObject.ts';
import { montevideoDate } from '../../domain/montevideo.ts';
import { Rut } from '../../domain/rut.ts';
import { daysLeft } from '../../domain/warnings.ts';
import { Refusal } from '../../errors.ts';
import { defineVerb, type Group } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise' };
const LAST_NUMBER = 9_999_999;
const ENVIRONMENT = {
  flags: '--environment <environment>',
  about: 'default: production',
  choices: ENVIRONMENTS,
} as const;

const list = defineVerb({
  name: 'list',
  summary: 'List the CAEs of an enterprise, with the numbers and days that are left',
  reads: true,
  args: ARGS,
  options: [
    ENVIRONMENT,
    { flags: '--status <status>', about: 'only with this status', choices: ['OK', 'EXPIRED'] },
  ],
  columns: [
    'cfe_type',
    'series',
    'number_start',
    'number_end',
    'last_number',
    'numbers_left',
    'days_left',
    'expiration_date',
    'status',
  ],
  examples: ['219999830019', '219999830019 --status OK --json'],
  input: z.strictObject({
    rut: Rut,
    environment: z.enum(ENVIRONMENTS).optional(),
    status: z.enum(['OK', 'EXPIRED']).optional(),
  }),
  async run({ orm, clock }, { rut, environment = 'production', status }) {
    const [em, now] = [orm.em.fork(), clock()];
    if (!(await findEnterprise(em, rut)))
      throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const used = environment === 'production' ? (await usedLately(em, [rut], now)).get(rut) : undefined;
    return (await listCaes(em, rut, environment))
      .filter((cae) => status === undefined || caeStatus(cae, montevideoDate(now)) === status)
      .map((cae) => ({
        ...caeObject(cae, now),
        numbers_left: cae.numbersLeft,
        days_left: daysLeft(cae.numbersLeft, used?.get(cae.type) ?? 0),
      }));
  },
});

const upload = defineVerb({
  name: 'upload',
  summary: 'Take a CAE from the file that the authority signed',
  args: { ...ARGS, FILE: 'the XML of the CAE' },
  options: [
    {
      flags: '--start <n>',
      about: 'the first number to use: that of the CAE, unless some were used elsewhere',
      required: true,
      wholeNumber: [1, LAST_NUMBER],
    },
    ENVIRONMENT,
  ],
  examples: ['219999830019 cae-101.xml --start 1'],
  input: z.strictObject({
    rut: Rut,
    file: z.string(),
    start: z.int(),
    environment: z.enum(ENVIRONMENTS).optional(),
  }),
  async run(deps, { rut, file, start: startNumber, environment = 'production' }) {
    const cae = await uploadCae(deps, { rut, file: deps.readBytes(file), startNumber, environment });
    return caeObject(cae, deps.clock());
  },
});

/** `cfe cae`: the numbers that the authority granted. */
export const cae: Group = {
  name: 'cae',
  summary: 'The ranges of numbers that the authority granted to enterprises',
  verbs: [list, upload],
};
