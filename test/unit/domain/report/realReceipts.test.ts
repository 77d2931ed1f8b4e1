import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeCfe } from '../../../../src/dgi/xml/cfe.ts';
import { writeReport } from '../../../../src/dgi/xml/report.ts';
import type { CfeDocument } from '../../../../src/domain/receipts/cfeDocument.ts';
import { CFE_TYPE_NAMES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { createDaySums } from '../../../../src/domain/reports/summary.ts';
import { aDocument } from '../../../bench/tools/document.ts';
import { KEPT_SEEDS, SEED } from '../../../support/database/seeds.ts';
import { contentOf, requestsOf, TODAY } from '../../../support/receipts/randomReceipts.ts';
import { plainReport, readReport } from '../../../support/reports/plainReport.ts';
import { issuedOf } from '../../../support/reports/receipts.ts';

const PER_TYPE = 25;
const UI = [
  { year: 2025, value: '6.1690', estimate: false },
  { year: 2026, value: '6.4208', estimate: true },
];
const SIGNED_ON = '2026-02-16';

/** Receipts as the service makes them of random requests; notes without their originals. */
function receiptsOf(seed: number, perType: number): CfeDocument[] {
  return CFE_TYPE_NAMES.flatMap((type: CfeType) =>
    fc.sample(requestsOf(type), { seed, numRuns: perType }).map(({ body, original }, index): CfeDocument => {
      const plain = aDocument(1);
      const own = { serie: 'A', numero: index + 1, signedAt: `${TODAY}T12:00:00-03:00` };
      const corrected = original && { ...plain, ...contentOf(original), ...own };
      return { ...plain, ...contentOf(body, corrected), ...own };
    }),
  );
}

/** Cents of a decimal text. */
const cents = (text: string) => BigInt(text.replace('.', ''));
const valueOf = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1] ?? '';

test.each([[SEED, PER_TYPE], ...KEPT_SEEDS.map((seed) => [seed, 5] as const)])(
  'receipts of random requests are summed as their XML says, and their totals are in it (seed %i)',
  (seed, perType) => {
    const documents = receiptsOf(seed, perType);
    const sums = createDaySums(UI);
    for (const document of documents) sums.addIssued(issuedOf(document));
    const quotations = new Map(
      sums
        .wantedRates(SIGNED_ON)
        .map(({ currency, date }, index) => [`${currency} ${date}`, `${38 + index}.1234567`]),
    );
    const summary = sums.close({
      signedOn: SIGNED_ON,
      rateOf: ({ currency, date }) => quotations.get(`${currency} ${date}`) ?? null,
    });

    const heading = {
      rut: '219999830019',
      date: TODAY,
      idEmisor: 1,
      sequence: 1,
      signedAt: `${SIGNED_ON}T02:00:00-03:00`,
    };
    const issued = documents.map(writeCfe);
    const uiOf = (year: string) => UI.find((row) => String(row.year) === year)?.value ?? '';
    const report = readReport(writeReport(heading, summary));
    expect(report).toEqual(plainReport({ issued, annulled: [], signedOn: SIGNED_ON, quotations, uiOf }));

    // The format has TotMntTotal as the sum of MntTotal and as that of the other fields: in pesos they are one.
    let inPesos = 0;
    for (const { code, rows } of report) {
      for (const { Fecha, IndPagCta3ros = '', TotMntTotal = '' } of rows) {
        const own = issued.filter(
          (xml) =>
            valueOf(xml, 'TipoCFE') === code &&
            valueOf(xml, 'FchEmis') === Fecha &&
            valueOf(xml, 'IndPagCta3ros') === IndPagCta3ros,
        );
        if (own.some((xml) => valueOf(xml, 'TpoMoneda') !== 'UYU')) continue;
        inPesos += 1;
        expect(cents(TotMntTotal)).toBe(own.reduce((sum, xml) => sum + cents(valueOf(xml, 'MntTotal')), 0n));
      }
    }
    expect(inPesos).toBeGreaterThan(0);
  },
);
