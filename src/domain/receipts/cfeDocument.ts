import type { SpecialKind } from '../numbers/cae.ts';
import type { CfeType, IvaType } from './cfeTypes.ts';
import type { DocumentType } from './receiverDocument.ts';

/**
 * A complete CFE, stored when its number is taken; its XML is written from it. Plain data that survives JSON: figures are
 * text in the CFE format (amounts 2 decimals, prices 6, quantities and rates 3), so that the writer does no arithmetic.
 * Dates are `YYYY-MM-DD`. Missing values are omitted.
 */
export interface CfeDocument extends CfeContent {
  /** Zone Emisor. */
  issuer: Issuer;
  serie: string;
  numero: number;
  cae: CaeData;
  /** TmstFirma, fixed when the number is taken: `YYYY-MM-DDTHH:MM:SS-03:00`. */
  signedAt: string;
}

/** The content of a valid request: a CFE without issuer, number, CAE and moment of signing. */
export interface CfeContent {
  type: CfeType;
  emissionDate: string;
  /** NroInterno: the customer's own number. */
  externalId?: string;
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
  /** Zone D. */
  adjustments?: Adjustment[];
  /** Zone E. */
  payments?: PaymentMeans[];
  /** IndPagCta3ros. */
  thirdPartyPayment?: true;
  /** IndCobPropia. */
  ownCollection?: true;
  /** Zone F. */
  references?: Reference[];
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
  /** Only for the printed form. */
  website?: string;
  issuerSince?: string;
  resolution?: string;
  exemptionNorm?: string;
  /** IVAalDia 1: the issuer's VAT certificate is not up to date. */
  vatNotUpToDate?: true;
  logoSha256?: string;
}

export interface Receiver {
  /**
   * The document that identifies the receiver: `number` as sent, `given` as in the request where it differs; `country`: ISO
   * 3166 alpha-2 or 99.
   */
  document?: { type: DocumentType; number: string; given?: string; country: string };
  legalName?: string;
  address?: string;
  city?: string;
  department?: string;
  countryName?: string;
  /** The country of the request, for our responses; the XML has the country of `document`. */
  countryCode?: string;
  /** CompraID. */
  purchaseOrder?: string;
}

export interface Totals {
  currency: 'UYU' | 'USD' | 'EUR';
  /** TpoCambio, 3 decimals; `1.000` for UYU, which the XML omits. */
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
  /** MntImpuestoPerc, MntIVaenSusp. */
  perceived: string;
  suspended: string;
  /** MntNetoIVAOtra, MntIVAOtra. */
  otherNet: string;
  otherVat: string;
  /** MontoNF: may be negative. */
  nonBillable: string;
  /** MntPagar. */
  pay: string;
}

export interface Line {
  ivaType: IvaType;
  name: string;
  description?: string;
  quantity: string;
  /** UniMed, `N/A` without a unit. */
  unit: string;
  unitPrice: string;
  amount: string;
  /** NCM; export family only. */
  ncm?: string;
  /** CodItem. */
  codes?: { type: string; value: string }[];
  discounts?: LineAdjustment[];
  surcharges?: LineAdjustment[];
}

/** A discount or surcharge of a line: its amount, and the percentage (3 decimals) if the request stated one. */
export interface LineAdjustment {
  amount: string;
  percent?: string;
}

/** A discount or surcharge of the whole CFE on one kind of line. */
export interface Adjustment extends LineAdjustment {
  kind: 'DISCOUNT' | 'SURCHARGE';
  ivaType: IvaType;
  description: string;
}

export interface PaymentMeans {
  description: string;
  amount: string;
  code?: string;
}

/** A document that this CFE refers to: a CFE, or another document (IndGlobal), which has only a reason. */
export interface Reference {
  cfe?: ReferredCfe;
  reason?: string;
}

export interface ReferredCfe {
  /** Omitted for CFEs of other systems. */
  cfeId?: string;
  /** TpoDocRef. */
  typeCode: number;
  serie: string;
  numero: number;
  emissionDate: string;
  /** Omitted for types without an amount to pay. */
  value?: {
    /** MntCFEref, in the currency of that CFE. */
    amount: string;
    currency: 'UYU' | 'USD' | 'EUR';
    /** TpoCambioRef: the exchange rate of that CFE. */
    exchangeRate: string;
  };
  /** The authority does not know the CFE, which was only reported; the reason names the CFE (IndGlobal). */
  isGlobal?: true;
}

export interface CaeData {
  authorizationNumber: string;
  numberStart: number;
  numberEnd: number;
  expirationDate: string;
  /** CAEEspecial and, of an exempt taxpayer, CausalCAEEsp. */
  special?: { kind: SpecialKind; cause?: string };
}
