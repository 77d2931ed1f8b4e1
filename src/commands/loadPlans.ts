import type { Plan } from '../db/entities/enterprises.ts';
import { listPlans, putPlans } from '../db/payments.ts';
import { amountText } from '../domain/decimal.ts';
import { PlanList, readRows } from '../domain/operatorFiles.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Puts plans on sale from a file: a JSON list of {plan_id, frequency_id, amount, currency}, each in place of the one of
 * the same names; others stay as they are, and so do enterprises that have one. An operator's act. Answers all that
 * are on sale. Refuses a file with faults, all at once (INVALID_INPUT).
 */
export async function loadPlans(deps: CommandDeps, input: { file: string }): Promise<Plan[]> {
  const rows = readRows(PlanList, input.file);
  return deps.orm.em.fork().transactional(async (em) => {
    await putPlans(
      em,
      rows.map(({ plan_id: planId, frequency_id: frequencyId, amount, currency }) => ({
        planId,
        frequencyId,
        amount: amountText(amount),
        currency,
      })),
    );
    const subject = rows.map((row) => `${row.plan_id}/${row.frequency_id}`).join(' ');
    audited(deps, em, { action: 'plan.load', subject }, deps.clock());
    return listPlans(em);
  });
}
