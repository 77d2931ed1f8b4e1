import { BODY_RULES, type RuleRow } from '../../src/domain/bodyRules.ts';
import { CAE_RULES } from '../../src/domain/caeRules.ts';
import { CERTIFICATE_RULES } from '../../src/domain/certificate.ts';
import { CFE_RULES } from '../../src/domain/cfeRules.ts';
import { CUSTOMER_RULES } from '../../src/domain/customerRules.ts';
import { ENTERPRISE_RULES } from '../../src/domain/enterpriseRules.ts';

/** docs/rules.md, made from the tables that enforce the rules. */
export function rulesPage(): string {
  return [
    '# The rules and their codes',
    '',
    'Made by `npm run generate` from the tables in `src/domain/` that enforce them.',
    'Every fault of a refused request carries one of these codes in `error.details.fields[].code`, with the place in',
    '`path` (JSON Pointer) and a message like the example. Codes are stable; messages may be improved.',
    '',
    section('Any body', 'What reading a body can find, whatever the endpoint.', Object.entries(BODY_RULES)),
    section(
      'Issuing a CFE',
      'What binds the fields of POST …/cfes together.',
      CFE_RULES.map((rule) => [rule.code, rule]),
    ),
    section('CAE', 'Uploading a CAE, and taking a number from one.', Object.entries(CAE_RULES)),
    section('Certificate', 'Uploading a certificate.', Object.entries(CERTIFICATE_RULES)),
    section('Customer', 'The customers of an enterprise.', Object.entries(CUSTOMER_RULES)),
    section(
      'Enterprise',
      'The state that an enterprise must be in, and its plan.',
      Object.entries(ENTERPRISE_RULES),
    ),
  ].join('\n');
}

function section(title: string, about: string, rules: readonly (readonly [string, RuleRow])[]): string {
  const rows = rules.map(
    ([code, { checks, source, example }]) =>
      `| \`${code}\` | ${cell(checks)} | ${linked(source)} | ${cell(example)} |`,
  );
  return [
    `## ${title}`,
    '',
    about,
    '',
    '| Code | What is checked | Source | Example message |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const cell = (text: string) => text.replaceAll('|', '\\|');

/** A source with its pages as links; the tables name them from the root of the repository, the page stands in docs/. */
const linked = (source: string) =>
  cell(source)
    .replaceAll(/docs\/([\w./-]+\.md(#[\w-]+)?)/g, '[$1]($1)')
    .replaceAll('openapi.json', '[openapi.json](../openapi.json)');
