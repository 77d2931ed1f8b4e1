/**
 * Descriptions and examples of the fields that requests and responses share. The description of a CFE field names the
 * authority's document and field.
 */

/** The description of a field in OpenAPI. */
export interface FieldWords {
  readonly description: string;
  readonly examples: readonly [unknown, ...unknown[]];
}
type WordsOf<F extends string> = Readonly<Record<F, FieldWords>>;

/** Returns the words of a field for a schema's `.meta`. */
export const describeField = ({
  description,
  examples,
}: FieldWords): { description: string; examples: unknown[] } => ({
  description,
  examples: [...examples],
});

export const CFE_FORMAT = 'Formato CFE v25.2, zone';

/** Fields of an enterprise that are not in enterpriseFields.ts. */
export const ENTERPRISE_WORDS = {
  rut: {
    description: `Tax id (RUT) of the company: 12 digits without dots or hyphens, the last its check digit. Source: ${CFE_FORMAT} A, field 40 (RUCEmisor).`,
    examples: ['219000090011'],
  },
  is_new_enterprise: {
    description: 'Whether the company is just starting operations. It has no effect in this service.',
    examples: [false],
  },
  plan_id: {
    description: 'Plan of the enterprise, one of those that the operator of the service offers.',
    examples: ['STANDARD'],
  },
  frequency_id: { description: 'How often the plan is paid.', examples: ['MONTHLY'] },
} as const satisfies WordsOf<string>;

/** Fields of a customer that are not in customer.ts. */
export const CUSTOMER_WORDS = {
  doc_number: {
    description:
      'Number of the document: of a RUC 12 digits, of a CI 7 or 8, the last its check digit; of a NIE at most 12 digits; of the others up to 20 characters.',
    examples: ['219999830019'],
  },
  notifications: {
    description:
      'Destinations for accepted receipts; at most 20. The receiver’s document of a CFE selects the customer.',
    examples: [[{ type: 'EMAIL', destination: 'compras@example.com', enabled: true }]],
  },
  destination: { description: 'E-mail address.', examples: ['compras@example.com'] },
  enabled: { description: 'Whether receipts are sent there.', examples: [true] },
} as const satisfies WordsOf<string>;

/** Fields of a receiver in a CFE. */
export const RECEIVER_WORDS = {
  receiver_document: {
    description: `Number of the document; with \`receiver_doc_type\` or not at all. Required in the e-Factura family, and in e-Tickets above 5,000 UI net. Source: ${CFE_FORMAT} A, fields 62 and 62.1 (DocRecep, DocRecepExt).`,
    examples: ['219999830019'],
  },
  legal_name: {
    description: `Name of the receiver. Required in the e-Factura and export families. Source: ${CFE_FORMAT} A, field 63 (RznSocRecep).`,
    examples: ['Almacén del Sur S.R.L.'],
  },
  fiscal_address: {
    description: `Street and number. Required in the e-Factura and export families. Source: ${CFE_FORMAT} A, field 64 (DirRecep).`,
    examples: ['Av. 18 de Julio 1234'],
  },
  city: {
    description: `City or town. Required in the e-Factura and export families. Source: ${CFE_FORMAT} A, field 65 (CiudadRecep).`,
    examples: ['Montevideo'],
  },
  department: {
    description: `Department, province or state. Required in the export family. Source: ${CFE_FORMAT} A, field 66 (DeptoRecep).`,
    examples: ['Montevideo'],
  },
  country: {
    description: `Name of the country, in words. Required in the export family. Source: ${CFE_FORMAT} A, field 66.1 (PaisRecep).`,
    examples: ['Uruguay'],
  },
  country_code: {
    description: `Country that issued the document, in the CFE format: ISO 3166-1 alpha-2 in capitals, or 99. UY or omitted with a RUC, CI or NIE; AR, BR, CL or PY with a DNI; not UY with a NIFE; required with PASSPORT and OTHER. Source: ${CFE_FORMAT} A, field 61 (CodPaisRecep).`,
    examples: ['UY'],
  },
} as const satisfies WordsOf<string>;

/** Fields of a CFE. */
export const CFE_FIELD_WORDS = {
  cfe_id: {
    description:
      'Id of the CFE at its enterprise: type code, hyphen, and the enterprise’s sequence number for that type and environment, from 1.',
    examples: ['101-1'],
  },
  external_id: {
    description: `Your own number of the receipt, at most 50 characters; need not be unique. The tax authority and the receiver see it in the XML; it is not printed. Source: ${CFE_FORMAT} A, field 4.1 (NroInterno).`,
    examples: ['order-4711'],
  },
  emission_date: {
    description: `Date of the receipt in Montevideo (from 21:00 on a day behind UTC), from 60 days before to 60 days after today. Source: ${CFE_FORMAT} A, field 5 (FchEmis).`,
    examples: ['2026-11-20'],
  },
  exchange_rate: {
    description: `Pesos for one unit of the currency, above 0; 1 in UYU. Source: ${CFE_FORMAT} A, field 111 (TpoCambio).`,
    examples: [39.85],
  },
  total_amount: {
    description: `Exempt, exported, perceived, suspended and net amounts and VAT together, in the currency of the receipt; exactly the sum. Source: ${CFE_FORMAT} A, field 124 (MntTotal).`,
    examples: [1220],
  },
  pay_amount: {
    description: `Amount to pay: \`total_amount\` plus the NON_BILLABLE and less the NON_BILLABLE_NEGATIVE lines, exactly; may be negative. In the currency of the receipt. Source: ${CFE_FORMAT} A, field 130 (MntPagar).`,
    examples: [1220],
  },
  line_count: {
    description: `Number of lines. Source: ${CFE_FORMAT} A, field 126 (CantLinDet).`,
    examples: [1],
  },
  tax_free_amount: {
    description: `Sum of the EXEMPT lines, in the currency of the receipt; counts as 0 if left out. Source: ${CFE_FORMAT} A, field 112 (MntNoGrv).`,
    examples: [120],
  },
  tax_basic_net_amount: {
    description: `Base of the VAT at the basic rate: the BASIC_RATE lines, without VAT, in the currency of the receipt; counts as 0 if left out. Source: ${CFE_FORMAT} A, field 117 (MntNetoIVATasaBasica).`,
    examples: [1000],
  },
  tax_basic_amount: {
    description: `VAT at the basic rate (22 %): within 0.01 of net × rate; where prices include VAT, exactly lines − net. Counts as 0 if left out. Source: ${CFE_FORMAT} A, field 122 (MntIVATasaBasica).`,
    examples: [220],
  },
  tax_minimum_net_amount: {
    description: `Base of the VAT at the minimum rate: the MINIMUM_RATE lines, without VAT, in the currency of the receipt; counts as 0 if left out. Source: ${CFE_FORMAT} A, field 116 (MntNetoIvaTasaMin).`,
    examples: [100],
  },
  tax_minimum_amount: {
    description: `VAT at the minimum rate (10 %): within 0.01 of net × rate; where prices include VAT, exactly lines − net. Counts as 0 if left out. Source: ${CFE_FORMAT} A, field 121 (MntIVATasaMin).`,
    examples: [10],
  },
  tax_other_net_amount: {
    description: `Sum of the OTHER_RATE lines, in the currency of the receipt; counts as 0 if left out. Source: ${CFE_FORMAT} A, field 118 (MntNetoIVAOtra).`,
    examples: [400000],
  },
  tax_other_amount: {
    description: `VAT of the OTHER_RATE lines, as you compute it: above 0 with such lines. Counts as 0 if left out. Source: ${CFE_FORMAT} A, field 123 (MntIVAOtra).`,
    examples: [8800],
  },
  perceived_amount: {
    description: `Sum of the PERCEIVED lines, in the currency of the receipt; counts as 0 if left out. Source: ${CFE_FORMAT} A, field 114 (MntImpuestoPerc).`,
    examples: [120],
  },
  suspended_amount: {
    description: `Sum of the SUSPENDED lines, in the currency of the receipt; counts as 0 if left out. Source: ${CFE_FORMAT} A, field 115 (MntIVaenSusp).`,
    examples: [120],
  },
  third_party_payment: {
    description: `true: the amounts are expenses paid for others and claimed back; printed «Pagos por cuenta de terceros». Source: ${CFE_FORMAT} A, field 19 (IndPagCta3ros).`,
    examples: [true],
  },
  own_collection: {
    description: `true: the receipt of a collection of own sales, or of an advance on a price. ETICKET and EFACTURA only, with lines NON_BILLABLE and NON_BILLABLE_NEGATIVE alone, \`references\` and no adjustments; printed «Cobranza». Source: ${CFE_FORMAT} A, field 20 (IndCobPropia).`,
    examples: [true],
  },
  serie: {
    description: `Serie of the number, from the CAE. Source: ${CFE_FORMAT} A, field 3 (Serie).`,
    examples: ['A'],
  },
  numero: {
    description: `Number within the serie, from the CAE; never used twice. Source: ${CFE_FORMAT} A, field 4 (Nro).`,
    examples: [12],
  },
} as const satisfies WordsOf<string>;

/** Fields of one line of a CFE. */
export const LINE_WORDS = {
  line_number: {
    description: `Number of the line: 1, 2, 3… in order. At most 700 lines in e-Tickets, 200 elsewhere. Source: ${CFE_FORMAT} B, field 1 (NroLinDet).`,
    examples: [1],
  },
  item_name: {
    description: `Name of the product or service. Source: ${CFE_FORMAT} B, field 7 (NomItem).`,
    examples: ['Café molido 250 g'],
  },
  item_description: {
    description: `Description of the product or service. Source: ${CFE_FORMAT} B, field 8 (DscItem).`,
    examples: ['Tueste medio, origen Brasil'],
  },
  count: {
    description: `Number of units, above 0. Source: ${CFE_FORMAT} B, field 9 (Cantidad).`,
    examples: [2],
  },
  unit_price: {
    description: `Price of one unit in the currency of the receipt: 0 in FREE lines, above 0 in all others. With or without VAT, but the same in all lines. Before discounts. Source: ${CFE_FORMAT} B, field 11 (PrecioUnitario).`,
    examples: [500],
  },
  item_amount: {
    description: `Exactly count × unit_price, rounded half up, less the discounts and plus the surcharges of the line, in the currency of the receipt; never below 0. Source: ${CFE_FORMAT} B, field 24 (MontoItem).`,
    examples: [1000],
  },
} as const satisfies WordsOf<string>;

/** Fields of discounts, surcharges, codes and payments. */
export const ADJUSTMENT_WORDS = {
  unit: {
    description: `Unit of measure of the line. Default: \`extra.unit\`. Source: ${CFE_FORMAT} B, field 10 (UniMed).`,
    examples: ['kg'],
  },
  ncm: {
    description: `NCM code of the goods; export family only. Source: ${CFE_FORMAT} B, field 7.1 (NCM).`,
    examples: ['5105.29.10'],
  },
  code_value: {
    description: `The code; of a GTIN all digits, the last its check digit. Source: ${CFE_FORMAT} B, field 3 (Cod).`,
    examples: ['4006381333931'],
  },
  line_percent: {
    description:
      'Percentage of count × unit_price, with at most 2 decimals; the result is rounded half up to cents. Instead of `amount`.',
    examples: [10],
  },
  line_amount: {
    description: 'Amount in the currency of the receipt. Instead of `percent`.',
    examples: [6.35],
  },
  discounts: {
    description: `Discounts of the line, at most 5. Source: ${CFE_FORMAT} B, fields 12 to 15.`,
    examples: [[{ percent: 10 }]],
  },
  surcharges: {
    description: `Surcharges of the line, at most 5. Source: ${CFE_FORMAT} B, fields 16 to 19.`,
    examples: [[{ amount: 10 }]],
  },
  adjustment_description: {
    description: `What the discount or surcharge is; printed. Source: ${CFE_FORMAT} D, field 5 (GlosaDR).`,
    examples: ['Descuento por pago contado'],
  },
  adjustment_percent: {
    description:
      'Percentage of the lines of that `iva_type`, with at most 2 decimals; the result is rounded half up to cents. Instead of `amount`.',
    examples: [10],
  },
  adjustment_amount: {
    description: `Amount in the currency of the receipt, with or without VAT like the prices of the lines. Instead of \`percent\`. Source: ${CFE_FORMAT} D, field 6 (ValorDR).`,
    examples: [150],
  },
  payment_description: {
    description: `Means of payment; printed. Source: ${CFE_FORMAT} E, field 3 (GlosaMP).`,
    examples: ['Efectivo'],
  },
  payment_amount: {
    description: `Amount paid by this means; returned change is negative. The sum is not checked. Source: ${CFE_FORMAT} E, field 5 (ValorPago).`,
    examples: [2000],
  },
  payment_code: {
    description: `Your code of the means of payment, 1 to 3 digits. Source: ${CFE_FORMAT} E, field 2 (CodMP).`,
    examples: ['1'],
  },
} as const satisfies WordsOf<string>;

/** Fields of a reference to another document. */
export const REFERENCE_WORDS = {
  cfe_id: {
    description: `A CFE of this service, of the same enterprise and environment; for notes, also of the same family. Source: ${CFE_FORMAT} F, fields 3 to 5.`,
    examples: ['101-1'],
  },
  cfe_type_code: {
    description: `The authority’s code of the type, as text; a contingency receipt has a 2 in front. Source: ${CFE_FORMAT} F, field 3 (TpoDocRef).`,
    examples: ['111'],
  },
  serie: {
    description: `Serie of the CFE, in capitals. Source: ${CFE_FORMAT} F, field 4 (Serie).`,
    examples: ['A'],
  },
  numero: {
    description: `Number of the CFE, 1 to 9,999,999. Source: ${CFE_FORMAT} F, field 5 (NroCFERef).`,
    examples: [57],
  },
  emission_date: {
    description: `Emission date of the CFE, from 2011-10-01, at most 60 days after today. Source: ${CFE_FORMAT} F, field 7 (FechaCFEref).`,
    examples: ['2026-11-10'],
  },
  amount: {
    description: `The part of the CFE that this receipt refers to, in the CFE’s currency. May be left out with \`cfe_id\`: the receipt’s amount then fills its references in order, up to the amount left of each. Source: ${CFE_FORMAT} F, field 8 (MntCFEref).`,
    examples: [122],
  },
  exchange_rate: {
    description: `Exchange rate of the CFE: pesos for one unit of its currency, at most 3 decimals; not in UYU. Source: ${CFE_FORMAT} F, field 10 (TpoCambioRef).`,
    examples: [39.95],
  },
  reason: {
    description: `Why the receipt refers to the CFE. Source: ${CFE_FORMAT} F, field 6 (RazonRef).`,
    examples: ['Devolución'],
  },
  description: {
    description: `One or several documents that are not CFEs: type and number, or a description. Source: ${CFE_FORMAT} F, fields 2 and 6 (IndGlobal, RazonRef).`,
    examples: ['Facturas en papel A 101 a A 140'],
  },
} as const satisfies WordsOf<string>;

/** Fields of `extra`. */
export const EXTRA_WORDS = {
  adenda: {
    description: `Text for the receiver, printed below the receipt and sent with it between companies; not sent to the authority. May have line ends. Source: ${CFE_FORMAT} J (Adenda).`,
    examples: ['Gracias por su compra.'],
  },
  due_date: {
    description: `Day on which payment is due, from 2000-01-01 to 2050-12-31. Source: ${CFE_FORMAT} A, field 12 (FchVenc).`,
    examples: ['2026-12-20'],
  },
  unit: {
    description: `Unit of measure of every line. Default: \`N/A\`. Source: ${CFE_FORMAT} B, field 10 (UniMed).`,
    examples: ['kg'],
  },
  purchase_order: {
    description: `The receiver’s purchase order; needs a receiver. Source: ${CFE_FORMAT} A, field 70 (CompraID).`,
    examples: ['OC-4711'],
  },
  reference_reason: {
    description: `Why the original is corrected; notes only. Source: ${CFE_FORMAT} F, field 6 (RazonRef).`,
    examples: ['Devolución'],
  },
  sale_condition: {
    description: `Incoterm in three letters, or \`N/A\`. Default: \`N/A\`; export family only. Source: ${CFE_FORMAT} A, field 13 (ClauVenta).`,
    examples: ['FOB'],
  },
  sale_mode: {
    description: `Kind of sale: 1 goods, 2 consignment, 3 revisable price, 4 own goods to customs exclaves, 80 Tax Free, 90 services, 91 export through a third party, 99 other; only with exported lines. Default: 90, which declares a service: use 1 to 4 for goods. Source: ${CFE_FORMAT} A, field 14 (ModVenta).`,
    examples: [90],
  },
  transport: {
    description: `1 sea, 2 air, 3 land, 8 does not apply, 9 other; export family only. Default: 8. Source: ${CFE_FORMAT} A, field 15 (ViaTransp).`,
    examples: [8],
  },
  information: {
    description: `Text that a law or rule requires, printed on the receipt. Source: ${CFE_FORMAT} A, field 16 (InfoAdicionalDoc).`,
    examples: ['Régimen de admisión temporaria'],
  },
  branch: {
    description: `Code of the issuing branch at the authority, 0 to 9999. Default: the enterprise’s first branch. Source: ${CFE_FORMAT} A, field 47 (CdgDGISucur).`,
    examples: [2],
  },
} as const satisfies WordsOf<string>;

/** Fields of what a credit note takes of its original. */
export const CREDIT_WORDS = {
  line_number: { description: 'Number of a line of the original.', examples: [1] },
  count: {
    description:
      'Units of the line, at most those left. The last units take the whole rest of the line’s amount.',
    examples: [2],
  },
  line_amount: {
    description: 'Amount of the line, with or without VAT like its `item_amount`.',
    examples: [199.9],
  },
  reason: {
    description: `Why the note is issued; written on the note. Source: ${CFE_FORMAT} F, field 6 (RazonRef).`,
    examples: ['Devolución'],
  },
  percent: { description: 'Percentage of the `pay_amount` of the original, above 0.', examples: [10] },
  amount: {
    description: 'Amount to pay, in the currency of the original: a part of its `pay_amount`, above 0.',
    examples: [500],
  },
} as const satisfies WordsOf<string>;
