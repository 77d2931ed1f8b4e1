import type { CfeDocument, Line } from '../../../src/domain/receipts/cfeDocument.ts';

/** An e-Ticket with so many lines. */
export function aDocument(count: number): CfeDocument {
  const line = (index: number): Line => ({
    ivaType: 'BASIC_RATE',
    name: `Producto ${index} de almacén`,
    description: 'Unidad de 250 g, origen Uruguay',
    quantity: '2.000',
    unit: 'N/A',
    unitPrice: '500.000000',
    amount: '1000.00',
  });
  const net = (count * 1_000).toFixed(2);
  const vat = (count * 220).toFixed(2);
  const total = (count * 1_220).toFixed(2);
  return {
    type: 'ETICKET',
    serie: 'A',
    numero: 1,
    signedAt: '2026-11-20T10:00:00-03:00',
    emissionDate: '2026-11-20',
    pricesIncludeVat: false,
    paymentMethod: 1,
    issuer: {
      rut: '219999830019',
      legalName: 'Empresa SA',
      branch: 1,
      address: 'Calle 1234',
      city: 'Montevideo',
      department: 'Montevideo',
    },
    totals: {
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
      basicNet: net,
      basicVat: vat,
      total,
      nonBillable: '0.00',
      pay: total,
    },
    lines: Array.from({ length: count }, (_, index) => line(index)),
    cae: {
      authorizationNumber: '90260000194',
      numberStart: 1,
      numberEnd: 9999,
      expirationDate: '2028-11-20',
    },
  };
}
