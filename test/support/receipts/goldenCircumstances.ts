import type { CaeData, CfeDocument, Issuer } from '../../../src/domain/receipts/cfeDocument.ts';
import type { Golden } from './goldenReceipts.ts';

/** The day on which golden receipts are asked for and signed. */
export const TODAY = '2026-03-02';
/** The one sourced value (docs/contract.md#value-of-the-ui). */
export const UI_VALUE = { year: 2026, value: '6.4208', estimate: true } as const;

/** What a receipt has besides its request: issuer, number, CAE and moment of signing. */
type Circumstances = Pick<CfeDocument, 'issuer' | 'serie' | 'numero' | 'cae' | 'signedAt'>;

const ISSUER: Issuer = {
  rut: '219999830019',
  legalName: 'Almacén Ñandú S.R.L.',
  branch: 1,
  address: 'Av. 18 de Julio 1234',
  city: 'Montevideo',
  department: 'Montevideo',
};
const CAE: CaeData = {
  authorizationNumber: '90260000194',
  numberStart: 1,
  numberEnd: 10_000,
  expirationDate: '2028-02-29',
};
const EXEMPT_TAXPAYER: CaeData = { ...CAE, special: { kind: 1, cause: '12' } };

/** Those that are not as usual, by the name of the receipt. */
export const CIRCUMSTANCES: Readonly<Record<string, Partial<Circumstances>>> = {
  'ETICKET/08-exemptTaxpayer': { cae: EXEMPT_TAXPAYER },
  'EFACTURA/06-longestTexts': {
    issuer: {
      rut: '219999830019',
      legalName: 'Compañía «Ñandú» & Hermanos <Sucesores> '.padEnd(150, 'ñ'),
      tradeName: 'El Ñandú & Cía. "24 h" \'x\' é'.padEnd(30, '🦤'),
      phone: '+598 2900 0000 / 123',
      email: 'facturación+uruguay@example.com.uy'.padStart(80, 'x'),
      branch: 9999,
      address: 'Ruta Interbalnearia km 42½, '.padEnd(70, 'á'),
      city: 'Fray Bentos '.padEnd(30, 'ü'),
      department: 'Río Negro '.padEnd(30, 'ó'),
    },
    serie: 'ZZ',
    numero: 9_999_999,
    cae: { ...CAE, authorizationNumber: '99999999999', numberStart: 9_999_999, numberEnd: 9_999_999 },
  },
  // The last second of the CAE's last day.
  'EFACTURA/07-lastSecondOfTheCae': {
    serie: '1A',
    cae: { ...CAE, expirationDate: TODAY },
    signedAt: `${TODAY}T23:59:59-03:00`,
  },
  'EFACTURA_EXPORT/06-exemptTaxpayer': { cae: EXEMPT_TAXPAYER },
};

/** Issuer, number, CAE and moment of signing of a golden receipt: those of its own, and the usual ones. */
export function circumstancesOf(golden: Golden): Circumstances {
  return {
    issuer: ISSUER,
    serie: 'A',
    numero: golden.number,
    cae: CAE,
    signedAt: `${TODAY}T10:30:00-03:00`,
    ...CIRCUMSTANCES[golden.name],
  };
}
