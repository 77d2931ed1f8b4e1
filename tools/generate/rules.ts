import { BODY_RULES, type RuleRow } from '../../src/domain/bodyRules.ts';
import { CAE_RULES } from '../../src/domain/caeRules.ts';
import { CERTIFICATE_RULES } from '../../src/domain/certificate.ts';
import { CFE_RULES } from '../../src/domain/cfeRules.ts';
import { CUSTOMER_RULES } from '../../src/domain/customerRules.ts';
import { ENTERPRISE_RULES } from '../../src/domain/enterpriseRules.ts';
import { REQUEST_RULES } from '../../src/domain/requestRules.ts';

/** The sections of the page: title, what it is about, and the rules by their codes. */
const SECTIONS: readonly [title: string, about: string, rules: readonly (readonly [string, RuleRow])[]][] = [
  ['Any body', 'What reading a body can find, whatever the endpoint.', Object.entries(BODY_RULES)],
  [
    'Any request',
    'What can be wrong with headers and query, and with what a request names.',
    Object.entries(REQUEST_RULES),
  ],
  [
    'Issuing a CFE',
    'What binds the fields of POST …/cfes together.',
    CFE_RULES.map((rule) => [rule.code, rule]),
  ],
  ['CAE', 'Uploading a CAE, and taking a number from one.', Object.entries(CAE_RULES)],
  ['Certificate', 'Uploading a certificate.', Object.entries(CERTIFICATE_RULES)],
  ['Customer', 'The customers of an enterprise.', Object.entries(CUSTOMER_RULES)],
  ['Enterprise', 'The state that an enterprise must be in, and its plan.', Object.entries(ENTERPRISE_RULES)],
];

/** Every code that the API answers, in the order of the page. @internal exported for tests */
export const RULE_CODES: readonly string[] = SECTIONS.flatMap(([, , rules]) => rules.map(([code]) => code));

/** docs/rules.md, made from the tables that enforce the rules. */
export function rulesPage(): string {
  return [
    '# The rules and their codes',
    '',
    'Made by `npm run generate` from the tables in `src/domain/` that enforce them.',
    'Every fault of a refused request carries one of these codes in `error.details.fields[].code`, with the place in',
    '`path` (JSON Pointer) and a message like the example. Codes are stable; messages may be improved.',
    '',
    ...SECTIONS.map((one) => section(...one)),
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
