import type { CfeDocument } from '../domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../domain/receipts/cfeStatus.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { verificationUrl } from '../domain/receipts/qr.ts';
import type { PrintedReceipt } from './receipt.ts';

/** The fields of a signed CFE that its print needs. */
interface SignedCfe {
  readonly signedXml: string;
  readonly environment: Environment;
  readonly status: CfeStatus;
  readonly document: Pick<CfeDocument, 'issuer' | 'adenda'>;
}

/**
 * Returns the data printed for a CFE, with the issuer's data as of its numbering. Without a website of the issuer
 * e-Tickets name our verification page, below `publicUrl`.
 */
export function printedReceipt(
  { signedXml, environment, status, document }: SignedCfe,
  { logo, publicUrl }: { readonly logo: Uint8Array | null; readonly publicUrl: string },
): PrintedReceipt {
  const { issuer, adenda } = document;
  return {
    xml: signedXml,
    environment,
    rejected: status === 'REJECTED',
    adenda,
    website: issuer.website ?? verificationUrl(publicUrl).replace(/^https?:\/\//, ''),
    issuerSince: issuer.issuerSince,
    resolution: issuer.resolution,
    exemptionNorm: issuer.exemptionNorm,
    logo: logo ?? undefined,
  };
}
