import { hasMoreUncertifiedThan, insertEnterprise } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { takeAdvisoryLock } from '../../db/sql.ts';
import type { CreateEnterprise } from '../../domain/enterprises/enterprise.ts';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { USUAL_CAPS } from '../../domain/people/caps.ts';
import { toStoredFields } from '../../domain/requests/fields.ts';
import type { RequestRule } from '../../domain/requests/requestRules.ts';
import { invalidInput, Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { startOnboarding } from '../steps/enterpriseWorkflow.ts';

/**
 * Registers an enterprise as PENDING, owned by the calling account, and starts its onboarding. Throws
 * ALREADY_EXISTS for a registered RUT, and INVALID_INPUT for more enterprises without a certificate than an
 * account may have.
 */
export async function createEnterprise(
  deps: CommandDeps,
  input: { accountId: string; enterprise: CreateEnterprise },
): Promise<Enterprise> {
  const { accountId, enterprise: body } = input;
  const { unprovenEnterprises: most } = deps.caps ?? USUAL_CAPS;
  const enterprise = await deps.orm.em.fork().transactional(async (em) => {
    await takeAdvisoryLock(em, `enterprises of ${accountId}`);
    const now = deps.clock();
    const created = await insertEnterprise(em, {
      rut: body.rut,
      ownerAccountId: accountId,
      ...toStoredFields(ENTERPRISE_FIELDS, body),
      migratedOn: null,
      vatUpToDate: true,
      smallTickets: 'SEND',
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
      listedIssuer: null,
      lastValidatedAt: null,
      sealedLogin: null,
      expiriesToldAt: null,
      createdAt: now,
    });
    if (!created) {
      throw new Refusal('ALREADY_EXISTS', `An enterprise with RUT ${body.rut} is already registered.`);
    }
    if (await hasMoreUncertifiedThan(em, accountId, most)) {
      const code: RequestRule = 'enterprise.too_many_unproven';
      const message = `The account has ${most} enterprises without a certificate, the maximum; upload a certificate for one of them first.`;
      throw invalidInput([{ path: '', code, message }]);
    }
    startOnboarding(em, created.rut, now);
    const { rut } = created;
    auditAct(deps, em, { action: 'enterprise.create', subject: rut, rut, accountId }, now);
    return created;
  });
  deps.outbox.scheduleDispatch();
  return enterprise;
}
