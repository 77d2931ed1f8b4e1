import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { RULE_CODES, rulesPage } from '../../../../tools/generate/rules.ts';

const SRC = join(import.meta.dirname, '../../../../src');
/** What requests to the API run through. */
const sources = globSync('{api,commands,crypto,db,domain}/**/*.ts', { cwd: SRC }).map((file) =>
  readFileSync(join(SRC, file), 'utf8'),
);

/** Where a code stands in the sources: as the code of a fault, or handed to what makes one. */
const PLACES: readonly RegExp[] = [
  /\bcode(?::| =|: \w+ =) '([a-z_0-9]+(?:\.[a-z_0-9]+)+)'/g,
  /\b(?:addIssue\(\s*ctx|faultAt\([^()]*?),\s*'([a-z_0-9]+(?:\.[a-z_0-9]+)+)'/g,
  /\b\w*[fF]ault\(\s*'([a-z_0-9]+(?:\.[a-z_0-9]+)+)'/g,
  // A table of rules.
  /^ {2}'([a-z_0-9]+(?:\.[a-z_0-9]+)+)': \{\n {4}checks:/gm,
];

/** What only the command line and the console refuse, by how it begins. */
const NOT_OF_THE_API = [
  'api_key.',
  'code.',
  'credit.changed',
  'delivery.',
  'filter.',
  'invitation.',
  'member.',
  'once.',
  'password.',
  'report.',
  'run.',
  'user.',
  'webhook.',
] as const;

/** What is told, and refuses nothing. */
const WARNINGS: readonly string[] = [
  'enterprise.no_numbers',
  'enterprise.no_issuer_since',
  'enterprise.no_exemption_norm',
  'enterprise.certificate_untrusted',
  'cae.number_before_unknown',
  'cae.first_number_known',
  'extra.unknown_key',
  'export.defaults',
  'totals.exchange_rate_unusual',
  'receiver.nife_is_ci',
  'enterprise.ui_value_estimated',
];

const isNamed = (code: string): boolean =>
  RULE_CODES.includes(code) ||
  WARNINGS.includes(code) ||
  NOT_OF_THE_API.some((start) => code.startsWith(start));

describe('docs/rules.md', () => {
  test('names every code once', () => {
    expect(new Set(RULE_CODES).size).toBe(RULE_CODES.length);
    const page = rulesPage();
    for (const code of RULE_CODES) expect(page.split(`- \`${code}\`: `)).toHaveLength(2);
  });

  test('leaves out none that the sources can emit', () => {
    const codes = sources.flatMap((text) =>
      PLACES.flatMap((place) => [...text.matchAll(place)].map(([, code = '']) => code)),
    );
    // Of each place one.
    for (const code of ['mail.cfe_rejected', 'number.out_of_range', 'cae.malformed', 'branch.taken']) {
      expect(codes).toContain(code);
    }
    expect([...new Set(codes)].filter((code) => !isNamed(code))).toEqual([]);
  });

  test('has codes of every family whose last part the sources fill in', () => {
    const families = sources.flatMap((text) =>
      [...text.matchAll(/code: `([a-z_.]+\.)\$\{/g)].map(([, family = '']) => family),
    );
    expect(families).toContain('totals.');
    const isKnown = (family: string): boolean =>
      RULE_CODES.some((code) => code.startsWith(family)) ||
      NOT_OF_THE_API.some((start) => family.startsWith(start));
    expect(families.filter((family) => !isKnown(family))).toEqual([]);
  });
});
