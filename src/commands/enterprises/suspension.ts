import type { Enterprise } from '../../db/entities/enterprises.ts';
import { enterpriseCanBecome } from '../../domain/enterprises/enterpriseStatus.ts';
import { Refusal } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { signalFactsChanged } from '../steps/enterpriseWorkflow.ts';

/**
 * Keeps an enterprise from issuing until resumed; reads and the sending of stored CFEs continue. Operators
 * only. Throws INVALID_INPUT for a suspended one.
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
 * Lifts a suspension: restores the previous status and lets the onboarding check again. Operators only.
 * Throws INVALID_INPUT unless suspended.
 */
export function resumeEnterprise(
  deps: CommandDeps,
  input: { rut: string; reason?: string | undefined },
): Promise<Enterprise> {
  const why = input.reason === undefined ? {} : { reason: input.reason };
  return changeEnterprise(deps, input.rut, { action: 'enterprise.resume', ...why }, (em, enterprise, now) => {
    const before = enterprise.statusBeforeSuspension ?? null;
    if (before === null || !enterpriseCanBecome(enterprise.status, before)) {
      throw new Refusal('INVALID_INPUT', `The enterprise ${input.rut} is not suspended.`);
    }
    enterprise.status = before;
    enterprise.statusBeforeSuspension = null;
    enterprise.suspensionReason = null;
    signalFactsChanged(em, input.rut, now);
    return enterprise;
  });
}
