import { insertEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import type { CreateEnterprise } from '../domain/enterprise.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { startOnboarding } from './steps/enterpriseWorkflow.ts';

/**
 * Registers an enterprise as PENDING, owned by the calling account, and starts its onboarding. Refuses a RUT that is
 * registered already, by whomever (ALREADY_EXISTS).
 */
export async function createEnterprise(
  deps: CommandDeps,
  input: { accountId: string; enterprise: CreateEnterprise },
): Promise<Enterprise> {
  const { accountId, enterprise: body } = input;
  const enterprise = await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const created = await insertEnterprise(em, {
      rut: body.rut,
      ownerAccountId: accountId,
      legalName: body.legal_name,
      tradeName: body.trade_name ?? null,
      departmentName: body.department_name,
      localityName: body.locality_name,
      streetName: body.street_name,
      branch: body.branch,
      phoneNumber: body.phone_number ?? null,
      email: null,
      website: null,
      issuerSince: null,
      resolution: null,
      logoSha256: null,
      isNewEnterprise: body.is_new_enterprise ?? false,
      status: 'PENDING',
      statusBeforeSuspension: null,
      suspensionReason: null,
      scheduledReadyDate: null,
      planId: null,
      frequencyId: null,
      efacturaStatus: 'NOT_VALIDATED',
      loginStatus: 'NOT_ATTEMPTED',
      permissions: [],
      lastValidatedAt: null,
      sealedLogin: null,
      expiriesToldAt: null,
      createdAt: now,
    });
    if (!created) {
      throw new Refusal('ALREADY_EXISTS', `An enterprise with RUT ${body.rut} is already registered.`);
    }
    startOnboarding(em, created.rut, now);
    const { rut } = created;
    audited(deps, em, { action: 'enterprise.create', subject: rut, rut, accountId }, now);
    return created;
  });
  deps.outbox.dispatchSoon();
  return enterprise;
}
