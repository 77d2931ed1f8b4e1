/** Maximum lengths of texts in the CFE format, in characters (docs/authority/receipts.md). */
export const LENGTHS = {
  legalName: 150,
  tradeName: 30,
  phone: 20,
  email: 80,
  /** Our own limit: one line of the printed form. */
  website: 100,
  resolution: 11,
  exemptionNorm: 150,
  address: 70,
  city: 30,
  department: 30,
  countryName: 30,
  foreignDocument: 20,
  /** NroInterno (CFEType.xsd 1.44.2, IdDoc). */
  externalId: 50,
  itemName: 80,
  itemDescription: 1000,
  unit: 4,
  itemCode: 35,
  ncm: 20,
  adjustmentDescription: 100,
  paymentDescription: 100,
  purchaseOrder: 50,
  referenceReason: 90,
  information: 150,
  /** Our own limit: the format has none. */
  adenda: 10_000,
} as const;
