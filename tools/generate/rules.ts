import type { RuleRow } from '../../src/domain/bodyRules.ts';
import { RULE_TABLES } from '../../src/domain/ruleTables.ts';

/** Every code that the API answers, in the order of the page. @internal exported for tests */
export const RULE_CODES: readonly string[] = RULE_TABLES.flatMap(({ rules }) => rules.map(([code]) => code));

/** docs/rules.md, made from the tables that enforce the rules. */
export function rulesPage(): string {
  return [
    '# The rules and their codes',
    '',
    'Made by `npm run generate` from the tables in `src/domain/` that enforce them.',
    'Every fault of a refused request carries one of these codes in `error.details.fields[].code`, with the place in',
    '`path` (JSON Pointer) and a message like the example. Codes are stable; messages may be improved.',
    '',
    ...RULE_TABLES.map(({ title, about, rules }) => section(title, about, rules)),
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
