import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeReport } from '../../../src/dgi/xml/report.ts';
import { CFE_TYPE_NAMES } from '../../../src/domain/receipts/cfeTypes.ts';
import { closingDay } from '../../../src/domain/receipts/exchangeRate.ts';
import { createDaySums } from '../../../src/domain/reports/summary.ts';
import { SEED } from '../../support/database/seeds.ts';
import { type AuthorityHall, openAuthorityHall } from '../../support/receipts/authorityHall.ts';
import { createIssuance, type IssuedReceipt } from '../../support/receipts/issuance.ts';
import { TODAY } from '../../support/receipts/randomReceipts.ts';
import { issuedOf } from '../../support/reports/receipts.ts';

const PER_TYPE = 20;
/** The authority judges every year by it. */
const UI = [{ year: 2026, value: '6.4208', estimate: true }];

let hall: AuthorityHall;
let receipts: IssuedReceipt[];
beforeAll(async () => {
  hall = await openAuthorityHall(new Date(`${TODAY}T20:00:00-03:00`));
  receipts = createIssuance(hall)({ seed: SEED, perType: PER_TYPE });
  await hall.knowForeign(receipts.map(({ document }) => document));
  await hall.judge(receipts.map(({ xml }) => xml));
});
afterAll(async () => {
  await hall[Symbol.asyncDispose]();
});

/** A report of all receipts but some, by rates that the central bank has; numbers behind them were annulled. */
async function aReport(sequence: number, reported: readonly IssuedReceipt[]): Promise<string> {
  const sums = createDaySums(UI);
  for (const { document } of reported) sums.addIssued(issuedOf(document));
  for (const type of CFE_TYPE_NAMES) {
    const end = hall.caes.get(type)?.numberEnd ?? 0;
    sums.addAnnulled({ type, serie: 'A', from: end - 9, to: end });
  }
  const rates = new Map<string, string>();
  for (const [index, { currency, date }] of sums.wantedRates(TODAY).entries()) {
    const known = rates.get(`${currency} ${closingDay(date)}`) ?? `${38 + index}.12345${index % 10}`;
    await hall.quote(closingDay(date), { [currency]: known });
    rates.set(`${currency} ${closingDay(date)}`, known);
  }
  const summary = sums.close({
    signedOn: TODAY,
    rateOf: ({ currency, date }) => rates.get(`${currency} ${closingDay(date)}`) ?? null,
  });
  const signedAt = `${TODAY}T20:30:00-03:00`;
  const heading = { rut: hall.issuerRut, date: TODAY, idEmisor: sequence, sequence, signedAt };
  return hall.signer.sign(writeReport(heading, summary)).xml;
}

test('the authority takes the report of a day of all nine types, and finds what its receipts come to', async () => {
  expect(new Set(receipts.map(({ type }) => type))).toEqual(new Set(CFE_TYPE_NAMES));
  expect(await hall.judgeReport(await aReport(1, receipts))).toEqual({ status: 'DR', reasons: [] });
});

test('it finds that a report lacks a receipt', async () => {
  const [first] = receipts;
  const { serie = '', numero = 0 } = first?.document ?? {};
  const { status, reasons } = await hall.judgeReport(await aReport(2, receipts.slice(1)));

  expect(status).toBe('ER');
  expect(reasons[0]?.detail).toBe(`101 ${serie} ${numero}: recibido y no figura en el reporte`);
});
