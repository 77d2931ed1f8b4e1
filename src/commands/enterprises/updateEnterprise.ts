import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Big } from 'big.js';
import { findBranch, storeLogo } from '../../db/enterprises/enterprises.ts';
import { type Enterprise, Payment, Plan } from '../../db/entities/enterprises.ts';
import { recordEvent } from '../../db/webhooks/events.ts';
import type { UpdateEnterprise } from '../../domain/enterprises/enterprise.ts';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { branchTaken, START_DATE_STAYS } from '../../domain/enterprises/enterpriseRules.ts';
import { checkoutUrl } from '../../domain/people/payment.ts';
import { toStoredChanges } from '../../domain/requests/fields.ts';
import { paymentCreated } from '../../domain/webhooks/webhookEvents.ts';
import { type Fault, invalidInput } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { signalFactsChanged } from '../steps/enterpriseWorkflow.ts';

/** Dependencies of changing a plan, beyond those of all commands. */
export interface UpdateEnterpriseDeps extends CommandDeps {
  /** Base of the URLs at which plans are paid. */
  readonly checkoutUrl: string;
}

/**
 * Sets the fields in `update` of an enterprise; numbered CFEs keep the old data. A new plan with a price creates a payment.
 * Throws INVALID_INPUT for a branch code in use, for a plan without a frequency or the reverse, and for a combination that
 * is not on sale.
 */
export function updateEnterprise(
  deps: UpdateEnterpriseDeps,
  input: { rut: string; update: UpdateEnterprise },
): Promise<Enterprise> {
  const { rut, update } = input;
  return changeEnterprise(deps, rut, { action: 'enterprise.update' }, async (em, enterprise, now) => {
    const plan = await findNewPlan(em, enterprise, update);
    const date = findNewDate(enterprise, update);
    await updateData(em, enterprise, update, now);
    if (plan) {
      enterprise.planId = plan.planId;
      enterprise.frequencyId = plan.frequencyId;
      if (Big(plan.amount).gt(0)) await createPayment(em, deps, { rut, plan, now });
    }
    if (date) enterprise.scheduledReadyDate = date;
    if (plan || date) signalFactsChanged(em, rut, now);
    return enterprise;
  });
}

async function updateData(
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

/** Returns the plan of the update if it differs from the current one. */
async function findNewPlan(
  em: EntityManager,
  enterprise: Enterprise,
  update: UpdateEnterprise,
): Promise<Plan | undefined> {
  if (update.plan_id === undefined && update.frequency_id === undefined) return undefined;
  const planId = update.plan_id ?? enterprise.planId ?? null;
  const frequencyId = update.frequency_id ?? enterprise.frequencyId ?? null;
  if (planId === null) throw invalidInput([missingField('plan_id', 'frequency_id')]);
  if (frequencyId === null) throw invalidInput([missingField('frequency_id', 'plan_id')]);
  const plan = await em.findOne(Plan, { planId, frequencyId });
  const path = update.plan_id === undefined ? '/frequency_id' : '/plan_id';
  if (!plan) throw invalidInput([unknownPlan(path, planId, frequencyId)]);
  return planId === enterprise.planId && frequencyId === enterprise.frequencyId ? undefined : plan;
}

function findNewDate(enterprise: Enterprise, update: UpdateEnterprise): Date | undefined {
  const date = update.scheduled_ready_date ?? undefined;
  if (update.scheduled_ready_date === null && enterprise.scheduledReadyDate)
    throw invalidInput([START_DATE_STAYS]);
  return date?.getTime() === enterprise.scheduledReadyDate?.getTime() ? undefined : date;
}

function createPayment(
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

const missingField = (field: string, given: string): Fault => ({
  path: `/${field}`,
  code: 'plan.incomplete',
  message: `${field}: is required with ${given}: the enterprise has no plan yet.`,
});
