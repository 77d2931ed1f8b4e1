import { CFE_NAMESPACE } from './cfe.ts';
import { plain } from './write.ts';

/** What a sobre to the authority holds. */
export interface SobreContent {
  /** The authority's own RUT. */
  receiverRut: string;
  issuerRut: string;
  /** `YYYY-MM-DDTHH:MM:SS-03:00`. */
  createdAt: string;
  /** The certificate that signed every CFE in it, DER. */
  certificateDer: Uint8Array;
  /** Signed CFEs, each as its own document without XML declaration; they go in byte for byte. */
  signedCfes: readonly string[];
}

/**
 * EnvioCFE (Formato Sobre v05, EnvioCFE.xsd), put together as text: a signed CFE is never parsed and written again.
 * The envelope declares the same default namespace as each CFE, so a verifier that inherits it finds the same bytes.
 */
export function writeSobre(content: SobreContent & { readonly idemisor: bigint }): string {
  const { before, after } = sobreAround(content);
  return `${before}${content.idemisor}${after}`;
}

/** A sobre but for its Idemisor, our number of the shipment (up to 10 digits), which stands between the two. */
export function sobreAround(content: SobreContent): { before: string; after: string } {
  return {
    before:
      `<?xml version="1.0" encoding="UTF-8"?><EnvioCFE xmlns="${CFE_NAMESPACE}" version="1.0"><Caratula version="1.0">` +
      `${plain('RutReceptor', content.receiverRut)}${plain('RUCEmisor', content.issuerRut)}<Idemisor>`,
    after:
      `</Idemisor>${plain('CantCFE', content.signedCfes.length)}${plain('Fecha', content.createdAt)}` +
      plain('X509Certificate', Buffer.from(content.certificateDer).toString('base64')) +
      `</Caratula>${content.signedCfes.join('')}</EnvioCFE>`,
  };
}
