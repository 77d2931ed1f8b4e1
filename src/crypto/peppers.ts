/** Secret keys that are not in the database, by which what it holds is hashed or sealed (CFE_PEPPER, CFE_CONSOLE_PEPPER). */
import { createHmac } from 'node:crypto';

/** A pepper: 32 bytes and the id that is stored with whatever was made under it. */
export interface Pepper {
  readonly id: string;
  readonly key: Uint8Array;
}

/** The first is for whatever is made from now on; the others are for what was made before. */
export type Peppers = readonly [Pepper, ...Pepper[]];

const SEPARATOR = ':';

/** The id in front of a stored hash; undefined where there is none. */
function pepperIdIn(stored: Uint8Array): string | undefined {
  const at = stored.indexOf(SEPARATOR.charCodeAt(0));
  return at < 0 ? undefined : Buffer.from(stored.subarray(0, at)).toString('latin1');
}

/**
 * The hash of a text as it is stored: the id of its pepper, a colon, and the HMAC-SHA-256 of `label` and text. To
 * compare it with a stored hash, `like`, it is made under that one's pepper, if it is still configured.
 */
export type PepperedHash = (parts: readonly (string | Uint8Array)[], like?: Uint8Array | null) => Buffer;

/** `label` keeps these hashes apart from whatever else the peppers hash. */
export function createPepperedHash(peppers: Peppers, label: string): PepperedHash {
  return (parts, like) => {
    const id = like ? pepperIdIn(like) : undefined;
    const pepper = peppers.find((one) => one.id === id) ?? peppers[0];
    const mac = createHmac('sha256', pepper.key).update(label);
    for (const part of parts) mac.update(part);
    return Buffer.concat([Buffer.from(`${pepper.id}${SEPARATOR}`), mac.digest()]);
  };
}
