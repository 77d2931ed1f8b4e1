import type { Enterprise } from '../db/entities/enterprises.ts';
import { PERMISSIONS, type Permission } from '../domain/enterpriseStatus.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import type { CommandDeps } from './steps/deps.ts';
import { tellFactsChanged } from './steps/enterpriseWorkflow.ts';

/**
 * Grants a permission of the authority to an enterprise, or withdraws it: an operator's act, where the authority's own
 * answer cannot be had by machine. The status of the e-invoicing login stays as it is; the next check that succeeds puts
 * what it finds in the place of this. Doing it again changes nothing.
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
    tellFactsChanged(em, rut, now);
    return enterprise;
  });
}
