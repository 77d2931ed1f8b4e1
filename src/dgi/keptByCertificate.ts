import { LRUCache } from 'lru-cache';
import type { Environment } from '../domain/cfeTypes.ts';

/** More enterprises than sign at a time in one process; each costs a few kilobytes. */
const MOST = 500;
/** A key lies open in memory no longer than this: who replaced a certificate need not restart a worker. */
const LASTS_MILLISECONDS = 600_000;

/** A certificate of an enterprise, of which one is current in each environment. */
export interface OwnedCertificate {
  readonly id: string;
  readonly rut: string;
  readonly environment: Environment;
  readonly replacedAt: Date | null;
  /** The private key as it is stored: one that was sealed anew, or can no longer be opened, is opened anew. */
  readonly sealedKey: string | null;
}

/**
 * Keeps what `make` makes of an enterprise's current certificate, so that its private key is opened once and not for
 * every CFE: for ten minutes, unless the certificate is replaced, another one of the enterprise follows it or too many
 * others are used. `stopwatch`: milliseconds.
 */
export function keptByCertificate<C extends OwnedCertificate, T>(
  make: (certificate: C) => T,
  { most = MOST, stopwatch = () => performance.now() }: { most?: number; stopwatch?: () => number } = {},
): (certificate: C) => T {
  /** By enterprise and environment. */
  const kept = new LRUCache<string, { id: string; sealedKey: string | null; value: T }>({
    max: most,
    ttl: LASTS_MILLISECONDS,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: { now: stopwatch },
  });

  return (certificate) => {
    const { id, rut, environment, replacedAt, sealedKey } = certificate;
    const name = `${rut} ${environment}`;
    const found = kept.get(name);
    const isSame = found?.id === id && found.sealedKey === sealedKey;
    if (isSame && replacedAt === null) return found.value;
    if (found?.id === id) kept.delete(name);
    const value = make(certificate);
    if (replacedAt === null) kept.set(name, { id, sealedKey, value });
    return value;
  };
}
