import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { RULE_TABLES } from '../../src/domain/requests/ruleTables.ts';
import { messageInSpanish } from '../../src/words/errors.ts';
import { MESSAGES_IN_SPANISH, PARTS_IN_SPANISH } from '../../src/words/es/errors.ts';

const ROOT = join(import.meta.dirname, '../..');
const EVERY_ROW = { ...MESSAGES_IN_SPANISH, ...PARTS_IN_SPANISH };

/** What only the console and the command line reach: its messages never leave by the API. */
const NOT_BY_THE_API = [
  'src/commands/authority/',
  'src/commands/operations/',
  'src/commands/people/',
  'src/commands/receipts/creditByHand.ts',
  'src/commands/webhooks/',
  'src/commands/reports/',
  'src/commands/steps/alreadyCreated.ts',
  'src/commands/steps/attempts.ts',
  'src/commands/steps/people.ts',
  'src/commands/numbers/annulNumbers.ts',
  'src/commands/numbers/sandboxCae.ts',
  'src/commands/numbers/skipNumbers.ts',
  'src/commands/enterprises/setIdemisor.ts',
  'src/commands/enterprises/suspension.ts',
  'src/commands/enterprises/transferEnterprise.ts',
  'src/commands/receipts/exports.ts',
  'src/commands/receipts/rates.ts',
  'src/domain/operations/operatorFiles.ts',
  'src/domain/operations/supportAction.ts',
  'src/domain/receipts/receiptExport.ts',
  'src/domain/webhooks/',
  // Reasons of a verdict, no refusals.
  'src/domain/receipts/rejection.ts',
  'src/api/openapi/',
];

const sources = [
  ...globSync('src/{api,commands,domain}/**/*.ts', { cwd: ROOT }),
  'src/crypto/pkcs12.ts',
  'src/dgi/rutLookUp.ts',
].toSorted();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Where messages begin: a refusal, the words of a rule or of a value, a fault. */
const STARTS = [
  String.raw`new Refusal\(\s*'[A-Z_]+',\s*`,
  String.raw`addIssue\(\s*ctx,\s*'[\w.]+',\s*`,
  String.raw`faultAt\([^()]*?'[a-z_]+\.[a-z_]+',\s*`,
  String.raw`\b(?:words|message)(?:: |\s*=\s*)`,
  String.raw`caeFault\('[\w.]+',\s*`,
];
const LITERAL = '(`(?:[^`\\\\]|\\\\.)*`|\'(?:[^\'\\\\\\n]|\\\\.)*\'|"(?:[^"\\\\\\n]|\\\\.)*")';
const MESSAGE = new RegExp(`(?:${STARTS.join('|')})${LITERAL}`, 'g');

/** Returns a literal as its reader gets it, with 7 for every value. */
const asSent = (literal: string): string =>
  literal
    .slice(1, -1)
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '7')
    .replaceAll(/\\(['"`])/g, '$1');

const messagesIn = (file: string): string[] =>
  [...read(file).matchAll(MESSAGE)]
    .map(([, literal = '']) => asSent(literal))
    // Without those that begin with a value, which are put together from parts.
    .filter((message) => message.includes(' ') && message.endsWith('.') && !/^7[,; ]/.test(message))
    // Faults without a field begin with a capital (`faultAt`).
    .map((message) =>
      message.startsWith('at least') || message.startsWith('the body') ? capital(message) : message,
    );

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

describe('what the API refuses or warns of is also said in Spanish (src/words/es/errors.ts)', () => {
  test('every rule’s example', () => {
    const rows = RULE_TABLES.flatMap(({ rules }) => rules);
    expect(rows.length).toBeGreaterThan(100);
    const missing = rows.filter(([, { example }]) => messageInSpanish(example) === null);
    expect(missing.map(([code, { example }]) => `${code}: ${example}`)).toEqual([]);
  });

  test('every message in the code', () => {
    const found = sources
      .filter((file) => !NOT_BY_THE_API.some((prefix) => file.startsWith(prefix)))
      .flatMap((file) => messagesIn(file).map((message) => ({ file, message })));
    expect(found.length).toBeGreaterThan(150);
    const missing = found.filter(({ message }) => messageInSpanish(message) === null);
    expect(missing.map(({ file, message }) => `${file}: ${message}`)).toEqual([]);
  });

  test('no English is left in the examples of rules', () => {
    const english = /(?<!["\w])(?:the|must|is|found|none|with|without|field|and|lines)(?!["\w])/i;
    const left = RULE_TABLES.flatMap(({ rules }) => rules)
      .map(([, { example }]) => messageInSpanish(example)?.replaceAll(/"[^"]*"|lines\[/g, '') ?? '')
      .filter((message) => english.test(message));
    expect(left).toEqual([]);
  });

  test('a row has the values of its English', () => {
    const wrong = Object.entries(EVERY_ROW).filter(([english, spanish]) => {
      const values = english.split('{}').length - 1;
      const named = new Set(spanish.match(/\{\d\}/g));
      return named.size !== values || !Array.from(named).every((name) => Number(name[1]) <= values);
    });
    expect(wrong.map(([english]) => english)).toEqual([]);
  });

  test('every row is of a message that exists', () => {
    const text = [...sources, ...globSync('src/http/*.ts', { cwd: ROOT }), 'src/errors.ts']
      .map(read)
      .join('\n')
      .replaceAll(/\\(['"`])/g, '$1');
    const unused = Object.keys(EVERY_ROW).filter((english) => {
      // Some messages are put together from parts.
      const pieces = english.replace(/^The body /, '').split(/\{\}|[;:(),.?]| but /);
      const longest = pieces.toSorted((a, b) => b.length - a.length)[0] ?? '';
      return !text.toLowerCase().includes(longest.trim().toLowerCase());
    });
    expect(unused).toEqual([]);
  });
});
