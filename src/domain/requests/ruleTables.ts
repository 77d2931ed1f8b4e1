/** All rules on requests by code, in the order of the pages that show them. */

import { CERTIFICATE_RULES } from '../enterprises/certificate.ts';
import { CUSTOMER_RULES } from '../enterprises/customerRules.ts';
import { ENTERPRISE_RULES } from '../enterprises/enterpriseRules.ts';
import { CAE_RULES } from '../numbers/caeRules.ts';
import { CFE_RULES } from '../receipts/cfeRules.ts';
import { BODY_RULES, type RuleRow } from './bodyRules.ts';
import { REQUEST_RULES } from './requestRules.ts';

interface RuleTable {
  readonly title: string;
  readonly description: string;
  readonly rules: readonly (readonly [code: string, row: RuleRow])[];
}

export const RULE_TABLES: readonly RuleTable[] = [
  {
    title: 'Any body',
    description: 'Rules on the body of every endpoint.',
    rules: Object.entries(BODY_RULES),
  },
  {
    title: 'Any request',
    description: 'Rules on headers, query and the objects that a request refers to.',
    rules: Object.entries(REQUEST_RULES),
  },
  {
    title: 'Issuing a CFE',
    description: 'Rules on several fields of POST …/cfes.',
    rules: CFE_RULES.map((rule) => [rule.code, rule] as const),
  },
  {
    title: 'CAE',
    description: 'Uploading a CAE, and taking a number from it.',
    rules: Object.entries(CAE_RULES),
  },
  { title: 'Certificate', description: 'Uploading a certificate.', rules: Object.entries(CERTIFICATE_RULES) },
  {
    title: 'Customer',
    description: 'The customers of an enterprise.',
    rules: Object.entries(CUSTOMER_RULES),
  },
  {
    title: 'Enterprise',
    description: 'The required state of an enterprise, its plan, its branches and its test runs.',
    rules: Object.entries(ENTERPRISE_RULES),
  },
];
