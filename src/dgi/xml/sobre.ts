import { CFE_NAMESPACE } from './cfe.ts';
import { plain } from './write.ts';

/** The content of a sobre to the authority. */
export interface SobreContent {
  /** The authority's own RUT. */
  receiverRut: string;
  issuerRut: string;
  /** `YYYY-MM-DDTHH:MM:SS-03:00`. */
  createdAt: string;
  /** The certificate that signed every CFE in it, DER. */
  certificateDer: Uint8Array;
  /** Signed CFEs, each a document without XML declaration; their bytes are copied unchanged. */
  signedCfes: readonly string[];
}

/**
 * Writes EnvioCFE (Formato Sobre v05, EnvioCFE.xsd) as text, to keep the bytes of signed CFEs. It declares the default
 * namespace of the CFEs, so a verifier that inherits namespaces computes the same digest.
 */
export function writeSobreXml(content: SobreContent & { readonly idemisor: bigint }): string {
  const { before, after } = writeSobreParts(content);
  return `${before}${content.idemisor}${after}`;
}

/** Writes a sobre without its Idemisor, our number of the shipment (up to 10 digits), to insert between the parts. */
export function writeSobreParts(content: SobreContent): { before: string; after: string } {
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
