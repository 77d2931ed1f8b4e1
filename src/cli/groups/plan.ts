import * as z from 'zod';
import { loadPlans } from '../../commands/loadPlans.ts';
import type { Plan } from '../../db/entities/Plan.ts';
import { listPlans } from '../../db/plans.ts';
import { exactNumber } from '../../domain/exactNumber.ts';
import { defineVerb, type Group } from '../verb.ts';

const row = ({ planId, frequencyId, amount, currency }: Plan) => ({
  plan_id: planId,
  frequency_id: frequencyId,
  amount: exactNumber(amount),
  currency,
});

const list = defineVerb({
  name: 'list',
  summary: 'List all plans on sale',
  reads: true,
  examples: ['', '--json'],
  input: z.strictObject({}),
  async run({ orm }) {
    return (await listPlans(orm.em.fork())).map(row);
  },
});

const load = defineVerb({
  name: 'load',
  summary: 'Put plans on sale, or change their prices',
  args: { FILE: 'JSON: [{"plan_id", "frequency_id", "amount", "currency"}]' },
  examples: ['plans.json'],
  input: z.strictObject({ file: z.string() }),
  async run(deps, { file }) {
    return (await loadPlans(deps, { file: deps.readFile(file) })).map(row);
  },
});

/** `cfe plan`: plans and their prices. */
export const plan: Group = { name: 'plan', summary: 'Plans and their prices', verbs: [list, load] };
