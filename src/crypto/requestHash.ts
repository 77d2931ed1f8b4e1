/** Keyed hashes of requests, to compare requests with the same Idempotency-Key. */
import { createPepperedHash, type Peppers } from './peppers.ts';

/** Separates these hashes from other uses of the pepper. */
const LABEL = 'cfe request\0';

/** Hashes method, path and body. `like`: a stored hash to compare with, whose pepper is used. */
export type RequestHash = (
  request: { method: string; path: string; body: Uint8Array },
  like?: Uint8Array | null,
) => Buffer;

/** Hashes under a pepper outside the database: bodies may hold passwords, which a stolen table must not reveal. */
export function createRequestHash(peppers: Peppers): RequestHash {
  const peppered = createPepperedHash(peppers, LABEL);
  return ({ method, path, body }, like) => peppered([`${method} ${path}\0`, body], like);
}
