import { LRUCache } from 'lru-cache';
import type { Environment } from '../domain/receipts/cfeTypes.ts';

/** More enterprises than one process serves at a time; each takes a few kilobytes. */
const MOST_ENTRIES = 500;
/** Limits how long a decrypted key stays in memory. */
const LIFETIME_MILLISECONDS = 600_000;

/** A certificate of an enterprise, which has one current certificate per environment. */
export interface OwnedCertificate {
  readonly id: string;
  readonly rut: string;
  readonly environment: Environment;
  readonly replacedAt: Date | null;
  /** The private key as stored: a key that was sealed again, or can no longer be opened, is opened again. */
  readonly sealedKey: string | null;
}

/**
 * Caches the result of `create` for an enterprise's current certificate for ten minutes, to avoid opening its private key
 * for every CFE. A replaced certificate leaves the cache. `stopwatch`: milliseconds.
 */
export function cacheByCertificate<C extends OwnedCertificate, T>(
  create: (certificate: C) => T,
  {
    most = MOST_ENTRIES,
    stopwatch = () => performance.now(),
  }: { most?: number; stopwatch?: () => number } = {},
): (certificate: C) => T {
  /** By enterprise and environment. */
  const cache = new LRUCache<string, { id: string; sealedKey: string | null; value: T }>({
    max: most,
    ttl: LIFETIME_MILLISECONDS,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: { now: stopwatch },
  });

  return (certificate) => {
    const { id, rut, environment, replacedAt, sealedKey } = certificate;
    const key = `${rut} ${environment}`;
    const cached = cache.get(key);
    const isSame = cached?.id === id && cached.sealedKey === sealedKey;
    if (isSame && replacedAt === null) return cached.value;
    if (cached?.id === id) cache.delete(key);
    const value = create(certificate);
    if (replacedAt === null) cache.set(key, { id, sealedKey, value });
    return value;
  };
}
