import { generateKeyPairSync } from 'node:crypto';
import { createSigner } from '../../../src/dgi/sign.ts';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import type { PrintedReceipt } from '../../../src/print/receipt.ts';
import { selfSignedCertificate } from '../enterprises/selfSigned.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const signer = createSigner({
  privateKey,
  certificateDer: selfSignedCertificate(privateKey),
  hash: 'sha256',
});

/** A CFE as it is handed to the printer: signed, of production, accepted; what is given replaces that. */
export function printable(document: CfeDocument, more: Partial<PrintedReceipt> = {}): PrintedReceipt {
  return {
    xml: signer.sign(writeCfe(document)).xml,
    environment: 'production',
    rejected: false,
    adenda: document.adenda,
    website: document.issuer.website ?? 'www.empresa.com.uy',
    issuerSince: document.issuer.issuerSince,
    resolution: document.issuer.resolution,
    ...more,
  };
}
