import type { Environment } from '../domain/cfeTypes.ts';

/**
 * Everything that the printed form of a CFE shows, and nothing else: what is equal here gives the same bytes. Plain data
 * that can go to a thread.
 */
export interface PrintedReceipt {
  /** The signed CFE, byte for byte; it is read for the form, and put inside the PDF. */
  readonly xml: string;
  readonly environment: Environment;
  /** Whether the authority rejected it: then it is marked as worth nothing. */
  readonly rejected: boolean;
  /** Text beside the CFE; what a norm demands is its first paragraph (docs/contract.md#printed-form). */
  readonly adenda?: string | undefined;
  /** Address at which the issuer's e-Tickets can be seen, as it is printed. */
  readonly website: string;
  /** Day since which the enterprise issues, `YYYY-MM-DD`; not looked at where there is a resolution. */
  readonly issuerSince?: string | undefined;
  /** Number and year of the resolution that made the enterprise an issuer. */
  readonly resolution?: string | undefined;
  /** PNG or JPEG. One that cannot be drawn is left out. */
  readonly logo?: Uint8Array | undefined;
}
