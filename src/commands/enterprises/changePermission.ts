import type { Enterprise } from '../../db/entities/enterprises.ts';
import { PERMISSIONS, type Permission } from '../../domain/enterprises/enterpriseStatus.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { signalFactsChanged } from '../steps/enterpriseWorkflow.ts';

/**
 * Grants or withdraws an authority permission, for operators, when the authority's answer cannot be read by
 * machine. The next successful login check overwrites it; the login status does not change. Idempotent.
 */
export function changePermission(
  deps: CommandDeps,
  input: { rut: string; permission: Permission; held: boolean; reason: string },
): Promise<Enterprise> {
  const { rut, permission, held, reason } = input;
  const action = held ? 'enterprise.grant_permission' : 'enterprise.withdraw_permission';
  return changeEnterprise(deps, rut, { action, reason }, (em, enterprise, now) => {
    enterprise.permissions = PERMISSIONS.filter((each) =>
      each === permission ? held : enterprise.permissions.includes(each),
    );
    signalFactsChanged(em, rut, now);
    return enterprise;
  });
}
