import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import type { CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { SEED } from '../../support/database/seeds.ts';
import { type AuthorityHall, openAuthorityHall } from '../../support/receipts/authorityHall.ts';
import { creditChains, creditInSteps, storedReceipt } from '../../support/receipts/creditChains.ts';
import { aPileOf, testWithOfficialTools } from '../../support/receipts/officialTools.ts';
import { TODAY } from '../../support/receipts/randomReceipts.ts';

let hall: AuthorityHall;
const xmls: string[] = [];

beforeAll(async () => {
  hall = await openAuthorityHall(new Date(`${TODAY}T12:00:00-03:00`));
  const taken = new Map<CfeType, number>();
  const sign = (
    content: Omit<CfeDocument, 'issuer' | 'serie' | 'numero' | 'cae' | 'signedAt'>,
    numero: number,
  ) => {
    const cae = hall.caes.get(content.type);
    if (!cae) throw new Error(`no CAE of type ${content.type}`);
    const issuer = {
      rut: hall.issuerRut,
      legalName: 'Almacén Ñandú S.R.L.',
      branch: 1,
      address: 'Av. 18 de Julio 1234',
      city: 'Montevideo',
      department: 'Montevideo',
    };
    const signedAt = `${TODAY}T12:00:00-03:00`;
    xmls.push(hall.signer.sign(writeCfe({ ...content, issuer, serie: 'A', numero, cae, signedAt })).xml);
  };
  const next = (type: CfeType) => {
    const numero = taken.get(type) ?? hall.caes.get(type)?.numberStart ?? 1;
    taken.set(type, numero + 1);
    return numero;
  };
  for (const { body, steps } of fc.sample(creditChains, { seed: SEED, numRuns: 25 })) {
    const stored = storedReceipt(body);
    const original = { ...stored, numero: next(stored.type) };
    sign(original, original.numero);
    for (const content of creditInSteps(original, steps)) sign(content, next(content.type));
  }
});
afterAll(async () => {
  await hall[Symbol.asyncDispose]();
});

testWithOfficialTools('credit notes of parts are valid by the official schemas', () => {
  using pile = aPileOf(xmls.map((xml, at) => [`receipt-${at}`, xml]));
  expect(pile.schemaFaults()).toBe('');
});

test('the authority accepts receipts and their credit notes, one and all', async () => {
  expect(xmls.length).toBeGreaterThan(50);
  const verdicts = await hall.judge(xmls);
  expect(verdicts.filter((verdict) => verdict !== 'AE')).toEqual([]);
});
