import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { anAccount } from '../commandDeps.ts';
import { aReadyEnterprise } from '../enterprises/enterprises.ts';
import { givePendingCfes } from '../receipts/pendingCfes.ts';

/** The receiver that CFEs of these tests name, unless told. */
export const RECEIVER = { type: 'RUC', number: '219000090011', country: 'UY' } as const;

const amounts = {
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
  basicNet: '1000.00',
  basicVat: '220.00',
  total: '1220.00',
  nonBillable: '0.00',
  pay: '1220.00',
} as const;

/** A document as one is stored: an e-Ticket of 1,220 pesos to RECEIVER. */
const documentOf = (rut: string, numero: number): CfeDocument => ({
  type: 'ETICKET',
  emissionDate: '2026-11-20',
  pricesIncludeVat: false,
  paymentMethod: 1,
  serie: 'A',
  numero,
  issuer: {
    rut,
    legalName: 'Empresa & Cía. "Ñandú" S.A.',
    phone: '2900 1234',
    branch: 1,
    address: 'Rincón 500',
    city: 'Montevideo',
    department: 'Montevideo',
  },
  receiver: { document: RECEIVER, legalName: 'Cliente SA' },
  totals: amounts,
  lines: [
    {
      ivaType: 'BASIC_RATE',
      name: 'Café',
      quantity: '1.000',
      unit: 'N/A',
      unitPrice: '1000.000000',
      amount: '1000.00',
    },
  ],
  cae: { authorizationNumber: '90110000001', numberStart: 1, numberEnd: 10000, expirationDate: '2027-11-20' },
  signedAt: '2026-11-20T09:00:00-03:00',
});

/** An enterprise that issues, called as in `documentOf`, with an address for answers. */
export async function anIssuer(orm: Orm): Promise<{ accountId: string; rut: string }> {
  const accountId = await anAccount(orm);
  const rut = await aReadyEnterprise(orm, accountId, { caes: [{ type: 'ETICKET' }] });
  const { legalName } = documentOf(rut, 1).issuer;
  await orm.em.fork().nativeUpdate(Enterprise, { rut }, { legalName, email: 'ventas@empresa.example' });
  return { accountId, rut };
}

/** Signed CFEs of an enterprise that stand so. */
export async function giveCfes(
  orm: Orm,
  issuer: { accountId: string; rut: string },
  of: { status: CfeStatus; count?: number; environment?: Environment; receiver?: CfeDocument['receiver'] },
): Promise<Cfe[]> {
  const { status, count = 1, environment = 'production' } = of;
  const cfes = await givePendingCfes(orm, {
    ...issuer,
    count,
    environment,
    from: new Date('2026-11-20T12:00:00Z'),
  });
  const settledAt = ['PENDING', 'RECEIVED'].includes(status) ? null : new Date('2026-11-20T12:01:00Z');
  for (const { id, numero } of cfes) {
    const document = documentOf(issuer.rut, numero);
    if ('receiver' in of) {
      if (of.receiver) document.receiver = of.receiver;
      else delete document.receiver;
    }
    const signedXml = `<CFE xmlns="http://cfe.dgi.gub.uy" version="1.0"><eTck><Nro>${numero}</Nro></eTck></CFE>`;
    await orm.em.fork().nativeUpdate(Cfe, { id }, { status, settledAt, document, signedXml, digest: 'eA==' });
  }
  return orm.em
    .fork()
    .find(
      Cfe,
      { id: { $in: cfes.map(({ id }) => id) } },
      { orderBy: { sequence: 'asc' }, populate: ['signedXml'] },
    );
}
