import type { Enterprise } from '../db/entities/Enterprise.ts';
import { enterpriseCanBecome } from '../domain/enterpriseStatus.ts';
import { Refusal } from '../errors.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import type { CommandDeps } from './steps/deps.ts';
import { tellFactsChanged } from './steps/enterpriseWorkflow.ts';

/**
 * Lifts a suspension: the enterprise goes back to what it was before, and its onboarding looks again. An operator's
 * act. Refuses one that is not suspended (INVALID_INPUT).
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
    tellFactsChanged(em, input.rut, now);
    return enterprise;
  });
}
