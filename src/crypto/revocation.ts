/** The port for questions about revoked certificates; src/revocation implements it. */

/** A certificate and its issuer's, both DER. */
export interface Issued {
  readonly certificate: Uint8Array;
  readonly issuer: Uint8Array;
}

/** `unknown`: neither revocation list nor OCSP responder gave a valid answer in time. */
export type RevocationState = 'good' | 'revoked' | 'unknown';

/**
 * Returns the state of each chain, whose first certificate is the one in question; one revoked certificate revokes its
 * chain. Never throws, and ends in bounded time. One call per `owner` (an id) runs and one waits; others get `unknown`.
 */
export type LookUpRevocation = (
  chains: readonly (readonly Issued[])[],
  owner: string,
) => Promise<RevocationState[]>;
