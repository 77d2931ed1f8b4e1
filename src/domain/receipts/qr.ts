import type { Environment } from './cfeTypes.ts';

/** The authority's verification pages, by environment (docs/authority/printed-form.md#qr-and-security-code). */
const VERIFICATION_PAGES = {
  production: 'https://www.efactura.dgi.gub.uy/consultaQR/cfe',
  sandbox: 'https://www.efactura.dgi.gub.uy/consultaQRPrueba/cfe',
} as const satisfies Record<Environment, string>;
/** The first characters of the hash, printed below the QR code. */
export const SECURITY_CODE_LENGTH = 6;

/** The data of a signed CFE in its QR code, as in the XML. */
export interface QrFacts {
  readonly environment: Environment;
  readonly rut: string;
  /** TipoCFE. */
  readonly typeCode: number;
  readonly serie: string;
  readonly numero: number;
  /** MntPagar, with a point and two decimals. */
  readonly pay: string;
  /** TmstFirma. */
  readonly signedAt: string;
  /** DigestValue of the signature, base64. */
  readonly digest: string;
}

/** Returns the security code: the first characters of the hash, with their case. */
export const securityCode = (digest: string): string => digest.slice(0, SECURITY_CODE_LENGTH);

/** Returns the URL in the QR code; its parameters are positional. */
export function qrUrl(cfe: QrFacts): string {
  const [year, month, day] = cfe.signedAt.slice(0, 10).split('-');
  const parts = [
    cfe.rut,
    cfe.typeCode,
    cfe.serie,
    cfe.numero,
    cfe.pay,
    `${day}/${month}/${year}`,
    encodeURIComponent(cfe.digest),
  ];
  return `${VERIFICATION_PAGES[cfe.environment]}?${parts.join(',')}`;
}

/** Path of the public page that verifies e-Tickets: below the API's address, outside /v1. */
export const VERIFICATION_PATH = '/verificar';

/** Returns the address of the verification page. `publicUrl`: the API's address, without a final slash. */
export const verificationUrl = (publicUrl: string): string => `${publicUrl}${VERIFICATION_PATH}`;

/** Returns the address of a receipt's page. `publicUrl`: the API's address, without a final slash. */
export const receiptUrl = (publicUrl: string, token: string): string => `${publicUrl}/r/${token}`;

/** Paper sizes of printed receipts: a sheet, or a roll of that width (docs/authority/printed-form.md#paper). */
export const PAPER_SIZES = ['A4', '80mm', '58mm'] as const;
export type PaperSize = (typeof PAPER_SIZES)[number];
