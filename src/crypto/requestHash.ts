/** Keyed hashes of requests, by which a repeated Idempotency-Key is held against its first request. */
import { createPepperedHash, type Peppers } from './peppers.ts';

/** Keeps these hashes apart from whatever else the pepper may hash. */
const LABEL = 'cfe request\0';

/**
 * The hash of one request: what it asks for (method and path) and its body in the form that the caller
 * chooses. To compare it with a stored hash, `like`, it is made under that one's pepper.
 */
export type RequestHash = (
  request: { method: string; path: string; body: Uint8Array },
  like?: Uint8Array | null,
) => Buffer;

/**
 * Hashes under a pepper, which is not in the database: bodies may hold passwords, and a stolen table must not let them
 * be guessed.
 */
export function createRequestHash(peppers: Peppers): RequestHash {
  const peppered = createPepperedHash(peppers, LABEL);
  return ({ method, path, body }, like) => peppered([`${method} ${path}\0`, body], like);
}
