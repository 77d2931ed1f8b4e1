import { describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/api/openapi/document.ts';
import { readExamples } from '../../../src/api/openapi/examples.ts';
import { referenceParts } from '../../../src/api/openapi/referenceParts.ts';
import { LONG_CHARACTERS, type PageTask, writePage } from '../../../src/api/receipts/drawPage.ts';
import { utf8Pieces } from '../../../src/api/receipts/receiptFiles.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import type { CfeDocument, Line } from '../../../src/domain/receipts/cfeDocument.ts';
import { CODE_VARIANTS, GUIDE_LANGUAGES, SLUGS } from '../../../src/handbook/guides.ts';
import { createSearch, guidePage, indexPage, notFoundPage } from '../../../src/handbook/site.ts';
import { verificationPage } from '../../../src/page/verificationPage.ts';
import { aReceiptOf } from '../../support/print/samples.ts';
import { processorMilliseconds } from '../../support/processes/processorTime.ts';

/** What anybody may ask without a key holds the event loop no longer, or others would wait for it. */
const MOST_MILLISECONDS = 10;
const RUNS = 20;

/** Of the processor, in the best of some runs: the first ones compile, and collecting garbage counts as well. */
const cost = (work: () => unknown): number =>
  Math.min(...Array.from({ length: RUNS }, () => processorMilliseconds(work)));

const visits = GUIDE_LANGUAGES.flatMap((language) =>
  CODE_VARIANTS.map((code) => ({ base: '/v1/docs', language, code }) as const),
);
const LINES = 700;
const LOGO = `data:image/png;base64,${'A'.repeat(Math.ceil((64 * 1024 * 4) / 3))}`;

/** An e-Ticket with as many lines as a page may have that is written at once. */
function longestAtOnce(line: Partial<Line>): string {
  const document: CfeDocument = aReceiptOf('ETICKET', 1);
  const [first] = document.lines;
  if (!first) throw new Error('the sample has no line');
  const jsonOf = (count: number): string =>
    JSON.stringify({ ...document, lines: Array.from({ length: count }, () => ({ ...first, ...line })) });
  let json = jsonOf(1);
  for (let count = 2; jsonOf(count).length <= LONG_CHARACTERS; count += 1) json = jsonOf(count);
  return json;
}

describe('what needs no key costs at most 10 ms of the event loop:', () => {
  const search = createSearch(referenceParts(openApiDocument(ROUTES, readExamples())));

  test.each([
    ['fifty words', 'a '.repeat(50)],
    ['eight words that are everywhere', 'e a o s n r i l'],
    ['eight that are within words and begin few', 'x w k z y j q h'],
    ['a word that nothing has', 'z'.repeat(100)],
  ])('a search for %s', (_, query) => {
    for (const visit of visits) expect(cost(() => search(visit, query))).toBeLessThan(MOST_MILLISECONDS);
  });

  test.each(SLUGS)('the guide %s', (slug) => {
    for (const visit of visits) expect(cost(() => guidePage(visit, slug))).toBeLessThan(MOST_MILLISECONDS);
  });

  test('the list of guides, and the page where none is', () => {
    for (const visit of visits) {
      expect(cost(() => indexPage(visit))).toBeLessThan(MOST_MILLISECONDS);
      expect(cost(() => notFoundPage(visit))).toBeLessThan(MOST_MILLISECONDS);
    }
  });

  test.each([
    ['many lines', { name: 'x' }],
    ['long names', { name: '&'.repeat(80) }],
    ['long descriptions', { description: '<'.repeat(1_000) }],
    ['signs of two halves', { description: '🦜'.repeat(500) }],
  ])('the page of a receipt that is just not too long to be written at once: %s', (_, line) => {
    const json = longestAtOnce(line);
    expect(json.length).toBeGreaterThan(LONG_CHARACTERS * 0.9);
    const task: PageTask = {
      json,
      environment: 'sandbox',
      status: 'REJECTED',
      digest: 'aB+/9z12345678901234567890=',
      receiptToken: 'x'.repeat(22),
      logo: LOGO,
    };
    expect(cost(() => writePage(task))).toBeLessThan(MOST_MILLISECONDS);
  });

  test('the verification page', () => {
    expect(cost(() => verificationPage('miss'))).toBeLessThan(MOST_MILLISECONDS);
  });

  test('each piece of the longest signed XML, of which no sign is lost', () => {
    const text = `${'&amp;'.repeat(999)}–🦜`.repeat(LINES);
    const dearest = cost(() => {
      for (const _ of utf8Pieces(text)) break;
    });
    expect(dearest).toBeLessThan(MOST_MILLISECONDS);

    for (const shift of ['', 'x']) {
      const pieces = [...utf8Pieces(shift + '🦜'.repeat(300_000))];
      expect(pieces.length).toBeGreaterThan(1);
      expect(Buffer.concat(pieces).toString('utf8')).toBe(shift + '🦜'.repeat(300_000));
    }
    expect(Buffer.concat([...utf8Pieces(text)]).equals(Buffer.from(text))).toBe(true);
    expect([...utf8Pieces('')]).toEqual([]);
  });
});
