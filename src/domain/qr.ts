import type { Environment } from './cfeTypes.ts';

/**
 * Where the authority shows a CFE to whoever scans its code (docs/authority/printed-form.md#qr-and-security-code): a CFE
 * of the sandbox is looked for where the test environment keeps its own.
 */
const VERIFICATION_PAGES = {
  production: 'https://www.efactura.dgi.gub.uy/consultaQR/cfe',
  sandbox: 'https://www.efactura.dgi.gub.uy/consultaQRPrueba/cfe',
} as const satisfies Record<Environment, string>;
const SECURITY_CODE_LENGTH = 6;

/** What of a signed CFE the code names, as it stands in the XML. */
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

/** The characters of the hash that stand below the QR code, case kept. */
export const securityCode = (digest: string): string => digest.slice(0, SECURITY_CODE_LENGTH);

/** The address in the QR code: positional, with the day of signing, what is to pay, and the hash of the signature. */
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

/** The address of a receipt's page: below the public address of the API, which ends without a slash. */
export const receiptUrl = (publicUrl: string, token: string): string => `${publicUrl}/r/${token}`;

/** Papers on which a receipt is printed: a sheet, or a roll of that width (docs/authority/printed-form.md#paper). */
export const PAPERS = ['A4', '80mm', '58mm'] as const;
export type Paper = (typeof PAPERS)[number];
