/**
 * The blocks of the printed form in order: their lines, letter sizes, minimum boxes and sheets
 * (docs/authority/printed-form.md). Their position on the paper is up to sheets.ts.
 */
import { type CfeTypeRow, cfeTypeOfCode, cfeTypeRow } from '../domain/receipts/cfeTypes.ts';
import { qrUrl, securityCode } from '../domain/receipts/qr.ts';
import { dateText, money, quantity } from '../domain/values/figures.ts';
import {
  DOCUMENT_KINDS,
  PAYMENT_FORMS,
  SPECIAL_TAXPAYERS,
  TYPE_NAMES,
  WITHOUT_VAT_NOTE,
} from '../words/es/printedForm.ts';
import type { Entry } from './pieces.ts';
import type { ParsedCfe } from './readCfe.ts';
import type { PrintedReceipt } from './receipt.ts';

/** Input of the form: the receipt, its parsed CFE, and the row of its type. */
export interface PrintedForm {
  readonly receipt: PrintedReceipt;
  readonly cfe: ParsedCfe;
  readonly row: CfeTypeRow;
  readonly typeName: string;
}

export interface Block {
  readonly name: 'marks' | 'issuer' | 'document' | 'taxpayer' | 'receiverBox' | 'receiver' | 'particulars';
  /** Minimum size of the frame around the block, in millimetres. */
  readonly box?: { readonly width: number; readonly height: number };
  /** Returns the lines on the first sheet; a block without lines is omitted with its box. */
  lines(form: PrintedForm): readonly Entry[];
  /** Returns the lines on every further sheet. */
  repeated?(form: PrintedForm): readonly Entry[];
}

const LARGE = { letters: 'large', weight: 'bold' } as const;
const NAME = { letters: 10, weight: 'bold' } as const;

/** Returns a line for each text that is present. */
const toEntries = (texts: readonly (string | undefined | false)[], look: Omit<Entry, 'text'> = {}): Entry[] =>
  texts
    .filter((text) => typeof text === 'string' && text !== '')
    .map((text) => ({ ...look, text: String(text) }));

const joinTexts = (separator: string, ...texts: (string | undefined)[]): string | undefined =>
  texts.filter((text) => text !== undefined && text !== '').join(separator) || undefined;

/** Returns the form of a CFE; throws for an unknown type. */
export function formOf(receipt: PrintedReceipt, cfe: ParsedCfe): PrintedForm {
  const type = cfeTypeOfCode(cfe.typeCode);
  if (!type) throw new RangeError(`no printed form is known for type ${cfe.typeCode}`);
  return { receipt, cfe, row: cfeTypeRow(type), typeName: TYPE_NAMES[type] };
}

const numberOf = ({ cfe: { identification } }: PrintedForm): string =>
  `Serie ${identification['Serie']} N.º ${Number(identification['Nro'])}`;

/** Document title; only characters that need no escaping in the metadata. */
export const titleOf = (form: PrintedForm): string =>
  `${form.typeName} ${form.cfe.identification['Serie']} ${Number(form.cfe.identification['Nro'])}, RUC ${form.cfe.issuer['RUCEmisor']}`;

/** Marks on every sheet of a form that is not a fiscal document. */
const MARKS: Block = {
  name: 'marks',
  lines: ({ receipt }) =>
    toEntries(
      [
        receipt.environment === 'sandbox' && 'DOCUMENTO DE PRUEBA – SIN VALOR FISCAL',
        receipt.rejected && 'RECHAZADO – SIN VALIDEZ',
      ],
      LARGE,
    ),
  repeated: (form) => MARKS.lines(form),
};

/** Fields 41, 42, 48, 49; 44, 45 if present; 51 may be a legally required legend. */
const ISSUER: Block = {
  name: 'issuer',
  lines: ({ cfe: { issuer, phones } }) => [
    ...toEntries([issuer['RznSoc']], NAME),
    ...toEntries([
      issuer['NomComercial'],
      issuer['DomFiscal'],
      issuer['Ciudad'],
      joinTexts('   ', phones.length > 0 ? `Tel. ${phones.join(' / ')}` : undefined, issuer['CorreoEmisor']),
    ]),
    ...toEntries([issuer['InfoAdicionalEmisor']], { letters: 'large' }),
  ],
  repeated: ({ cfe: { issuer } }) => toEntries([issuer['RznSoc']], { weight: 'bold' }),
};

/** RUC, type, serie and number, form of payment: in this order, all large. */
const DOCUMENT: Block = {
  name: 'document',
  lines: (form) => {
    const { identification, issuer } = form.cfe;
    return toEntries(
      [
        `RUC ${issuer['RUCEmisor']}`,
        form.typeName,
        identification['IndCobPropia'] === '1' && 'Cobranza',
        numberOf(form),
        PAYMENT_FORMS[identification['FmaPago'] ?? ''],
        identification['IndPagCta3ros'] === '1' && 'Pagos por cuenta de terceros',
      ],
      LARGE,
    );
  },
  repeated: (form) =>
    toEntries([`RUC ${form.cfe.issuer['RUCEmisor']}`, form.typeName, numberOf(form)], LARGE),
};

/** Taxpayers of a special kind must say so before the receiver. */
const TAXPAYER: Block = {
  name: 'taxpayer',
  box: { width: 40, height: 10 },
  lines: ({ receipt, cfe: { cae } }) => {
    const cause = cae['CausalCAEEsp'];
    const norm = cause && (receipt.exemptionNorm ?? `Causal ${cause}`);
    return toEntries([SPECIAL_TAXPAYERS[cae['CAEEspecial'] ?? ''], norm], LARGE);
  },
};

/**
 * e-Facturas name the buyer's RUC, e-Tickets the final consumer, identified or not; export requires no box.
 */
const RECEIVER_BOX: Block = {
  name: 'receiverBox',
  box: { width: 40, height: 10 },
  lines: ({ row, cfe: { receiver } }) =>
    toEntries(
      row.family === 'invoice'
        ? ['RUC COMPRADOR', receiver['DocRecep']]
        : [row.family === 'ticket' && 'CONSUMO FINAL'],
      LARGE,
    ),
  repeated: (form) => RECEIVER_BOX.lines(form).map((line) => ({ ...line, letters: 'small' as const })),
};

/** Kind, number and country of the receiver's document (fields 60 to 62.1); in the box on e-Facturas. */
function documentOf({ row, cfe: { receiver } }: PrintedForm): string | undefined {
  const number = receiver['DocRecep'] ?? receiver['DocRecepExt'];
  if (row.family === 'invoice' || number === undefined) return undefined;
  const kind = DOCUMENT_KINDS[receiver['TipoDocRecep'] ?? ''] ?? 'Documento';
  const country = receiver['CodPaisRecep'];
  return joinTexts(' – ', `${kind} ${number}`, country && `País emisor ${country}`);
}

/** Fields 60 to 66.1; 68 may be a legally required legend. */
const RECEIVER: Block = {
  name: 'receiver',
  lines: (form) => {
    const { receiver } = form.cfe;
    return [
      ...toEntries([receiver['RznSocRecep']], { weight: 'bold' }),
      ...toEntries([
        documentOf(form),
        receiver['DirRecep'],
        joinTexts(', ', receiver['CiudadRecep'], receiver['DeptoRecep'], receiver['PaisRecep']),
      ]),
      ...toEntries([receiver['InfoAdicional']], { letters: 'large' }),
    ];
  },
  repeated: (form) => toEntries([form.cfe.receiver['RznSocRecep'], documentOf(form)]),
};

/** Fields 5, 12, 13, 70, 110, 111. */
const PARTICULARS: Block = {
  name: 'particulars',
  lines: ({ cfe: { identification, receiver, totals } }) => {
    const field = (label: string, value: string | undefined) =>
      value !== undefined && value !== 'N/A' ? `${label}: ${value}` : undefined;
    const { FchEmis, FchVenc, ClauVenta } = identification;
    return toEntries([
      field('Fecha', FchEmis && dateText(FchEmis)),
      field('Vencimiento', FchVenc && dateText(FchVenc)),
      field('Moneda', totals['TpoMoneda']),
      field('Tipo de cambio', totals['TpoCambio'] && quantity(totals['TpoCambio'])),
      field('Cláusula de venta', ClauVenta),
      field('Orden de compra', receiver['CompraID']),
    ]);
  },
};

/** The blocks above the body, in the required order of every paper. */
export const HEADER = [
  MARKS,
  ISSUER,
  DOCUMENT,
  TAXPAYER,
  RECEIVER_BOX,
  RECEIVER,
  PARTICULARS,
] as const satisfies readonly Block[];

/** The QR block of every sheet: the symbol's URL and the code below it. */
export const qrBlock = ({ receipt, cfe }: PrintedForm): { url: string; lines: readonly Entry[] } => ({
  url: qrUrl({
    environment: receipt.environment,
    rut: cfe.issuer['RUCEmisor'] ?? '',
    typeCode: cfe.typeCode,
    serie: cfe.identification['Serie'] ?? '',
    numero: Number(cfe.identification['Nro']),
    pay: cfe.totals['MntPagar'] ?? '',
    signedAt: cfe.signedAt,
    digest: cfe.digest,
  }),
  lines: [
    { text: 'Código de seguridad', align: 'center' },
    { text: securityCode(cfe.digest), align: 'center', letters: 10, weight: 'bold' },
  ],
});

/** Lines beside or below the QR block of the last sheet, in this order. */
export function footLines({ receipt, cfe, row }: PrintedForm): readonly Entry[] {
  const { cae, identification } = cfe;
  const upToDate = identification['IVAalDia'] !== '1';
  const vatNote = !WITHOUT_VAT_NOTE.includes(cae['CAEEspecial'] ?? '');
  return toEntries([
    receipt.resolution
      ? `Res. ${receipt.resolution}`
      : receipt.issuerSince && `Fecha emisor ${dateText(receipt.issuerSince)}`,
    `Puede verificar comprobante en ${row.family === 'ticket' ? receipt.website : 'www.dgi.gub.uy'}`,
    vatNote && (upToDate ? 'IVA al día' : 'No IVA al día emisor'),
    `CAE N.º ${cae['CAE_ID']}`,
    `Serie ${identification['Serie']} del ${Number(cae['DNro'])} al ${Number(cae['HNro'])}`,
  ]);
}

/** The box at the end of the foot. */
export const EXPIRY_BOX = {
  box: { width: 20, height: 10 },
  lines: ({ cfe: { cae } }: PrintedForm): readonly Entry[] =>
    toEntries(['Fecha de vencimiento', dateText(cae['FecVenc'] ?? '')], { letters: 'large' }),
};

/** Returns the printed line of a reference (zone F, fields 3 to 9). */
export function referenceLine(reference: ParsedCfe['references'][number]): string {
  const type = cfeTypeOfCode(Number(reference['TpoDocRef']));
  const amount = reference['MntCFEref'];
  const date = reference['FechaCFEref'];
  const parts = [
    joinTexts(
      ' ',
      type ? TYPE_NAMES[type] : reference['TpoDocRef'] && `Tipo ${reference['TpoDocRef']}`,
      reference['Serie'],
      reference['NroCFERef'],
    ),
    date && dateText(date),
    amount && joinTexts(' ', reference['TpoMonedaRef'], money(amount)),
    reference['RazonRef'],
  ];
  return joinTexts(' – ', ...parts) ?? '';
}
