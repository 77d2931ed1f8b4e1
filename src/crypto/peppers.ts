/** Secret keys outside the database that hash or encrypt its contents (CFE_PEPPER, CFE_CONSOLE_PEPPER). */
import { createHmac } from 'node:crypto';

/** A pepper: 32 bytes, and an id that is stored with every hash. */
export interface Pepper {
  readonly id: string;
  readonly key: Uint8Array;
}

/** All configured peppers: the first makes new hashes, the others check older hashes. */
export type Peppers = readonly [Pepper, ...Pepper[]];

const SEPARATOR = ':';

/** Returns the pepper's id at the start of a stored hash; undefined without one. */
function pepperIdIn(stored: Uint8Array): string | undefined {
  const end = stored.indexOf(SEPARATOR.charCodeAt(0));
  return end < 0 ? undefined : Buffer.from(stored.subarray(0, end)).toString('latin1');
}

/**
 * Returns the stored form of a hash: pepper id, colon, and HMAC-SHA-256 of `label` and parts. `like`: a stored hash to
 * compare with, whose pepper is used if it is still configured.
 */
export type PepperedHash = (parts: readonly (string | Uint8Array)[], like?: Uint8Array | null) => Buffer;

/** `label` separates these hashes from other uses of the peppers. */
export function createPepperedHash(peppers: Peppers, label: string): PepperedHash {
  return (parts, like) => {
    const id = like ? pepperIdIn(like) : undefined;
    const pepper = peppers.find((one) => one.id === id) ?? peppers[0];
    const mac = createHmac('sha256', pepper.key).update(label);
    for (const part of parts) mac.update(part);
    return Buffer.concat([Buffer.from(`${pepper.id}${SEPARATOR}`), mac.digest()]);
  };
}
