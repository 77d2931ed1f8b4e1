import type { Environment } from '../domain/receipts/cfeTypes.ts';

/**
 * All data shown on the printed form of a CFE, and no more: equal data give equal bytes. Plain data that can
 * be sent to a thread.
 */
export interface PrintedReceipt {
  /** The signed CFE, byte for byte; parsed for the form, and embedded in the PDF. */
  readonly xml: string;
  readonly environment: Environment;
  /** Whether the authority rejected the CFE: the form is then marked as invalid. */
  readonly rejected: boolean;
  /**
   * Text beside the CFE; its first paragraph is a legally required legend (docs/contract.md#printed-form).
   */
  readonly adenda?: string | undefined;
  /** The printed URL that shows the issuer's e-Tickets. */
  readonly website: string;
  /** First day of issuing, `YYYY-MM-DD`; ignored with a resolution. */
  readonly issuerSince?: string | undefined;
  /** The norm by which the issuer is exempt from VAT; without it, an exempt issuer's form shows the exemption cause of its CAE. */
  readonly exemptionNorm?: string | undefined;
  /** Number and year of the resolution that made the enterprise an issuer. */
  readonly resolution?: string | undefined;
  /** PNG or JPEG; omitted if it cannot be drawn. */
  readonly logo?: Uint8Array | undefined;
}
