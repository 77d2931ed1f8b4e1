import type { RuleRow } from './bodyRules.ts';

/** The rules on issuing for an enterprise and on its plan: rows of docs/rules.md. */
export const ENTERPRISE_RULES = {
  'enterprise.not_ready': {
    checks: 'In production the enterprise is READY; the message names what it lacks.',
    source: 'docs/contract.md#becoming-ready',
    example: 'The enterprise is not READY; it still needs: a valid certificate; a plan.',
  },
  'enterprise.not_authorized': {
    checks:
      'In production an enterprise that is READY has the permission PROD, which the authority may withdraw.',
    source: 'docs/contract.md#becoming-ready',
    example:
      'The enterprise no longer has the permission PROD of the tax authority; have it granted and validate the e-invoicing credentials.',
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
  'plan.unknown': {
    checks: 'plan_id and frequency_id name a plan on sale.',
    source: 'docs/contract.md#plans-and-payments',
    example: 'plan_id, frequency_id: no plan "GOLD" with frequency "MONTHLY" is on sale.',
  },
  'plan.incomplete': {
    checks: 'The first plan of an enterprise is given with its frequency.',
    source: 'docs/contract.md#plans-and-payments',
    example: 'frequency_id: is required with plan_id: the enterprise has no plan yet.',
  },
} as const satisfies Record<string, RuleRow>;
