import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CFE_TYPE_NAMES } from '../../../src/domain/receipts/cfeTypes.ts';
import { KEPT_SEEDS, SEED } from '../../support/database/seeds.ts';
import { NIGHTLY } from '../../support/nightly.ts';
import { type AuthorityHall, openAuthorityHall } from '../../support/receipts/authorityHall.ts';
import { figuresIn, figuresOf } from '../../support/receipts/figures.ts';
import { createIssuance, type IssuedReceipt } from '../../support/receipts/issuance.ts';
import { aPileOf, testWithOfficialTools } from '../../support/receipts/officialTools.ts';
import { TODAY } from '../../support/receipts/randomReceipts.ts';

/** Notes bring an original each, so that nine types make fifteen documents of one. */
const PER_TYPE = NIGHTLY ? 140 : 10;
const PER_KEPT_SEED = NIGHTLY ? 10 : 2;
const FEWEST_DOCUMENTS = 15 * PER_TYPE;

let hall: AuthorityHall;
const receipts: IssuedReceipt[] = [];

beforeAll(async () => {
  hall = await openAuthorityHall(new Date(`${TODAY}T12:00:00-03:00`));
  const issue = createIssuance(hall);
  receipts.push(...issue({ seed: SEED, perType: PER_TYPE }));
  for (const seed of KEPT_SEEDS) receipts.push(...issue({ seed, perType: PER_KEPT_SEED }));
});
afterAll(async () => {
  await hall[Symbol.asyncDispose]();
});

describe('random valid requests, issued and signed,', () => {
  test('are many, of all nine types', () => {
    expect(receipts.length).toBeGreaterThanOrEqual(FEWEST_DOCUMENTS);
    expect(new Set(receipts.map(({ type }) => type))).toEqual(new Set(CFE_TYPE_NAMES));
  });

  test('say in XML the figures and texts that their requests come to', () => {
    for (const { from, body, original, xml } of receipts)
      expect({ from, ...figuresIn(xml, original) }).toEqual({ from, ...figuresOf(body, original) });
  });

  testWithOfficialTools('are valid by the official schemas, and xmlsec1 verifies them', () => {
    using pile = aPileOf(receipts.map(({ from, xml }) => [from.replace(/[ #]+/g, '-'), xml]));

    expect(pile.schemaFaults()).toBe('');
    expect(pile.signatureFaults(hall.certificatePem)).toBe('');
  });

  test('are accepted by the authority, one and all', async () => {
    await hall.knowForeign(receipts.map(({ document }) => document));
    const verdicts = await hall.judge(receipts.map(({ xml }) => xml));

    expect(verdicts).toHaveLength(receipts.length);
    const refused = receipts.flatMap(({ from }, index) =>
      verdicts[index] === 'AE' ? [] : [`${from}: ${verdicts[index]}`],
    );
    expect(refused).toEqual([]);
  });
});
