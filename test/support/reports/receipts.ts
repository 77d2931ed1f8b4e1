import type { CfeDocument, Totals } from '../../../src/domain/receipts/cfeDocument.ts';
import type { CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import type { IssuedReceipt } from '../../../src/domain/reports/summary.ts';
import { aDocument } from '../../bench/tools/document.ts';

const NOTHING: Totals = {
  currency: 'UYU',
  exchangeRate: '1.000',
  exempt: '0.00',
  exported: '0.00',
  perceived: '0.00',
  suspended: '0.00',
  otherNet: '0.00',
  otherVat: '0.00',
  minimumNet: '0.00',
  minimumVat: '0.00',
  basicNet: '0.00',
  basicVat: '0.00',
  total: '0.00',
  nonBillable: '0.00',
  pay: '0.00',
};

/** A receipt by the few things that a report looks at; the total is left as given. */
export function aReceipt(
  type: CfeType,
  numero: number,
  totals: Partial<Omit<Totals, 'currency'>> & { currency?: string },
  more: { serie?: string; emissionDate?: string; branch?: number } = {},
): CfeDocument {
  const { serie = 'A', emissionDate = '2026-03-10', branch = 1 } = more;
  const plain = aDocument(1);
  return {
    ...plain,
    type,
    serie,
    numero,
    emissionDate,
    signedAt: '2026-03-10T12:00:00-03:00',
    issuer: { ...plain.issuer, branch },
    totals: { ...NOTHING, ...totals } as Totals,
  };
}

/** What of a document the report is fed with. */
export function issuedOf(document: CfeDocument): IssuedReceipt {
  const { type, serie, numero, emissionDate, issuer, totals, thirdPartyPayment = false } = document;
  return { type, serie, numero, emissionDate, branch: issuer.branch, thirdPartyPayment, totals };
}
