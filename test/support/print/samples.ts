import type { CfeDocument, Receiver } from '../../../src/domain/receipts/cfeDocument.ts';
import { CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { aDocument } from '../../bench/tools/document.ts';

const RECEIVERS: Readonly<Record<'ticket' | 'invoice' | 'export', Receiver>> = {
  ticket: {
    document: { type: 'NIFE', number: '20304050607', country: 'AR' },
    legalName: 'Inés Güemes',
  },
  invoice: {
    document: { type: 'RUC', number: '214844360018', country: 'UY' },
    legalName: 'Cooperativa El Ombú',
    address: 'Camino de los Horneros 220',
    city: 'Ciudad de la Costa',
    department: 'Canelones',
    purchaseOrder: 'OC-2026-114',
  },
  export: {
    document: { type: 'NIFE', number: '11222333000181', country: 'BR' },
    legalName: 'Importadora São João Ltda.',
    address: 'Rua das Flores 45',
    city: 'Porto Alegre',
    department: 'Rio Grande do Sul',
    countryName: 'Brasil',
  },
};

/** A receipt of the type with everything that its printed form shows. */
export function aReceiptOf(type: CfeType, count = 3): CfeDocument {
  const { family, note } = CFE_TYPES[type];
  const plain = aDocument(count);
  const abroad = family === 'export';
  const { basicNet } = plain.totals;
  return {
    ...plain,
    type,
    serie: 'B',
    numero: 1042,
    paymentMethod: family === 'ticket' ? 1 : 2,
    dueDate: family === 'ticket' ? undefined : '2026-12-20',
    saleCondition: abroad ? 'FOB' : undefined,
    issuer: {
      ...plain.issuer,
      legalName: 'Almacén Ñandú S.R.L.',
      tradeName: 'El Ñandú',
      phone: '2900 0000',
      email: 'ventas@nandu.com.uy',
      address: 'Av. 18 de Julio 1234',
      website: 'www.nandu.com.uy',
      issuerSince: '2012-03-01',
    },
    receiver: RECEIVERS[family],
    information: 'Mercadería en consignación',
    adenda: 'Gracias por su compra.\n\nCambios dentro de los 30 días, con este comprobante.',
    totals: abroad
      ? {
          ...plain.totals,
          currency: 'USD',
          exchangeRate: '39.575',
          exported: basicNet,
          total: basicNet,
          pay: basicNet,
        }
      : { ...plain.totals, nonBillable: '-0.50', pay: withoutHalf(plain.totals.total) },
    lines: [
      ...plain.lines.map((line) => ({
        ...line,
        unit: 'kg',
        ...(abroad ? { ivaType: 'EXPORT' as const } : {}),
      })),
      ...(abroad
        ? []
        : [
            {
              ivaType: 'NON_BILLABLE_NEGATIVE' as const,
              name: 'Redondeo',
              quantity: '1.000',
              unit: 'N/A',
              unitPrice: '0.500000',
              amount: '0.50',
            },
          ]),
    ],
    ...(note
      ? {
          references: [
            {
              cfe: {
                typeCode: CFE_TYPES[originalOf(type)].code,
                serie: 'A',
                numero: 77,
                emissionDate: '2026-11-02',
                value: {
                  amount: '9150.00',
                  currency: abroad ? ('USD' as const) : ('UYU' as const),
                  exchangeRate: abroad ? '39.100' : '1.000',
                },
              },
              reason: 'Devolución parcial',
            },
          ],
        }
      : {}),
  };
}

const originalOf = (type: CfeType): CfeType => type.replace(/_N[CD]$/, '') as CfeType;

/** Half a peso less than a whole amount: 1220.00 → 1219.50. */
const withoutHalf = (whole: string): string => `${Number.parseInt(whole, 10) - 1}.50`;
