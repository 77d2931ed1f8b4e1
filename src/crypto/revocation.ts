/** What is asked about revoked certificates; src/revocation answers it. */

/** A certificate with that of its issuer, both DER. */
export interface Issued {
  readonly certificate: Uint8Array;
  readonly issuer: Uint8Array;
}

/** `unknown`: neither list nor responder gave a valid answer in time. */
export type RevocationState = 'good' | 'revoked' | 'unknown';

/**
 * Returns the state of each chain, which begins with the certificate asked about; one revoked certificate revokes its
 * chain. Never throws, and ends in bounded time. `owner` (an id) asks once at a time; states of a third time are unknown.
 */
export type LookUpRevocation = (
  chains: readonly (readonly Issued[])[],
  owner: string,
) => Promise<RevocationState[]>;
