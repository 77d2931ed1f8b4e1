import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeCfe } from '../../../../src/dgi/xml/cfe.ts';
import { writeReport } from '../../../../src/dgi/xml/report.ts';
import type { CfeDocument } from '../../../../src/domain/receipts/cfeDocument.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { createDaySums } from '../../../../src/domain/reports/summary.ts';
import { decimalText } from '../../../support/receipts/arithmetic.ts';
import { aPileOf, testWithOfficialTools } from '../../../support/receipts/officialTools.ts';
import { plainReport, readReport } from '../../../support/reports/plainReport.ts';
import { aReceipt, issuedOf } from '../../../support/reports/receipts.ts';

/** Around New Year, so that two values of the UI count; the report is signed on the second last of these days. */
const DAYS = ['2025-12-29', '2025-12-30', '2025-12-31', '2026-01-01', '2026-01-02', '2026-01-03'];
const SIGNED_ON = '2026-01-02';
const UI = [
  { year: 2025, value: '6.1234', estimate: false },
  { year: 2026, value: '6.4208', estimate: false },
];

/** Near the limit of 5,000 UI, small, and large. */
const cents = fc.oneof(fc.bigInt(0n, 500n), fc.bigInt(3_000_000n, 3_300_000n), fc.bigInt(0n, 10n ** 12n));
const money = cents.map((amount) => decimalText(amount, 2));
const thousandths = fc.bigInt(1n, 9_999_999n).map((rate) => decimalText(rate, 3));

const totals = fc
  .record({
    currency: fc.constantFrom('UYU', 'UYU', 'USD', 'EUR', 'UYI'),
    exchangeRate: thousandths,
    exempt: money,
    exported: money,
    minimumNet: money,
    perceived: money,
    suspended: money,
    otherNet: money,
    otherVat: money,
    minimumVat: money,
    basicNet: money,
    basicVat: money,
  })
  .map((drawn) => (drawn.currency === 'UYU' ? { ...drawn, exchangeRate: '1.000' } : drawn));

interface Day {
  documents: CfeDocument[];
  annulled: { type: CfeType; serie: string; from: number; to: number }[];
}

/** Annulled by the range, beyond the numbers below: neighbours and holes between them. */
const ranges = fc
  .uniqueArray(
    fc.record({
      type: fc.constantFrom(...CFE_TYPE_NAMES),
      serie: fc.constantFrom('A', 'BC'),
      place: fc.integer({ min: 0, max: 4 }),
      length: fc.integer({ min: 1, max: 10 }),
    }),
    { maxLength: 8, selector: ({ type, serie, place }) => `${type} ${serie} ${place}` },
  )
  .map((drawn) =>
    drawn.map(({ type, serie, place, length }) => {
      const from = 26 + place * 10;
      return { type, serie, from, to: from + length - 1 };
    }),
  );

/** Numbers of few series and types, each issued, annulled, or neither. */
const numbers: fc.Arbitrary<Day> = fc
  .uniqueArray(
    fc.record({
      type: fc.constantFrom(...CFE_TYPE_NAMES),
      serie: fc.constantFrom('A', 'BC'),
      numero: fc.integer({ min: 1, max: 25 }),
      fate: fc.constantFrom('issued', 'issued', 'issued', 'annulled'),
      emissionDate: fc.constantFrom(...DAYS),
      branch: fc.constantFrom(0, 1, 9999),
      totals,
    }),
    { maxLength: 60, selector: ({ type, serie, numero }) => `${type} ${serie} ${numero}` },
  )
  .map((numbers) => ({
    documents: numbers
      .filter(({ fate }) => fate === 'issued')
      .map(({ type, numero, totals, ...more }) => aReceipt(type, numero, totals, more)),
    annulled: numbers
      .filter(({ fate }) => fate === 'annulled')
      .map(({ type, serie, numero }) => ({ type, serie, from: numero, to: numero })),
  }));

const day = fc
  .tuple(numbers, ranges)
  .map(([{ documents, annulled }, more]): Day => ({ documents, annulled: [...annulled, ...more] }));

/** Quotations of some days; the others have none. */
const quotations = fc
  .array(
    fc.tuple(fc.constantFrom('USD', 'EUR'), fc.constantFrom('2025-12-28', ...DAYS), fc.bigInt(1n, 10n ** 8n)),
  )
  .map(
    (rows) => new Map(rows.map(([currency, date, rate]) => [`${currency} ${date}`, decimalText(rate, 6)])),
  );

const HEADING = {
  rut: '219999830019',
  date: '2026-01-01',
  idEmisor: 7,
  sequence: 1,
  signedAt: `${SIGNED_ON}T06:15:00-03:00`,
};

function report({ documents, annulled }: Day, known: ReadonlyMap<string, string>): string {
  const sums = createDaySums(UI);
  for (const document of documents) sums.addIssued(issuedOf(document));
  for (const numbers of annulled) sums.addAnnulled(numbers);
  const asked = new Set(sums.wantedRates(SIGNED_ON).map(({ currency, date }) => `${currency} ${date}`));
  const summary = sums.close({
    signedOn: SIGNED_ON,
    rateOf({ currency, date }) {
      expect(asked).toContain(`${currency} ${date}`);
      return known.get(`${currency} ${date}`) ?? null;
    },
  });
  return writeReport(HEADING, summary);
}

const plainly = ({ documents, annulled }: Day, known: ReadonlyMap<string, string>) =>
  plainReport({
    issued: documents.map(writeCfe),
    annulled: annulled.flatMap(({ type, serie, from, to }) =>
      Array.from({ length: to - from + 1 }, (_, index) => `${CFE_TYPES[type].code} ${serie} ${from + index}`),
    ),
    signedOn: SIGNED_ON,
    quotations: known,
    uiOf: (year) => UI.find((row) => String(row.year) === year)?.value ?? '',
  });

describe('the report of any day', () => {
  test('says what a plain computation from the XML of its receipts says', () => {
    fc.assert(
      fc.property(day, quotations, (one, known) => {
        const xml = report(one, known);
        const plain = plainly(one, known);

        expect(readReport(xml)).toEqual(plain);
        const used = plain.reduce((sum, { counts }) => sum + Number(counts['CantDocsUtil']), 0);
        expect(xml).toContain(`<CantComprobantes>${used}</CantComprobantes>`);
      }),
      { numRuns: 150 },
    );
  });

  test('is the same whatever the order of its receipts and numbers', () => {
    fc.assert(
      fc.property(day, quotations, fc.infiniteStream(fc.nat()), (one, known, keys) => {
        const shuffled = <T>(list: T[]): T[] =>
          list
            .map((item) => [keys.next().value as number, item] as const)
            .toSorted(([a], [b]) => a - b)
            .map(([, item]) => item);
        const other = { documents: shuffled(one.documents), annulled: shuffled(one.annulled) };

        expect(report(other, known)).toBe(report(one, known));
      }),
      { numRuns: 50 },
    );
  });

  testWithOfficialTools('is valid by the official schema', () => {
    const days = fc.sample(fc.tuple(day, quotations), 60);
    // The schema wants a signature of the right shape; any will do.
    const signed = days.map(([one, known]) =>
      report(one, known).replace('</Reporte>', `${A_SIGNATURE}</Reporte>`),
    );
    using pile = aPileOf(signed.map((xml, index) => [`report-${index}`, xml]));

    expect(pile.schemaFaults('ReporteDiarioCFE.xsd')).toBe('');
  });
});

const A_SIGNATURE =
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>' +
  '<CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>' +
  '<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>' +
  '<Reference URI=""><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue>AA==</DigestValue></Reference>' +
  '</SignedInfo><SignatureValue>AA==</SignatureValue><KeyInfo><X509Data><X509Certificate>AA==</X509Certificate>' +
  '<X509IssuerSerial><X509IssuerName>C=UY</X509IssuerName><X509SerialNumber>1</X509SerialNumber></X509IssuerSerial></X509Data></KeyInfo></Signature>';
