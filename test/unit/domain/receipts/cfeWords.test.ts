import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { GENERAL_OUTCOMES, OUTCOMES } from '../../../../src/dgi/outcomes.ts';
import { REPORT_STUCK_REASONS, STUCK_REASONS } from '../../../../src/domain/authority/stuckReason.ts';
import { SUPPORT_REFUSALS } from '../../../../src/domain/operations/supportRefusal.ts';
import { CFE_STATUSES } from '../../../../src/domain/receipts/cfeStatus.ts';
import { OWN_REJECTION_CODES } from '../../../../src/domain/receipts/rejection.ts';
import { answerMeans, CFE_WORDS, REJECTION_CODES, rejectionMeans } from '../../../../src/words/cfeStates.ts';
import { refusalMeans } from '../../../../src/words/refusals.ts';

/** The codes of receipts and sobres. */
const documented = [
  ...readFileSync('docs/authority/sobres.md', 'utf8').matchAll(/^- (?<code>[ES]\d\d):/gm),
].map((match) => match.groups?.['code'] ?? '');

describe('the words for statuses, stuck reasons and rejections', () => {
  test('every code of the authority and every one of ours has words of its own', () => {
    expect(documented.length).toBeGreaterThan(20);
    const codes = [...documented, ...Object.values(OWN_REJECTION_CODES)];
    expect(codes.filter((code) => !REJECTION_CODES.includes(code))).toEqual([]);
  });

  test.each(['en', 'es'] as const)('in %s nothing is empty, and no two labels are alike', (language) => {
    const words = CFE_WORDS[language];
    const labels = [
      ...CFE_STATUSES.map((status) => words.status[status].label),
      ...[...STUCK_REASONS, ...REPORT_STUCK_REASONS].map((reason) => words.stuck[reason].label),
    ];
    expect(new Set(labels).size).toBe(labels.length);
    const all: string[] = JSON.stringify(words).match(/":"[^"]*"/g) ?? [];
    expect(all.filter((text) => text.length < 8)).toEqual([]);
  });

  test('no English is left in Spanish', () => {
    const english = JSON.stringify(CFE_WORDS.en).match(/:"[^"]{12,}"/g) ?? [];
    const spanish = JSON.stringify(CFE_WORDS.es);
    expect(english.filter((text) => spanish.includes(text))).toEqual([]);
    expect(spanish).not.toMatch(/\b(the|then|with|authority's)\b/);
  });

  test('observations and codes that nobody knows are told as such', () => {
    expect(rejectionMeans('C05', CFE_WORDS.en)).toBe(CFE_WORDS.en.observation);
    expect(rejectionMeans('E99', CFE_WORDS.en)).toBe(CFE_WORDS.en.otherRejection);
    expect(rejectionMeans('E05', CFE_WORDS.en)).toContain('format');
  });

  test('every answer that a call for a CFE may bring means something, and codes that no rule covers are told as such', () => {
    const rows = [
      ...OUTCOMES.send,
      ...OUTCOMES.find,
      ...OUTCOMES.findCfe,
      ...OUTCOMES.ask,
      ...GENERAL_OUTCOMES,
    ];
    // What becomes of an answer by our own records, and what is no call.
    const others =
      /^(E02 .*|other (receipt|state)|signed for and not listed|found without a verdict|held back|no key|undecided|code \*)$/;
    const answers = rows.flatMap((row): readonly string[] => row.answers).filter((one) => !others.test(one));
    const { other } = CFE_WORDS.en.answer;
    expect(answers.length).toBeGreaterThan(40);
    expect(answers.filter((answer) => answerMeans(answer, CFE_WORDS.en) === other)).toEqual([]);
    expect(answerMeans('code 777', CFE_WORDS.en)).toBe(other);
  });
});

describe('the words of refusals of support', () => {
  const whys = SUPPORT_REFUSALS.map((code) => ({
    code,
    value: { lately_sent: '2026-11-22T13:05:00.000Z', no_answer: 'code 13', stuck: 'authority.user' }[
      code as string
    ],
  })).map(({ code, value }) => (value === undefined ? { code } : { code, value }));

  test('each has its own in both languages, and no English in Spanish', () => {
    const [english, spanish] = [
      whys.map((why) => refusalMeans(why, 'en')),
      whys.map((why) => refusalMeans(why, 'es')),
    ];
    expect(new Set([...english, ...spanish]).size).toBe(2 * SUPPORT_REFUSALS.length);
    expect(spanish.join(' ')).not.toMatch(/\b(the|then|with|has|not)\b/);
    expect([...english, ...spanish].filter((words) => words.length < 15)).toEqual([]);
  });

  test('moments are told in Montevideo’s time, answers and reasons by what they mean', () => {
    const es = Object.fromEntries(whys.map((why) => [why.code, refusalMeans(why, 'es')]));
    expect(es['lately_sent']).toContain('a partir del 22/11/2026 10:05.');
    expect(es['no_answer']).toContain(`(code 13: ${CFE_WORDS.es.answer['not yet']})`);
    expect(es['stuck']).toContain(CFE_WORDS.es.stuck['authority.user'].means);
  });
});
