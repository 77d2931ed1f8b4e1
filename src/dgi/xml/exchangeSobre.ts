import { CFE_NAMESPACE } from './cfe.ts';
import { element, plain } from './write.ts';

/** A sobre between companies, with one CFE. */
interface ExchangeSobreContent {
  readonly receiverRut: string;
  readonly issuerRut: string;
  /** Up to 10 digits, from the same sequence as sobres to the authority. */
  readonly idemisor: bigint;
  /** `YYYY-MM-DDTHH:MM:SS-03:00`. */
  readonly createdAt: string;
  /** The certificate that signed the CFE, DER. */
  readonly certificateDer: Uint8Array;
  /** The bytes sent to the authority, without XML declaration; they are copied unchanged. */
  readonly signedCfe: string;
  readonly adenda?: string | undefined;
}

/** Writes EnvioCFE_entreEmpresas (Formato Sobre v05, EnvioCFE_entreEmpresas.xsd) as text, like `writeSobreXml`. */
export function writeExchangeSobre(content: ExchangeSobreContent): string {
  const { receiverRut, issuerRut, idemisor, createdAt, certificateDer, signedCfe, adenda } = content;
  return (
    `<?xml version="1.0" encoding="UTF-8"?><EnvioCFE_entreEmpresas xmlns="${CFE_NAMESPACE}" version="1.0"><Caratula version="1.0">` +
    `${plain('RutReceptor', receiverRut)}${plain('RUCEmisor', issuerRut)}${plain('Idemisor', idemisor.toString())}` +
    `${plain('CantCFE', 1)}${plain('Fecha', createdAt)}` +
    `${plain('X509Certificate', Buffer.from(certificateDer).toString('base64'))}</Caratula>` +
    `<CFE_Adenda>${signedCfe}${adenda === undefined ? '' : element('Adenda', adenda)}</CFE_Adenda></EnvioCFE_entreEmpresas>`
  );
}
