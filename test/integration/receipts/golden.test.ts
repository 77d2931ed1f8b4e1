import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import { type AuthorityHall, openAuthorityHall } from '../../support/receipts/authorityHall.ts';
import { TODAY } from '../../support/receipts/goldenCircumstances.ts';
import { type Golden, goldenReceipts, issuing } from '../../support/receipts/goldenReceipts.ts';

const all = goldenReceipts();
const documentOf = issuing(all);
let hall: AuthorityHall;
beforeAll(async () => {
  hall = await openAuthorityHall(new Date(`${TODAY}T10:30:00-03:00`));
});
afterAll(async () => {
  await hall[Symbol.asyncDispose]();
});

/** The golden receipt under the CAEs that the authority of this test gave. */
async function issued(golden: Golden): Promise<CfeDocument> {
  const document = documentOf(golden);
  const cae = document.cae.special ? await hall.exemptCae(golden.type) : hall.caes.get(golden.type);
  if (!cae) throw new Error(`no CAE of type ${golden.type}`);
  return { ...document, serie: 'A', numero: golden.number, cae, signedAt: `${TODAY}T10:30:00-03:00` };
}

test('the golden receipts are accepted by the authority, notes after their originals', async () => {
  await hall.knowForeign(all.map(documentOf));
  const signed: string[] = [];
  for (const golden of all) signed.push(hall.signer.sign(writeCfe(await issued(golden))).xml);

  const verdicts = await hall.judge(signed);

  expect(all.map(({ name }, index) => [name, verdicts[index]])).toEqual(all.map(({ name }) => [name, 'AE']));
});
