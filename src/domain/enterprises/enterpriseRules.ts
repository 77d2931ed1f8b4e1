import type { Fault } from '../../errors.ts';
import type { RuleRow } from '../requests/bodyRules.ts';

/** The rules on enterprises that issue, their branches, plans and test runs: rows of docs/rules.md. */
export const ENTERPRISE_RULES = {
  'enterprise.not_ready': {
    checks: 'In production the enterprise is READY; the message lists what is missing.',
    source: 'docs/contract.md#becoming-ready',
    example: 'The enterprise is not READY; it still needs: a valid certificate; a plan.',
  },
  'enterprise.not_authorized': {
    checks: 'In production a READY enterprise still has the permission PROD.',
    source: 'docs/contract.md#becoming-ready',
    example:
      'The enterprise no longer has the permission PROD of the tax authority; have it granted and validate the e-invoicing credentials.',
  },
  'enterprise.not_yet': {
    checks:
      'In production an enterprise from another system issues, and dates CFEs, from its first day here on.',
    source: 'docs/contract.md#migrating',
    example: 'The enterprise issues here from 2026-12-01 on: neither today nor emission_date may be earlier.',
  },
  'enterprise.suspended': {
    checks: 'The enterprise is not suspended.',
    source: 'docs/contract.md#suspension',
    example: 'The enterprise is suspended and cannot issue; its CFEs can still be read.',
  },
  'enterprise.certificate_missing': {
    checks: 'The enterprise has a certificate to sign with.',
    source: 'docs/contract.md#certificate',
    example: 'The enterprise has no certificate; upload one.',
  },
  'enterprise.certificate_expired': {
    checks: 'The certificate of the enterprise has not expired.',
    source: 'docs/contract.md#certificate',
    example: 'The certificate of the enterprise has expired; upload a new one.',
  },
  'enterprise.certificate_revoked': {
    checks: 'The certificate of the enterprise was not revoked.',
    source: 'docs/contract.md#certificate; Formato CFE v25.2, zone I',
    example: 'The certificate of the enterprise was revoked by its authority; upload a new one.',
  },
  'enterprise.start_date_stays': {
    checks: 'A start date can be changed, not removed.',
    source: 'docs/contract.md#writing-back',
    example: 'scheduled_ready_date: cannot be removed once it is set; give another date.',
  },
  'branch.unknown': {
    checks: 'extra.branch is the code of an open branch.',
    source: 'docs/contract.md#branches; Formato CFE v25.2, zone A, field 47',
    example: 'extra.branch: 7 is not an open branch of the enterprise; GET …/branches lists them.',
  },
  'branch.taken': {
    checks: 'No two branches have the same code.',
    source: 'docs/contract.md#branches',
    example: 'branch: 7 is another branch of the enterprise.',
  },
  'branch.first': {
    checks: 'The first branch cannot be deleted.',
    source: 'docs/contract.md#branches',
    example:
      'branch: 1 is the enterprise’s first branch, which cannot be deleted; PUT /enterprises/{rut} changes it.',
  },
  'homologation.each': {
    checks: 'Only a TESTING run says how many receipts of each type it issues.',
    source: 'docs/contract.md#test-run',
    example: 'each: must be omitted for SIMULATION, which issues one of each type.',
  },
  'homologation.original_missing': {
    checks: 'A test run with notes has the type that they correct.',
    source: 'docs/contract.md#test-run; Formato Mensaje de Respuesta v19, code E12',
    example: 'cfe_types[0]: ETICKET_NC corrects receipts of type ETICKET: add ETICKET to the run.',
  },
  'plan.unknown': {
    checks: 'plan_id and frequency_id belong to a plan on sale.',
    source: 'docs/contract.md#plans-and-payments',
    example: 'plan_id, frequency_id: no plan "GOLD" with frequency "MONTHLY" is on sale.',
  },
  'plan.incomplete': {
    checks: 'The first plan of an enterprise comes with its frequency.',
    source: 'docs/contract.md#plans-and-payments',
    example: 'frequency_id: is required with plan_id: the enterprise has no plan yet.',
  },
} as const satisfies Record<string, RuleRow>;

/** Creates the fault of an unknown or closed branch. */
export function unknownBranch(branch: number): Fault {
  const message = `extra.branch: ${branch} is not an open branch of the enterprise; GET …/branches lists them.`;
  return { path: '/extra/branch', code: 'branch.unknown', message };
}

/** The fault of removing a start date. */
export const START_DATE_STAYS: Fault = {
  path: '/scheduled_ready_date',
  code: 'enterprise.start_date_stays' satisfies keyof typeof ENTERPRISE_RULES,
  message: 'scheduled_ready_date: cannot be removed once it is set; give another date.',
};

/** Creates the fault of giving the first branch the code of another branch. */
export function branchTaken(branch: number): Fault {
  return {
    path: '/branch',
    code: 'branch.taken',
    message: `branch: ${branch} is another branch of the enterprise.`,
  };
}

/** Creates the fault of deleting the first branch. */
export function firstBranchStays(branch: number): Fault {
  const message = `branch: ${branch} is the enterprise’s first branch, which cannot be deleted; PUT /enterprises/{rut} changes it.`;
  return { path: '/path/branch', code: 'branch.first', message };
}
