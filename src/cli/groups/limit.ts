import * as z from 'zod';
import { setRateLimit } from '../../commands/setRateLimit.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { REASON, Why } from '../reason.ts';
import { defineVerb, type Group } from '../verb.ts';

/** The table could hold more, but beyond this a limit limits nothing. */
const MOST_PER_HOUR = 1_000_000_000;

const set = defineVerb({
  name: 'set',
  summary: 'Set how many requests an hour an account may make',
  args: { ACCOUNT: 'id of the account' },
  options: [
    {
      flags: '--environment <environment>',
      about: 'the environment of the limit',
      required: true,
      choices: ENVIRONMENTS,
    },
    { flags: '--per-hour <n>', about: 'requests an hour', required: true, wholeNumber: [1, MOST_PER_HOUR] },
    REASON,
  ],
  examples: ['0c0e1ab1-0000-4000-8000-000000000001 --environment production --per-hour 5000'],
  input: z.strictObject({
    account: z.string(),
    environment: z.enum(ENVIRONMENTS),
    perHour: z.number(),
    ...Why,
  }),
  async run(deps, { account: accountId, environment, perHour, reason }) {
    const limit = await setRateLimit(deps, { accountId, environment, perHour, reason });
    return { account_id: limit.accountId, environment: limit.environment, per_hour: limit.perHour };
  },
});

/** `cfe limit`: how many requests an hour accounts may make. */
export const limit: Group = {
  name: 'limit',
  summary: 'How many requests an hour accounts may make',
  verbs: [set],
};
