import type { EntityManager } from '@mikro-orm/postgresql';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { beginService, findLastService } from '../../db/reports/providerReports.ts';
import { enterpriseCanBecome } from '../../domain/enterprises/enterpriseStatus.ts';
import { periodOf } from '../../domain/reports/providerReport.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { signalFactsChanged } from '../steps/enterpriseWorkflow.ts';

/**
 * Stops an enterprise from issuing until it is resumed; reads and the sending of stored CFEs continue. Operators only.
 * Throws INVALID_INPUT for a suspended enterprise.
 */
export function suspendEnterprise(
  deps: CommandDeps,
  input: { rut: string; reason: string },
): Promise<Enterprise> {
  return changeEnterprise(
    deps,
    input.rut,
    { action: 'enterprise.suspend', reason: input.reason },
    (_em, enterprise) => {
      const { status } = enterprise;
      if (status === 'SUSPENDED' || !enterpriseCanBecome(status, 'SUSPENDED')) {
        throw new Refusal('INVALID_INPUT', `The enterprise ${input.rut} is already suspended.`);
      }
      enterprise.statusBeforeSuspension = status;
      enterprise.suspensionReason = input.reason;
      enterprise.status = 'SUSPENDED';
      return enterprise;
    },
  );
}

/**
 * Ends the contract with an enterprise today: it stays suspended, and the operator's report of the month names it.
 * Operators only. Idempotent. Throws INVALID_INPUT for an enterprise that never became READY.
 */
export function endEnterprise(
  deps: CommandDeps,
  input: { rut: string; reason: string },
): Promise<Enterprise> {
  return changeEnterprise(
    deps,
    input.rut,
    { action: 'enterprise.end', reason: input.reason },
    async (em, enterprise, now) => {
      const service = await findLastService(em, input.rut);
      if (!service) {
        const message = `The enterprise ${input.rut} was never READY: nothing ends; it can be suspended.`;
        throw new Refusal('INVALID_INPUT', message);
      }
      if (service.endedOn !== null) return enterprise;
      service.endedOn = montevideoDate(now);
      if (enterprise.status !== 'SUSPENDED') {
        enterprise.statusBeforeSuspension = enterprise.status;
        enterprise.status = 'SUSPENDED';
      }
      enterprise.suspensionReason = input.reason;
      return enterprise;
    },
  );
}

/** Undoes an end in the same month, which no report has named yet; after the month the enterprise begins again today. */
async function serveAgain(em: EntityManager, rut: string, today: string): Promise<void> {
  const last = await findLastService(em, rut);
  if (!last || last.endedOn === null) return;
  if (periodOf(last.endedOn) === periodOf(today)) last.endedOn = null;
  else await beginService(em, rut, today);
}

/**
 * Lifts a suspension: restores the previous status, and makes the onboarding check again. Operators only. Throws
 * INVALID_INPUT for an enterprise that is not suspended.
 */
export function resumeEnterprise(
  deps: CommandDeps,
  input: { rut: string; reason?: string | undefined },
): Promise<Enterprise> {
  const why = input.reason === undefined ? {} : { reason: input.reason };
  return changeEnterprise(
    deps,
    input.rut,
    { action: 'enterprise.resume', ...why },
    async (em, enterprise, now) => {
      const before = enterprise.statusBeforeSuspension ?? null;
      if (before === null || !enterpriseCanBecome(enterprise.status, before)) {
        throw new Refusal('INVALID_INPUT', `The enterprise ${input.rut} is not suspended.`);
      }
      enterprise.status = before;
      enterprise.statusBeforeSuspension = null;
      enterprise.suspensionReason = null;
      signalFactsChanged(em, input.rut, now);
      if (before === 'READY') await serveAgain(em, input.rut, montevideoDate(now));
      return enterprise;
    },
  );
}
