import type { CfeType, IvaType } from './cfeTypes.ts';

/**
 * A CFE in full, as it is stored when its number is taken and as its XML is written from. Plain data that survives
 * JSON: every figure is text already in the form the format wants (amounts 2 decimals, prices 6, quantities and
 * rates 3), so that writing the XML does no arithmetic. Dates are `YYYY-MM-DD`. What a document lacks is left out.
 */
export interface CfeDocument extends CfeContent {
  /** Enterprise that issues (zone Emisor). */
  issuer: Issuer;
  serie: string;
  numero: number;
  cae: CaeData;
  /** TmstFirma, fixed when the number is taken: `YYYY-MM-DDTHH:MM:SS-03:00`. */
  signedAt: string;
}

/** What the customer's request settles, checked and complete: a CFE without issuer, number, CAE and moment. */
export interface CfeContent {
  type: CfeType;
  emissionDate: string;
  /** Whether unit prices and line amounts include VAT (MntBruto = 1). */
  pricesIncludeVat: boolean;
  /** FmaPago: 1 cash, 2 credit. */
  paymentMethod: 1 | 2;
  dueDate?: string;
  /** ClauVenta; export family only. */
  saleCondition?: string;
  /** ModVenta. */
  saleMode?: number;
  /** ViaTransp; export family only. */
  transport?: number;
  /** InfoAdicionalDoc. */
  information?: string;
  receiver?: Receiver;
  totals: Totals;
  lines: Line[];
  reference?: Reference;
  /** Text for the print and the company-to-company sobre; never sent to the authority. */
  adenda?: string;
}

export interface Issuer {
  rut: string;
  legalName: string;
  tradeName?: string;
  phone?: string;
  /** CorreoEmisor. */
  email?: string;
  /** CdgDGISucur. */
  branch: number;
  address: string;
  city: string;
  department: string;
  /** What the printed form tells beside: the web address, since when it issues, by which resolution, which logo. */
  website?: string;
  issuerSince?: string;
  resolution?: string;
  logoSha256?: string;
}

export interface Receiver {
  /** Document, where the receiver is identified: RUC → type 2, NIFE → type 7. `country` is ISO 3166 alpha-2 or 99. */
  document?: { type: 'RUC' | 'NIFE'; number: string; country: string };
  legalName?: string;
  address?: string;
  city?: string;
  department?: string;
  countryName?: string;
  /** Country as the customer gave it, for our answers; the XML carries that of `document`. */
  countryCode?: string;
  /** CompraID. */
  purchaseOrder?: string;
}

export interface Totals {
  currency: 'UYU' | 'USD' | 'EUR';
  /** TpoCambio, 3 decimals; `1.000` for UYU (not written then). */
  exchangeRate: string;
  /** MntNoGrv. */
  exempt: string;
  /** MntExpoyAsim. */
  exported: string;
  /** MntNetoIvaTasaMin, MntIVATasaMin. */
  minimumNet: string;
  minimumVat: string;
  /** MntNetoIVATasaBasica, MntIVATasaBasica. */
  basicNet: string;
  basicVat: string;
  /** MntTotal. */
  total: string;
  /** MontoNF: zero or below. */
  nonBillable: string;
  /** MntPagar. */
  pay: string;
}

export interface Line {
  ivaType: IvaType;
  name: string;
  description?: string;
  quantity: string;
  /** UniMed, `N/A` when there is none. */
  unit: string;
  unitPrice: string;
  amount: string;
}

export interface Reference {
  /** The CFE that a note corrects. */
  type: CfeType;
  serie: string;
  numero: number;
  reason?: string;
  emissionDate: string;
  /** MntCFEref, in the referenced document's currency. */
  amount: string;
  currency: 'UYU' | 'USD' | 'EUR';
  /** TpoCambioRef, as the original was issued with. */
  exchangeRate: string;
}

export interface CaeData {
  authorizationNumber: string;
  numberStart: number;
  numberEnd: number;
  expirationDate: string;
  /** CAEEspecial, CausalCAEEsp: only kind 1 (exempt taxpayer) is taken. */
  special?: { kind: 1; cause: string };
}
