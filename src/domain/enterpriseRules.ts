import type { RuleRow } from './bodyRules.ts';

/** What may keep an enterprise from issuing, and from getting its plan: the rows of the rules page. */
export const ENTERPRISE_RULES = {
  'enterprise.not_ready': {
    checks: 'In production the enterprise is READY; what it lacks is named.',
    source: 'decisions.md §1, §3',
    example: 'The enterprise is not READY; it lacks: a valid certificate; a plan.',
  },
  'enterprise.suspended': {
    checks: 'The enterprise is not suspended.',
    source: 'decisions.md §3',
    example: 'The enterprise is suspended and cannot issue; its CFEs can be read.',
  },
  'enterprise.certificate_missing': {
    checks: 'The enterprise has a certificate to sign with.',
    source: 'decisions.md §3, §4',
    example: 'The enterprise has no certificate to sign with; upload one.',
  },
  'enterprise.certificate_expired': {
    checks: 'The certificate of the enterprise has not expired.',
    source: 'decisions.md §3, §4',
    example: 'The certificate of the enterprise has expired; upload a new one.',
  },
  'plan.unknown': {
    checks: 'plan_id and frequency_id name a plan that is on sale.',
    source: 'decisions.md §3',
    example: 'plan_id, frequency_id: no plan "GOLD" with frequency "MONTHLY" is on sale.',
  },
  'plan.incomplete': {
    checks: 'The first plan of an enterprise is named with its frequency.',
    source: 'decisions.md §3',
    example: 'frequency_id: is missing; plan_id is given, and the enterprise has no plan yet.',
  },
} as const satisfies Record<string, RuleRow>;
