import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Big } from 'big.js';
import { findBranch, storeLogo } from '../db/enterprises.ts';
import { type Enterprise, Payment, Plan } from '../db/entities/enterprises.ts';
import { recordEvent } from '../db/events.ts';
import type { UpdateEnterprise } from '../domain/enterprise.ts';
import { ENTERPRISE_FIELDS } from '../domain/enterpriseFields.ts';
import { branchTaken, START_DATE_STAYS } from '../domain/enterpriseRules.ts';
import { toStoredChanges } from '../domain/fields.ts';
import { checkoutUrl } from '../domain/payment.ts';
import { paymentCreated } from '../domain/webhookEvents.ts';
import { type Fault, invalidInput } from '../errors.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import type { CommandDeps } from './steps/deps.ts';
import { tellFactsChanged } from './steps/enterpriseWorkflow.ts';

/** What changing a plan needs beside the rest. */
export interface UpdateEnterpriseDeps extends CommandDeps {
  /** Base of the addresses at which plans are paid. */
  readonly checkoutUrl: string;
}

/**
 * Sets what is given of the enterprise's data, plan, frequency and scheduled date; what is left out stays. CFEs that are
 * numbered already keep what they were numbered with; a branch code that another branch has is INVALID_INPUT. Plan and frequency are judged
 * together as they stand afterwards: a pair that is not on sale, or half of one, is INVALID_INPUT. Another plan that
 * costs something is to be paid; what was set already changes nothing when it is set again.
 */
export function updateEnterprise(
  deps: UpdateEnterpriseDeps,
  input: { rut: string; update: UpdateEnterprise },
): Promise<Enterprise> {
  const { rut, update } = input;
  return changeEnterprise(deps, rut, { action: 'enterprise.update' }, async (em, enterprise, now) => {
    const plan = await otherPlan(em, enterprise, update);
    const date = otherDate(enterprise, update);
    await correctData(em, enterprise, update, now);
    if (plan) {
      enterprise.planId = plan.planId;
      enterprise.frequencyId = plan.frequencyId;
      if (Big(plan.amount).gt(0)) await demandPayment(em, deps, { rut, plan, now });
    }
    if (date) enterprise.scheduledReadyDate = date;
    if (plan || date) tellFactsChanged(em, rut, now);
    return enterprise;
  });
}

async function correctData(
  em: EntityManager,
  enterprise: Enterprise,
  update: UpdateEnterprise,
  now: Date,
): Promise<void> {
  const { rut } = enterprise;
  const { branch, logo_b64: logo } = update;
  if (branch !== undefined && branch !== enterprise.branch && (await findBranch(em, { rut, branch }))) {
    throw invalidInput([branchTaken(branch)]);
  }
  em.assign(enterprise, toStoredChanges(ENTERPRISE_FIELDS, update));
  if (logo !== undefined) enterprise.logoSha256 = logo && (await storeLogo(em, logo, now));
}

/** The plan that the update chooses, where it is not the one the enterprise has. */
async function otherPlan(
  em: EntityManager,
  enterprise: Enterprise,
  update: UpdateEnterprise,
): Promise<Plan | undefined> {
  if (update.plan_id === undefined && update.frequency_id === undefined) return undefined;
  const planId = update.plan_id ?? enterprise.planId ?? null;
  const frequencyId = update.frequency_id ?? enterprise.frequencyId ?? null;
  if (planId === null) throw invalidInput([missing('plan_id', 'frequency_id')]);
  if (frequencyId === null) throw invalidInput([missing('frequency_id', 'plan_id')]);
  const plan = await em.findOne(Plan, { planId, frequencyId });
  const at = update.plan_id === undefined ? '/frequency_id' : '/plan_id';
  if (!plan) throw invalidInput([unknownPlan(at, planId, frequencyId)]);
  return planId === enterprise.planId && frequencyId === enterprise.frequencyId ? undefined : plan;
}

function otherDate(enterprise: Enterprise, update: UpdateEnterprise): Date | undefined {
  const date = update.scheduled_ready_date ?? undefined;
  if (update.scheduled_ready_date === null && enterprise.scheduledReadyDate)
    throw invalidInput([START_DATE_STAYS]);
  return date?.getTime() === enterprise.scheduledReadyDate?.getTime() ? undefined : date;
}

function demandPayment(
  em: EntityManager,
  deps: UpdateEnterpriseDeps,
  { rut, plan, now }: { rut: string; plan: Plan; now: Date },
): Promise<void> {
  const id = randomUUID();
  const payment = em.create(Payment, {
    id,
    rut,
    planId: plan.planId,
    frequencyId: plan.frequencyId,
    amount: plan.amount,
    currency: plan.currency,
    status: 'PENDING',
    redirectUrl: checkoutUrl(deps.checkoutUrl, id),
    createdAt: now,
    settledAt: null,
  });
  return recordEvent(em, { rut, environment: 'production' }, paymentCreated(payment), now);
}

function unknownPlan(path: string, planId: string, frequencyId: string): Fault {
  const message = `plan_id, frequency_id: no plan ${JSON.stringify(planId)} with frequency ${JSON.stringify(frequencyId)} is on sale.`;
  return { path, code: 'plan.unknown', message };
}

const missing = (field: string, given: string): Fault => ({
  path: `/${field}`,
  code: 'plan.incomplete',
  message: `${field}: is required with ${given}: the enterprise has no plan yet.`,
});
