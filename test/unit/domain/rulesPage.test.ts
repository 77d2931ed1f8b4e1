import { describe, expect, test } from '@jest/globals';
import { BODY_RULES } from '../../../src/domain/bodyRules.ts';
import { CAE_RULES } from '../../../src/domain/caeRules.ts';
import { CERTIFICATE_RULES } from '../../../src/domain/certificate.ts';
import { CFE_RULES } from '../../../src/domain/cfeRules.ts';
import { CUSTOMER_RULES } from '../../../src/domain/customerRules.ts';
import { ENTERPRISE_RULES } from '../../../src/domain/enterpriseRules.ts';
import { rulesPage } from '../../../tools/generate/rules.ts';

describe('docs/rules.md', () => {
  test('names every code once', () => {
    const tables = [BODY_RULES, CAE_RULES, CERTIFICATE_RULES, CUSTOMER_RULES, ENTERPRISE_RULES].flatMap(
      (table) => Object.keys(table),
    );
    const codes = [...tables, ...CFE_RULES.map(({ code }) => code)];

    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes) expect(rulesPage().split(`| \`${code}\` |`)).toHaveLength(2);
  });
});
