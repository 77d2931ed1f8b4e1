import * as z from 'zod';
import { requeue as requeueCommand } from '../../commands/requeue.ts';
import { skipNumbers as skipNumbersCommand } from '../../commands/skipNumbers.ts';
import { CFE_TYPES, type CfeType, ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { Rut } from '../../domain/rut.ts';
import { text } from '../../domain/text.ts';
import { defineVerb, type Group } from '../verb.ts';

const TYPES = Object.keys(CFE_TYPES) as [CfeType, ...CfeType[]];
const Reason = text(500);
const REASON = { flags: '--reason <reason>', about: 'why; kept in the audit', required: true } as const;
const DRY_RUN = { flags: '--dry-run', about: 'only show what would be done' } as const;
const LAST_NUMBER = 9_999_999;

const requeue = defineVerb({
  name: 'requeue',
  summary: 'Start again everything that has not ended; what still runs is left alone',
  options: [{ flags: '--rut <rut>', about: 'only what belongs to this enterprise' }, REASON, DRY_RUN],
  examples: ['--dry-run --reason "look"', '--reason "Temporal begun anew"', '--rut 219999830019 --reason T'],
  input: z.strictObject({ rut: Rut.optional(), reason: Reason, dryRun: z.literal(true).optional() }),
  async run(deps, { dryRun = false, ...input }) {
    return (await requeueCommand(deps, { ...input, dryRun })).map((row) => ({ ...row }));
  },
});

const skipNumbers = defineVerb({
  name: 'skip-numbers',
  summary: 'Move numbering past numbers that the authority has, asking it about each; never back',
  args: { RUT: 'RUT of the enterprise', CFE_TYPE: `one of ${TYPES.join(', ')}` },
  options: [
    { flags: '--to <n>', about: 'last number to skip', required: true, wholeNumber: [1, LAST_NUMBER] },
    { flags: '--environment <environment>', about: 'default: production', choices: ENVIRONMENTS },
    REASON,
    DRY_RUN,
  ],
  examples: [
    '219999830019 ETICKET --to 180 --dry-run --reason "look"',
    '219999830019 ETICKET --to 180 --reason "restored to 14:05"',
  ],
  input: z.strictObject({
    rut: Rut,
    cfe_type: z.enum(TYPES),
    to: z.int(),
    environment: z.enum(ENVIRONMENTS).optional(),
    reason: Reason,
    dryRun: z.literal(true).optional(),
  }),
  async run(deps, { rut, cfe_type: type, to, environment = 'production', reason, dryRun = false }) {
    const askAuthority = deps.askAuthority();
    const input = { rut, type, to, environment, reason, dryRun };
    return (await skipNumbersCommand({ ...deps, askAuthority }, input)).map((row) => ({ ...row }));
  },
});

/** `cfe recovery`: after a database or Temporal was lost or restored (docs/backup.md). */
export const recovery: Group = {
  name: 'recovery',
  summary: 'After a restore: start again what was under way, move numbering on',
  verbs: [requeue, skipNumbers],
};
